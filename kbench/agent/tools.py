"""What a model may do in its workdir: names, schemas, and what becomes of a call. Names and schemas may be exchanged.

A TOML file (`--tools FILE`) holds a table for each tool that is to be called otherwise:

    [Bash]
    name = "execute_bash"
    arguments = {command = "cmd"}     # ours = theirs
    description = "Run a command."
    [Grep]
    enabled = false
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbench.errors import ConfigError
from kbench.models import Call, Tool

TEXT, FLAG, NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
CHANGE = {"old_string": TEXT, "new_string": TEXT, "replace_all": FLAG}


@dataclass(frozen=True, slots=True)
class Spec:
    """One of ours: what it does inside, and the arguments it takes."""

    name: str
    does: str  # a tool of the hands, "bash", "todo", or a kind of the gate
    description: str
    arguments: dict[str, Any]
    required: tuple[str, ...]


def _changes() -> dict[str, Any]:
    item = {"type": "object", "properties": CHANGE, "required": ["old_string", "new_string"]}
    return {"type": "array", "items": item}


SPECS = (
    Spec("Bash", "bash", "Runs a command in a bash that stays: its folder and variables are kept. timeout is in milliseconds.",
         {"command": TEXT, "timeout": NUMBER}, ("command",)),
    Spec("Read", "read", "A file with line numbers; offset is the first line, limit the number of lines.",
         {"file_path": TEXT, "offset": NUMBER, "limit": NUMBER}, ("file_path",)),
    Spec("Write", "write", "Writes a whole file. One that is there must have been read before.",
         {"file_path": TEXT, "content": TEXT}, ("file_path", "content")),
    Spec("Edit", "edit", "Replaces old_string, which must be there once, or replace_all.",
         {"file_path": TEXT, **CHANGE}, ("file_path", "old_string", "new_string")),
    Spec("MultiEdit", "multi_edit", "Several replacements in one file, one after another: all of them or none.",
         {"file_path": TEXT, "edits": _changes()}, ("file_path", "edits")),
    Spec("Glob", "glob", "Files whose path matches a pattern such as **/*.cu, the newest first.",
         {"pattern": TEXT, "path": TEXT}, ("pattern",)),
    Spec("Grep", "grep", "Searches files for an extended regular expression. output_mode: files_with_matches, content or count.",
         {"pattern": TEXT, "path": TEXT, "glob": TEXT, "output_mode": TEXT, "ignore_case": FLAG}, ("pattern",)),
    Spec("TodoWrite", "todo", "Keeps a list of what is to be done.", {"todos": {"type": "array", "items": {"type": "object"}}}, ("todos",)),
    Spec("compile", "compile", "Builds the solution outside the sandbox; what the compiler says.", {}, ()),
    Spec("verify", "verify", "Checks the solution on the device, on fresh inputs.", {}, ()),
    Spec("profile", "profile", "Checks the solution and times it beside eager PyTorch and torch.compile.", {}, ()),
)  # fmt: skip
KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,), "boolean": (bool,), "integer": (int,), "array": (list,), "object": (dict,)
}  # fmt: skip


class Malformed(Exception):
    """A call that cannot be carried out; the text is what the model is told."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call, understood: in our own names."""

    does: str
    arguments: dict[str, Any]


class Toolbox:
    """The tools under the names that the model knows."""

    def __init__(self, path: str | None) -> None:
        self.specs: dict[str, tuple[Spec, dict[str, str]]] = {}  # their name -> spec, their argument -> ours
        self.tools: list[Tool] = []
        changes = _changes_in(path) if path is not None else {}
        for spec in SPECS:
            change = changes.get(spec.name, {})
            if change.get("enabled", True):
                self._add(spec, change)

    def _add(self, spec: Spec, change: dict[str, Any]) -> None:
        theirs = {ours: str(change.get("arguments", {}).get(ours, ours)) for ours in spec.arguments}
        name = str(change.get("name", spec.name))
        schema: dict[str, object] = {
            "type": "object",
            "properties": {theirs[ours]: dict(kind) for ours, kind in spec.arguments.items()},
            "required": [theirs[ours] for ours in spec.required],
        }
        self.tools.append(Tool(name, str(change.get("description", spec.description)), schema))
        self.specs[name] = (spec, {word: ours for ours, word in theirs.items()})

    def understand(self, call: Call) -> Wanted:
        """Malformed where there is no such tool, or its arguments are none."""
        if call.name not in self.specs:
            raise Malformed(f"there is no tool {call.name!r}; there are {', '.join(self.specs)}")
        spec, names = self.specs[call.name]
        try:
            given = json.loads(call.arguments or "{}")
        except (ValueError, RecursionError) as error:
            raise Malformed(f"the arguments of {call.name} are not JSON: {error}; call it again") from error
        if not isinstance(given, dict):
            raise Malformed(f"the arguments of {call.name} are no object; call it again")
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise Malformed(f"{call.name} takes no {unknown[0]!r}; it takes {', '.join(names) or 'nothing'}")
        arguments = {names[name]: value for name, value in given.items() if value is not None}
        for name in spec.required:
            if name not in arguments:
                raise Malformed(f"{call.name} needs {name!r}")
        for name, value in arguments.items():
            if not isinstance(value, KINDS[spec.arguments[name]["type"]]):
                raise Malformed(f"{call.name}: {name} must be of type {spec.arguments[name]['type']}")
        return Wanted(spec.does, arguments)


def _changes_in(path: str) -> dict[str, dict[str, Any]]:
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"--tools {path}: {error}") from error
    names = [spec.name for spec in SPECS]
    for name, table in found.items():
        if name not in names or not isinstance(table, dict):
            raise ConfigError(f"--tools {path}: there is no tool {name!r}; there are {', '.join(names)}")
    return found


def shortened(text: str, limit: int) -> str:
    """Head and tail of a text, and how much is missing between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters cut ...]\n{text[-half:]}"
