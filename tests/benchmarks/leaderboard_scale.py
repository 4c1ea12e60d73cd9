"""How long a leaderboard of many attempts takes, and how much memory. Run by hand.

    python tests/benchmarks/leaderboard_scale.py FOLDER [RUNS [PROBLEMS [SAMPLES]]]

Writes RUNS synthetic runs (40 of 250 problems, 10 samples: 100,000 attempts with raw blocks and stored code) under FOLDER/results unless
they are there, then times `kbench leaderboard --html` in a process of its own and prints seconds and peak memory. The figures in
the runs are made up and mean nothing.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from kbench.files import json_text, write_atomic
from kbench.store import to_line
from kbench.types import (
    BlockSample,
    ErrorFigure,
    Gate,
    Interval,
    Record,
    ReplyFacts,
    RunInfo,
    Speedup,
    Status,
    Timing,
    Verdict,
)  # fmt: skip

LEVELS = {1: 0.4, 2: 0.4, 3: 0.2}
SIDES = ("candidate", "eager", "compile")
FAILURES = (Status.INCORRECT, Status.COMPILE_ERROR, Status.RUNTIME_ERROR, Status.TIMEOUT, Status.REFUSED)
WORDS = ("cedar", "birch", "maple", "rowan", "alder", "hazel", "aspen", "larch", "elder", "holly")
CODE = (
    "import torch\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n"
    + "# tiles\n" * 200
)


def problems(count: int) -> list[str]:
    return [
        f"level{level}/{n:03d}_synthetic" for level, share in LEVELS.items() for n in range(1, round(count * share) + 1)
    ]


def verdict(status: Status, ratio: float, rng: np.random.Generator) -> Verdict:
    gates = [
        Gate(name, True, "seen as wanted in 24 calls on fresh inputs") for name in ("build", "structure", "inputs")
    ]
    errors = (ErrorFigure("relative_l2", 3e-7, 4e-7, 2e-6), ErrorFigure("max", 2e-6, 2e-6, 1e-5))
    if status is not Status.CORRECT:
        gates.append(Gate("values", False, "relative error 0.31 against a budget of 2e-6"))
        return Verdict(status, f"output differs: {status}", tuple(gates), errors, detail="line 3: no such thing\n" * 8,
                       sandbox="namespaces", protocol="strict", device="cpu")  # fmt: skip
    gates.append(Gate("values", True, "24 of 30 calls compared, all within budget"))
    samples = tuple(
        BlockSample(side, pair, k, float(k * 100 * (1 + rng.exponential(0.01))))
        for pair in range(3) for side in SIDES for k in (4, 8, 12, 16) for _ in range(2)
    )  # fmt: skip
    speedups = tuple(
        Speedup(name, ratio * f, Interval(ratio * f * 0.98, ratio * f * 1.02), (ratio * f,) * 3)
        for name, f in (("eager", 1.3), ("compile", 1.0))
    )
    timing = Timing({"candidate": 100.0, "eager": 130 * ratio, "compile": 100 * ratio}, {}, speedups, samples, 2.0)
    return Verdict(status, "correct", tuple(gates), errors, timing=timing, calls_made=30, calls_checked=24,
                   sandbox="namespaces", protocol="strict", device="cpu")  # fmt: skip


def write_run(folder: Path, number: int, count: int, samples: int) -> None:
    rng = np.random.default_rng(number)
    skill, speed = rng.uniform(0.3, 0.95), rng.normal(0, 0.2)
    ids = problems(count)
    model = f"local/{WORDS[number % len(WORDS)]}-{number // len(WORDS) + 1}"
    folder.mkdir(parents=True)
    with (folder / "attempts.jsonl").open("wb") as out:
        for i, problem in enumerate(ids):
            easy = rng.normal(0, 0.15)
            for sample in range(samples):
                right = rng.random() < min(1.0, max(0.0, skill + easy - 0.2 * (problem[5] == "3")))
                status = Status.CORRECT if right else FAILURES[rng.integers(len(FAILURES))]
                moment = f"2026-01-01T{i // 60 % 24:02d}:{i % 60:02d}:00+00:00"
                reply = ReplyFacts(model, 1500, int(rng.integers(2000, 9000)), cost_usd=float(rng.uniform(0.01, 0.05)))
                judged = verdict(status, float(np.exp(rng.normal(speed, 0.4))), rng)
                record = Record(folder.name, problem, int(problem[5]), sample, moment, moment, status, verdict=judged,
                                solution_hash="0" * 64, language="cpp", origin="reply", reply=reply)  # fmt: skip
                out.write(to_line(record))
                place = folder / "artifacts" / problem / str(sample)
                place.mkdir(parents=True)
                (place / "solution.py").write_text(CODE)
    info = RunInfo(
        folder.name, f"2026-01-{1 + number % 28:02d}T00:00:00+00:00", "0.1.0",
        {"model": model, "precision": "fp32", "policy": "custom", "shapes": "small"},
        {"device": "cpu", "model": "Synthetic CPU", "cores": 2}, {"name": "strict"}, "f" * 64,
        dict.fromkeys(ids, "0" * 64), samples,
    )  # fmt: skip
    write_atomic(folder / "run.json", json_text(info))


def main() -> None:
    parser = argparse.ArgumentParser(description="Times the leaderboard of many synthetic attempts.")
    parser.add_argument("folder", type=Path)
    for name, default in (("runs", 40), ("problems", 250), ("samples", 10)):
        parser.add_argument(name, type=int, nargs="?", default=default)
    given = parser.parse_args()
    target, runs, count, samples = given.folder, given.runs, given.problems, given.samples
    results = target / "results"
    for number in range(runs):
        folder = results / f"run-{number:02d}"
        if not (folder / "run.json").exists():
            write_run(folder, number, count, samples)
    size = sum(path.stat().st_size for path in results.glob("*/attempts.jsonl"))
    print(f"{runs * count * samples} attempts, {size / 1e6:.0f} MB of records")
    for more in ([], ["--html", str(target / "page")]):
        started = time.monotonic()
        subprocess.run([sys.executable, "-c", "from kbench.cli import main; main()", "leaderboard", "--results", str(results), *more],
                       check=True, stdout=subprocess.DEVNULL)  # fmt: skip
        print(f"kbench leaderboard {' '.join(more[:1])}: {time.monotonic() - started:.1f} s")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    print(f"peak of its largest process: {peak:.2f} GB")


if __name__ == "__main__":
    main()
