"""Imports go downward only, and the heavy ones stay where they belong."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import kbench

PACKAGE = Path(kbench.__file__).parent
# From the bottom. A module may import from its own row and from rows above it in this list.
LAYERS = [
    {"__init__", "types", "errors", "findings", "bounds", "stats", "paired", "candidate", "codec", "source", "inert", "words"},
    {"files", "scratch", "keys", "shrink"},
    {
        "registry", "exploits", "extract", "store", "summary", "aggregate", "export", "freezer", "sandbox", "processes", "prompts",
        "artifacts", "budget", "cell", "spending", "attestation", "reference_rows", "rates", "roofline",
    },
    {"changes", "leaderboard", "similarity"},
    {"comparison"},
    {"gates"},
    {"devices", "environment", "oracle"},
    {"builder", "referee", "calibration"},
    {"evaluate", "repro", "limits"},
    {"costs", "attack", "profiling", "known_times"},
    {"calibrate", "report", "models"},
    {"replies", "refine"},
    {"asking"},
    {"attempts", "rejudge"},
    {"agent"},
    {"run", "admission"},
    {"verify"},
    {"cli"},
    {"demo", "api", "__main__"},
]  # fmt: skip
TORCH_MAY_BE_IN = {"referee", "candidate", "devices", "oracle", "environment"}
SDKS = {"openai", "anthropic", "google"}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if not {"_problems", "_exploits"} & set(path.parts))


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def row(name: str) -> int:
    rows = [i for i, layer in enumerate(LAYERS) if name in layer]
    assert rows, f"kbench.{name} stands in no layer: add it to LAYERS"
    return rows[0]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_downward_only(path: Path) -> None:
    if path == PACKAGE / "__init__.py":
        return  # the front door names what lies above it, for type checkers, and loads it when asked: see the last test
    for imported in imports(path):
        if imported.startswith("kbench."):
            part = imported.split(".")[1]
            target = part if part in set().union(*LAYERS) else "__init__"
            assert row(target) <= row(name_of(path)), f"{path.name} imports {imported} from above"


def test_the_untrusted_side_imports_nothing_of_kbench_but_itself() -> None:
    for path in (PACKAGE / "candidate").glob("*.py"):
        foreign = {i for i in imports(path) if i.startswith("kbench") and not i.startswith("kbench.candidate")}
        assert not foreign, f"{path.name} imports {foreign}"


def test_torch_and_sdks_are_imported_where_they_belong() -> None:
    for path in modules():
        tops = {imported.split(".")[0] for imported in imports(path)}
        assert "torch" not in tops or name_of(path) in TORCH_MAY_BE_IN, path
        assert not tops & SDKS or name_of(path) == "models", path


@pytest.mark.parametrize("statement", ["import kbench; dir(kbench)", "from kbench.cli import main; main(['--help'])"])
def test_importing_kbench_and_asking_for_help_load_nothing_heavy(statement: str) -> None:
    heavy = ("torch", "pandas", "numpy", "openai", "anthropic", "google.genai", "pydantic")
    code = f"import sys, atexit; atexit.register(lambda: print('HEAVY', [m for m in {heavy} if m in sys.modules])); {statement}"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "HEAVY []" in out.stdout, out.stdout + out.stderr
