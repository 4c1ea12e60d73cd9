"""The problems: found in folders, described from their text, selected by level and glob. No file of theirs is executed.

A suite is a folder with level1/, level2/, ... that hold files `{number}_{name}.py`: ours under problems/, or a
KernelBench checkout. Not covered: whether a problem is a good one (problems check), or what running it gives (oracle).
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import importlib.util
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from kbench.cell import suite_hash_of
from kbench.errors import ConfigError, ProblemError
from kbench.source import defined_names, module_statements, parse
from kbench.types import Problem

LEVEL_FOLDER = re.compile(r"level(\d+)")
PROBLEM_FILE = re.compile(r"(\d+)_.*\.py")
CONTRACT = ("Model", "get_inputs", "get_init_inputs")
CONSTANTS = ("SHAPES", "INPUTS", "SPEC")


def discover(root: Path | None = None) -> list[Problem]:
    """Every problem under `root`, or kbench's own, sorted by level and then by number: 1, 2, 10.

    `root` holds level1/ and so on, itself or in KernelBench/. ConfigError where no problem file is found; ProblemError
    names file and line of the first file that does not keep the contract.
    """
    folder = root if root is not None else builtin_root()
    found = sorted(
        (int(level[1]), int(number[1]), path)
        for level_folder, level in _level_folders(folder)
        for path in level_folder.iterdir()
        if (number := PROBLEM_FILE.fullmatch(path.name)) and path.is_file()
    )
    if not found:
        raise ConfigError(f"{folder}: {_why_nothing(folder)}")
    return [read_problem(path, level) for level, _, path in found]


def builtin_root() -> Path:
    """The problems that an installed wheel carries, or those of the checkout that this file stands in."""
    here = Path(__file__).resolve().parent
    carried = here / "_problems"
    return carried if carried.is_dir() else here.parent / "problems"


def read_problem(path: Path, level: int) -> Problem:
    """One problem file described from its text. ProblemError says what it lacks, and where."""
    try:
        data = path.read_bytes()
        tree = parse(data)
        source = importlib.util.decode_source(data)
    except OSError as error:
        raise ProblemError(f"{path}: cannot be read: {error.strerror}") from error
    except (SyntaxError, UnicodeDecodeError) as error:
        line, what = (error.lineno or 1, error.msg) if isinstance(error, SyntaxError) else (1, error)
        raise ProblemError(f"{path}:{line}: {what}") from error
    names = defined_names(tree)
    missing = [name for name in CONTRACT if name not in names and "*" not in names]
    if missing:
        raise ProblemError(f"{path}: defines no {' and no '.join(missing)}; a problem has {', '.join(CONTRACT)}")
    constants = _constants(path, tree)
    return Problem(
        id=f"level{level}/{path.stem}",
        level=level,
        path=str(path.resolve()),
        source=source,
        content_hash=hashlib.sha256(data).hexdigest(),
        shapes=constants.get("SHAPES", {}),
        inputs=tuple(constants.get("INPUTS", ("default",))),
        spec=constants.get("SPEC", {}),
    )


def number_of(problem_id: str) -> int:
    """19 of "level1/019_relu": the number that KernelBench knows a problem by within its level."""
    return int(problem_id.rsplit("/", 1)[-1].partition("_")[0])


def parse_levels(text: str) -> tuple[int, ...]:
    """ "1", "1,2" or "1-3" as sorted levels."""
    levels: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*", part, re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first or last - first > 100:
            raise ConfigError(f"--level {text!r} is not a level; give 1, or 1,2, or 1-3")
        levels.update(range(first, last + 1))
    return tuple(sorted(levels))


def select(
    problems: Sequence[Problem],
    levels: Sequence[int] | None = None,
    globs: Sequence[str] = (),
    limit: int | None = None,
) -> list[Problem]:
    """The problems of these levels that a glob matches, in order; `limit` keeps the first so many of each level.

    A glob is held against the id ("level1/019_relu") and the bare name ("019_relu"). A level that is not there, or a
    glob that matches nothing, is a ConfigError that names what comes close.
    """
    there = sorted({problem.level for problem in problems})
    unknown = [level for level in levels or () if level not in there]
    if unknown:
        raise ConfigError(f"no level {unknown[0]} here; levels: {', '.join(map(str, there))}")
    if limit is not None and limit < 1:
        raise ConfigError(f"--limit {limit} leaves nothing; give at least 1")
    chosen = [problem for problem in problems if levels is None or problem.level in levels]
    for glob in globs:
        if not any(_matches(problem, glob) for problem in chosen):
            raise ConfigError(_nothing_matches(glob, problems, chosen))
    kept = [problem for problem in chosen if not globs or any(_matches(problem, glob) for glob in globs)]
    return kept if limit is None else _first_of_each_level(kept, limit)


def find(problems: Sequence[Problem], wanted: str) -> Problem:
    """The one problem with this id, or with this bare name where only one level has it. Else a ConfigError."""
    named = [problem for problem in problems if wanted == problem.id] or [
        problem for problem in problems if wanted == problem.name
    ]
    if len(named) > 1:
        raise ConfigError(f"problem {wanted!r} is in several levels: {', '.join(problem.id for problem in named)}")
    if not named:
        raise ConfigError(f"no problem {wanted!r}{_close_to(wanted, problems)}")
    return named[0]


def suite_hash(problems: Iterable[Problem]) -> str:
    return suite_hash_of({problem.id: problem.content_hash for problem in problems})


def _level_folders(root: Path) -> list[tuple[Path, re.Match[str]]]:
    """The level folders of `root`, else those of `root`/KernelBench."""
    for folder in (root, root / "KernelBench"):
        if folder.is_dir():
            found = [(p, m) for p in folder.iterdir() if (m := LEVEL_FOLDER.fullmatch(p.name)) and p.is_dir()]
            if found:
                return found
    return []


def _why_nothing(root: Path) -> str:
    if not root.exists():
        return "there is no such folder"
    if LEVEL_FOLDER.fullmatch(root.resolve().name):
        return f"this is a level; give the folder that holds it, {root.resolve().parent}"
    return "no problem files; wanted level1/1_Name.py and so on, here or in KernelBench/"


def _constants(path: Path, tree: ast.Module) -> dict[str, Any]:
    """SHAPES, INPUTS and SPEC, as far as the module assigns them. ProblemError where one of them is no literal."""
    return {
        target.id: _literal(path, target.id, value)
        for targets, value in _assignments(tree)
        for target in targets
        if isinstance(target, ast.Name) and target.id in CONSTANTS
    }


def _assignments(tree: ast.Module) -> Iterator[tuple[Sequence[ast.expr], ast.expr]]:
    for statement in module_statements(tree):
        match statement:
            case ast.Assign(targets=targets, value=value):
                yield targets, value
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield [target], value


def _literal(path: Path, name: str, value: ast.expr) -> Any:
    where = f"{path}:{value.lineno}: {name}"
    try:
        literal = ast.literal_eval(value)
    except (ValueError, TypeError) as error:
        raise ProblemError(f"{where} is read without running the file, so it must be a plain literal") from error
    if name == "INPUTS":
        if not (isinstance(literal, (tuple, list)) and literal and all(isinstance(item, str) for item in literal)):
            raise ProblemError(f"{where} must be a tuple of names of value families, at least one")
        return literal
    if not (isinstance(literal, dict) and all(isinstance(key, str) for key in literal)):
        raise ProblemError(f"{where} must be a dict with names as keys")
    if name == "SHAPES" and not all(isinstance(item, dict) for item in literal.values()):
        raise ProblemError(f'{where} must map a size ("full", "small") to keyword arguments of get_inputs')
    return literal


def _matches(problem: Problem, glob: str) -> bool:
    return fnmatchcase(problem.id, glob) or fnmatchcase(problem.name, glob)


def _nothing_matches(glob: str, problems: Sequence[Problem], chosen: Sequence[Problem]) -> str:
    elsewhere = [problem.id for problem in problems if _matches(problem, glob)]
    if elsewhere:
        levels = ", ".join(map(str, sorted({problem.level for problem in chosen})))
        return f"no problem matches {glob!r} in level {levels}; elsewhere {elsewhere[0]} does"
    return f"no problem matches {glob!r}{_close_to(glob, problems)}"


def _close_to(wanted: str, problems: Sequence[Problem]) -> str:
    """What may have been meant, ready to stand at the end of a message."""
    by_text = {text.lower(): problem.id for problem in problems for text in (problem.id, problem.name)}
    plain = wanted.lower().strip("*")
    close = difflib.get_close_matches(plain, list(by_text), n=5, cutoff=0.5)
    inside = [text for text in by_text if plain and plain in text]
    ids = list(dict.fromkeys(by_text[text] for text in inside + close))[:3]
    return f"; close: {', '.join(ids)}" if ids else "; `kbench problems list` shows them"


def _first_of_each_level(problems: Sequence[Problem], limit: int) -> list[Problem]:
    seen: dict[int, int] = {}
    kept = []
    for problem in problems:
        seen[problem.level] = seen.get(problem.level, 0) + 1
        if seen[problem.level] <= limit:
            kept.append(problem)
    return kept
