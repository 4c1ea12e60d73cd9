"""The folder that an agent works in: its files, which of them are the agent's, and what of it is the solution.

single       model.py to read, model_new.py to write
cuda-agent   the layout of arXiv 2602.24286: kernels/ with bindings too, built into the module cuda_extension
A folder of the user's own takes the place of either; model.py is the problem's in any case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kbench.agent.packing import MODEL, is_source, pack
from kbench.errors import ConfigError
from kbench.prompts import Target, hardware_lines, shown_source, sizes
from kbench.types import Problem, Solution

FOLDER = Path(__file__).parent / "workdir"
TASK = "SKILL.md"
REFERENCE = "model.py"
MAX_TEMPLATE_BYTES = 16 << 20
SIZED = """

# ---- the sizes that count: get_inputs() and get_init_inputs() give these ----


def _sized(function, sizes):
    import inspect

    known = inspect.signature(function).parameters
    return lambda **more: function(**{{name: value for name, value in sizes.items() if name in known}}, **more)


get_inputs = _sized(get_inputs, {sizes!r})
get_init_inputs = _sized(get_init_inputs, {sizes!r})
"""


class Incomplete(Exception):
    """The workdir holds no solution yet; the text says what is missing."""


@dataclass(frozen=True, slots=True)
class Contract:
    """`files` is the folder as the agent finds it; `kept` names those of them that are not the agent's to change."""

    name: str
    files: dict[str, bytes]
    kept: frozenset[str]
    task: str  # what the agent is told first

    def solution(self, found: Mapping[str, bytes], origin: str) -> Solution:
        """What of `found` is the solution. Incomplete where there is none. Our copy of a kept file counts, not the one found."""
        if MODEL not in found:
            raise Incomplete(f"there is no {MODEL} that defines ModelNew")
        try:
            texts = {n: found[n].decode() for n in found if is_source(n) and n not in self.kept}
        except UnicodeDecodeError as error:
            raise Incomplete(f"a source file is no UTF-8: {error}") from error
        if self.name == "single":
            texts = {n: text for n, text in texts.items() if n.endswith(".py")}
        if any(not name.endswith(".py") for name in texts):
            texts |= {n: self.files[n].decode() for n in self.kept if is_source(n) and not n.endswith(".py")}
        return pack(texts, origin)

    def changed(self, found: Mapping[str, bytes]) -> tuple[str, ...]:
        """The kept files that the agent changed or removed, by content."""
        return tuple(sorted(name for name in self.kept if found.get(name) != self.files[name]))


def contract_for(problem: Problem, target: Target, name: str, template: str | None) -> Contract:
    if name == "auto":
        name = "single" if target.device == "cpu" else "cuda-agent"
    files = own_files(name) if template is None else template_files(Path(template))
    files[REFERENCE] = reference(problem, target.shapes).encode()
    task = render("task.md.j2", values_of(problem, target, name))
    if template is None or TASK not in files:
        files[TASK] = task.encode()
    else:
        task = files[TASK].decode("utf-8", "replace")
    kept = {n for n in files if n.startswith(("utils/", "binding")) or n in (REFERENCE, TASK)}
    return Contract("cuda-agent" if template is not None else name, files, frozenset(kept), task)


def reference(problem: Problem, shapes: str) -> str:
    """model.py: the problem's own three names; at the sizes that are judged, where the file has several."""
    wanted = problem.shapes.get(shapes)
    return shown_source(problem.source) + (SIZED.format(sizes=wanted) if wanted else "")


def own_files(name: str) -> dict[str, bytes]:
    folders = ("common",) if name == "single" else ("common", "cuda-agent")
    found: dict[str, bytes] = {}
    for folder in folders:
        found |= template_files(FOLDER / folder)
    return {path.removesuffix(".txt"): content for path, content in found.items()}


def template_files(folder: Path) -> dict[str, bytes]:
    """ConfigError where it is no folder, or holds too much."""
    if not folder.is_dir():
        raise ConfigError(f"--workdir-template {folder}: there is no such folder")
    paths = [
        p for p in sorted(folder.rglob("*")) if p.is_file() and ".git" not in p.parts and "__pycache__" not in p.parts
    ]
    if sum(path.stat().st_size for path in paths) > MAX_TEMPLATE_BYTES:
        raise ConfigError(f"--workdir-template {folder}: more than {MAX_TEMPLATE_BYTES >> 20} MiB")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def values_of(problem: Problem, target: Target, name: str) -> dict[str, Any]:
    return {
        "problem": problem, "target": target, "contract": name, "sizes": sizes(problem, target.shapes),
        "families": problem.inputs, "mode": str(problem.spec.get("mode", "own")), "on_cpu": target.device == "cpu",
        "language": target.resolved_language, "hardware": hardware_lines(target.hardware),
    }  # fmt: skip


@cache
def _template(name: str) -> Any:
    import jinja2

    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    return environment.from_string((FOLDER / name).read_text(encoding="utf-8"))


def render(name: str, values: dict[str, Any]) -> str:
    text: str = _template(name).render(values)
    return text.strip() + "\n"
