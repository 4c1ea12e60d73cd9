"""An agent's file tools. Every method returns the text that the model reads; Refused where it cannot be done, and why."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

TOOLS = ("read", "write", "edit", "multi_edit", "glob", "grep")
READ_LINES, LINE_CHARS, READ_BYTES = 2000, 2000, 1 << 20
MOST_FOUND = 200
GREP_LIMIT_S = 20.0
GREP_MODES = {"files_with_matches": ["-l"], "count": ["-c"], "content": ["-n"]}


class Refused(Exception):
    pass


class Edits:
    """Paths are taken from `root` on. A file that is there is read before it is written: else it is not known what is lost."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.seen: dict[Path, int] = {}  # file -> its time of change when it was last read or written

    def read(self, file_path: str, offset: int = 1, limit: int = READ_LINES) -> str:
        path = self._file(file_path)
        if path.stat().st_size > READ_BYTES:
            raise Refused(
                f"{file_path} has {path.stat().st_size} bytes, more than {READ_BYTES}; use head, tail or grep"
            )
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        self._note(path)
        start = max(int(offset), 1)
        shown = lines[start - 1 : start - 1 + int(limit)]
        if not shown:
            return f"({file_path} has {len(lines)} lines)"
        return "\n".join(f"{start + at:6d}\t{line[:LINE_CHARS]}" for at, line in enumerate(shown))

    def write(self, file_path: str, content: str) -> str:
        path = self._path(file_path)
        there = path.exists()
        if there:
            self._unchanged(path, file_path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", errors="surrogateescape")
        self._note(path)
        return f"{file_path} is {'overwritten' if there else 'written'}, {len(content.splitlines())} lines"

    def edit(self, file_path: str, old_string: str, new_string: str, replace_all: bool = False) -> str:
        change = {"old_string": old_string, "new_string": new_string, "replace_all": replace_all}
        return self.multi_edit(file_path, [change])

    def multi_edit(self, file_path: str, edits: list[dict[str, Any]]) -> str:
        """All of them one after another, or none."""
        path = self._file(file_path)
        self._unchanged(path, file_path)
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        for number, change in enumerate(edits, start=1):
            text = _changed(text, change, f"edit {number} of {len(edits)}")
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
        self._note(path)
        return f"{file_path} is changed in {len(edits)} place{'s' if len(edits) != 1 else ''}"

    def glob(self, pattern: str, path: str = ".") -> str:
        base = self._path(path)
        if Path(pattern).is_absolute():
            raise Refused("give a pattern from the folder on, as in **/*.cu")
        found = [p for p in base.glob(pattern) if p.is_file()]
        found.sort(key=lambda p: p.stat().st_mtime, reverse=True)
        return "\n".join(str(p.relative_to(base)) for p in found[:MOST_FOUND]) or "no file matches"

    def grep(
        self, pattern: str, path: str = ".", glob: str = "", output_mode: str = "files_with_matches",
        ignore_case: bool = False,
    ) -> str:  # fmt: skip
        if output_mode not in GREP_MODES:
            raise Refused(f"output_mode {output_mode!r}: give one of {', '.join(GREP_MODES)}")
        flags = [*GREP_MODES[output_mode], *(["-i"] if ignore_case else []), *([f"--include={glob}"] if glob else [])]
        command = ["grep", "-rIE", *flags, "-e", pattern, "--", str(self._path(path))]
        try:
            done = subprocess.run(command, capture_output=True, timeout=GREP_LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            raise Refused(f"the search did not end within {GREP_LIMIT_S:.0f} s") from None
        if done.returncode > 1:
            raise Refused(done.stderr.decode(errors="replace").strip())
        lines = done.stdout.decode(errors="replace").splitlines()
        shown = [line[:LINE_CHARS].removeprefix(f"{self.root}/") for line in lines[:MOST_FOUND]]
        return "\n".join(shown) or "no match"

    def _path(self, name: str) -> Path:
        return (self.root / name).resolve()

    def _file(self, name: str) -> Path:
        path = self._path(name)
        if not path.is_file():  # a pipe or a device would never end
            raise Refused(f"{name}: there is no such file")
        return path

    def _note(self, path: Path) -> None:
        self.seen[path] = path.stat().st_mtime_ns

    def _unchanged(self, path: Path, name: str) -> None:
        if path not in self.seen:
            raise Refused(f"{name} is there already: read it before you write to it")
        if self.seen[path] != path.stat().st_mtime_ns:
            raise Refused(f"{name} was changed since you read it: read it again")


def _changed(text: str, change: dict[str, Any], what: str) -> str:
    old, new = change["old_string"], change["new_string"]
    count = text.count(old) if old else 0
    if count == 0:
        raise Refused(f"{what}: old_string is not in the file; nothing was changed")
    if count > 1 and not change.get("replace_all", False):
        raise Refused(f"{what}: old_string is there {count} times; give more of its surroundings, or replace_all")
    return text.replace(old, new)
