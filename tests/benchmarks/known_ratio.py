"""Is a C++ kernel that is truly 1.5 times eager, and one that is truly 0.7 times, told so? Run by hand; takes four minutes.

    python tests/benchmarks/known_ratio.py

The kernel is the shipped C++ argmax with an added loop of dependent multiplications, as long as it takes. Its ratio to eager is
taken in fresh processes of their own, half of them before and half after kbench judges the same source under strict: by
perf_counter, alternating, each call on another input out of more than the last-level cache holds.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kbench import registry, sandbox
from kbench.evaluate import Session, Settings
from kbench.types import Solution

PROBLEM = "level1/051_argmax"
PROCESSES = 16
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


def in_pages(value: Any) -> Any:
    """The tensor in a file's pages, where the referee's inputs lie; the kernel sees no huge page there."""
    if not isinstance(value, torch.Tensor):
        return value
    path = f"/proc/self/fd/{os.memfd_create('inputs')}"
    os.truncate(path, value.numel() * value.element_size())
    return torch.from_file(path, shared=True, size=value.numel(), dtype=value.dtype).view(value.shape).copy_(value)


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


def measure(sources: list[str]) -> list[float]:
    """Microseconds of a call: eager, then each source, in this process."""
    problem = registry.find(registry.discover(), PROBLEM)
    reference = load("reference", problem.source)
    inputs = [[in_pages(x) for x in reference.get_inputs(**problem.shapes["small"])] for _ in range(40)]
    model = reference.Model(*reference.get_init_inputs(**problem.shapes["small"]))
    with torch.no_grad():
        return decile_us([model, *(load(f"kernel{i}", s).ModelNew() for i, s in enumerate(sources))], inputs)


def in_fresh_processes(count: int, sources: list[str]) -> list[list[float]]:
    """`measure` in processes of their own, one after another: a process has one layout and one luck for life."""
    found = []
    for _ in range(count):
        command = [sys.executable, __file__, "measure"]
        done = subprocess.run(
            command,
            input=json.dumps(sources),
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | sandbox.MALLOC,
        )
        found.append(json.loads(done.stdout))
    return found


def main() -> None:
    problem = registry.find(registry.discover(), PROBLEM)
    source = (registry.builtin_root() / "solutions" / f"{PROBLEM}.py").read_text()
    ast.parse(source)
    with Session(Settings(baselines=("eager",))) as session:
        for wanted in (1.5, 0.7):
            eager_us, fast_us, probe_us = np.median(in_fresh_processes(3, [source, padded(source, 1_000_000)]), axis=0)
            rounds = int((eager_us / wanted - fast_us) / (probe_us - fast_us) * 1_000_000)
            text = padded(source, max(rounds, 0))
            before = in_fresh_processes(PROCESSES // 2, [text])
            verdict = session.judge(problem, Solution(text, "padded.py", "cpp"))
            logs = np.log([eager / kernel for eager, kernel in [*before, *in_fresh_processes(PROCESSES // 2, [text])]])
            assert verdict.timing is not None, verdict.message
            found = verdict.timing.speedups[0]
            print({side: round(us) for side, us in verdict.timing.latency_us.items()}, found.pairs, file=sys.stderr)
            interval, truth = found.interval, float(np.exp(logs.mean()))
            error = float(logs.std(ddof=1)) / PROCESSES**0.5
            assert interval is not None, "run kbench doctor --calibrate first"
            half = np.hypot(np.log(interval.high / interval.low) / 2, 1.96 * error)
            agrees = abs(np.log(found.value / truth)) <= half
            print(
                f"wanted {wanted}: independent {truth:.3f} (standard error {error:.1%}), kbench {found.value:.3f} "
                f"({interval.low:.3f}, {interval.high:.3f}); inside: {interval.low <= truth <= interval.high}, "
                f"agrees within both errors: {agrees}"
            )


if __name__ == "__main__":
    if sys.argv[1:] == ["measure"]:
        print(json.dumps(measure(json.load(sys.stdin))))
    else:
        main()
