"""What a model is told: from templates in files, of one version. The version and the text decide a run's identity.

Not covered: what the referee does with the answer (referee), and how the code is taken out of it (extract).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from kbench.errors import ConfigError
from kbench.source import parse
from kbench.types import Precision, Problem, Status, Verdict

VERSION = "1"
FOLDER = Path(__file__).parent / f"v{VERSION}"
STYLES = {"zero-shot": 0, "one-shot": 1, "few-shot": 3}  # worked examples in the prompt
LANGUAGES = ("auto", "cuda", "triton", "cpp")
# In the order shown; the last calls a library for its matrix product, which `pure` forbids.
EXAMPLES = ("channel_scale_relu6", "row_normalise", "linear_silu")
HIDDEN = ("SHAPES", "INPUTS", "SPEC")  # kbench's own constants; the odd sizes are not to be shown
DETAIL_CHARS = 4000  # of a compiler's message or a traceback, in a refinement turn
HARDWARE_WORDS = {"device": "device", "model": "processor", "cores": "cores", "cache_bytes": "last-level cache"}


@dataclass(frozen=True, slots=True)
class Target:
    """What a solution is to be written for."""

    language: str = "auto"
    style: str = "one-shot"
    device: str = "cpu"
    shapes: str = "small"
    precision: Precision = Precision.FP32
    policy: str = "custom"
    baselines: tuple[str, ...] = ("eager", "compile")
    hardware: dict[str, object] = field(default_factory=dict)  # facts, named as `environment.describe` names them

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES or self.style not in STYLES:
            raise ConfigError(f"no prompt for language {self.language!r} in style {self.style!r}")
        if self.language == "cuda" and self.device == "cpu":
            raise ConfigError(
                "--language cuda on the CPU device: no CUDA kernel runs there; give --language cpp or triton"
            )

    @property
    def resolved_language(self) -> str:
        """ "auto" is C++ on a CPU, and on a GPU CUDA or Triton as the model likes, with CUDA in the examples."""
        if self.language != "auto":
            return self.language
        return "cpp" if self.device == "cpu" else "cuda"


@dataclass(frozen=True, slots=True)
class Prompt:
    system: str
    user: str


def first_prompt(problem: Problem, target: Target) -> Prompt:
    """The prompt of a first turn."""
    names = [name for name in EXAMPLES if target.policy != "pure" or name != EXAMPLES[-1]][: STYLES[target.style]]
    language = target.resolved_language
    values = {
        "problem": problem,
        "reference": shown_source(problem.source),
        "target": target,
        "language": language,
        "may_choose": target.language == "auto" and target.device != "cpu",
        "on_cpu": target.device == "cpu",
        "sizes": sizes(problem, target.shapes),
        "families": problem.inputs,
        "mode": str(problem.spec.get("mode", "own")),
        "hardware": hardware_lines(target.hardware),
        "examples": [
            (_text(f"examples/reference/{name}.py.txt"), _text(f"examples/{language}/{name}.py.txt")) for name in names
        ],
    }
    return Prompt(_render("system.txt.j2", values), _render("user.txt.j2", values))


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one turn, as the next one is told."""

    status: Status
    message: str
    verdict: Verdict | None = None
    note: str = ""  # why a reply had no code
    best: bool = False  # it is the fastest correct one so far


def feedback(result: Result) -> str:
    """The user's words of a refinement turn: the compiler's error, the first wrong element, or the measured speed-ups."""
    verdict = result.verdict
    timing = verdict.timing if verdict is not None else None
    values = {
        "result": result,
        "verdict": verdict,
        "status": str(result.status),
        "mismatch": verdict.mismatch if verdict is not None else None,
        "speedups": timing.speedups if timing is not None else (),
        "latency_us": timing.latency_us if timing is not None else {},
        "detail": _capped(verdict.detail) if verdict is not None else "",
    }
    return _render("feedback.txt.j2", values)


def shown_source(source: str) -> str:
    """A problem's source without its docstring and without kbench's own constants, which name the sizes held out."""
    tree = parse(source)
    hidden = [node for at, node in enumerate(tree.body) if _is_hidden(node, at)]
    lines = source.splitlines()
    for node in reversed(hidden):
        del lines[node.lineno - 1 : node.end_lineno]
    return _squeezed(lines)


def _is_hidden(node: ast.stmt, at: int) -> bool:
    if at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return any(isinstance(target, ast.Name) and target.id in HIDDEN for target in targets)


def _squeezed(lines: Sequence[str]) -> str:
    """Without blank lines at the ends, and never more than two of them in a row."""
    kept: list[str] = []
    for line in lines:
        if line.strip() or (kept and any(part.strip() for part in kept[-2:])):
            kept.append(line)
    return "\n".join(kept).strip("\n") + "\n"


def sizes(problem: Problem, shapes: str) -> str:
    """ "rows=512, cols=3072"; empty where the file itself says its sizes."""
    return ", ".join(f"{name}={value!r}" for name, value in problem.shapes.get(shapes, {}).items())


def hardware_lines(facts: dict[str, object]) -> list[str]:
    lines = []
    for name, value in facts.items():
        word = HARDWARE_WORDS.get(name, name.replace("_", " "))
        if name.endswith("_bytes") and isinstance(value, int):
            value = f"{value / 2**20:.0f} MiB"
            word = word.removesuffix(" bytes")
        lines.append(f"{word}: {value}")
    return lines


def _capped(text: str) -> str:
    return text if len(text) <= DETAIL_CHARS else f"{text[: DETAIL_CHARS // 2]}\n[...]\n{text[-DETAIL_CHARS // 2 :]}"


@cache
def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def _template(name: str) -> Any:
    """Compiled once: that takes ten times as long as rendering."""
    import jinja2

    # Plain text for a model, never a page: nothing is escaped.
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    return environment.from_string(_text(name))


def _render(name: str, values: dict[str, Any]) -> str:
    text: str = _template(name).render(values)
    return text.strip() + "\n"
