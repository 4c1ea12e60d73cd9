"""Is a C++ kernel that is truly 1.5 times eager, and one that is truly 0.7 times, told so? Run by hand; takes two minutes.

    python tests/benchmarks/known_ratio.py

The kernel is the shipped C++ argmax with an added loop of dependent multiplications, as long as it takes. Its ratio to eager is
first taken here, in one process, alternating, by perf_counter, each call on another input out of more than the last-level cache
holds, as in a block; then kbench judges the same source under strict.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kbench import registry
from kbench.evaluate import Session, Settings
from kbench.types import Solution

PROBLEM = "level1/051_argmax"
SPIN = """
static void spin(int64_t rounds) {
  volatile double sink = 1.0;
  for (int64_t i = 0; i < rounds; i++) sink = sink * 1.0000001;
}
"""


def load(name: str, source: str) -> Any:
    path = Path(tempfile.mkdtemp()) / f"{name}.py"
    path.write_text(source)
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def padded(source: str, rounds: int) -> str:
    """The solution with `rounds` dependent multiplications before its work."""
    text = source.replace('extern "C"', SPIN + 'extern "C"', 1)
    opening = text.index("{", text.index('extern "C"')) + 1
    return f"{text[:opening]} spin({rounds});{text[opening:]}"


def decile_us(calls: list[Any], inputs: list[Any], repeats: int = 120) -> list[float]:
    """Fast decile of each call's time, taken in turns, on inputs that are not in a cache."""
    times: list[list[float]] = [[] for _ in calls]
    for turn in range(repeats):
        for i, call in enumerate(calls):
            arguments = inputs[(turn * len(calls) + i) % len(inputs)]
            started = time.perf_counter()
            call(*arguments)
            times[i].append((time.perf_counter() - started) * 1e6)
    return [float(np.quantile(t, 0.1)) for t in times]


def main() -> None:
    problem = registry.find(registry.discover(), PROBLEM)
    source = (registry.builtin_root() / "solutions" / f"{PROBLEM}.py").read_text()
    ast.parse(source)
    reference = load("reference", problem.source)
    inputs = [reference.get_inputs(**problem.shapes["small"]) for _ in range(40)]
    model = reference.Model(*reference.get_init_inputs(**problem.shapes["small"]))
    with Session(Settings(baselines=("eager",))) as session, torch.no_grad():
        for wanted in (1.5, 0.7):
            fast = load("fast", source).ModelNew()
            probe = load("probe", padded(source, 1_000_000)).ModelNew()
            eager_us, fast_us, probe_us = decile_us([model, fast, probe], inputs)
            rounds = int((eager_us / wanted - fast_us) / (probe_us - fast_us) * 1_000_000)
            text = padded(source, max(rounds, 0))
            kernel = load("kernel", text).ModelNew()
            eager_us, kernel_us = decile_us([model, kernel], inputs)
            print(f"eager {eager_us:.0f} us, kernel {kernel_us:.0f} us here", file=sys.stderr)
            verdict = session.judge(problem, Solution(text, "padded.py", "cpp"))
            assert verdict.timing is not None, verdict.message
            found = verdict.timing.speedups[0]
            print({side: round(us) for side, us in verdict.timing.latency_us.items()}, found.pairs, file=sys.stderr)
            interval = found.interval
            inside = interval is not None and interval.low <= eager_us / kernel_us <= interval.high
            print(
                f"wanted {wanted}: independent {eager_us / kernel_us:.3f}, kbench {found.value:.3f} "
                f"{(round(interval.low, 3), round(interval.high, 3)) if interval else 'no interval'} inside={inside}",
                file=sys.stdout,
            )


if __name__ == "__main__":
    main()
