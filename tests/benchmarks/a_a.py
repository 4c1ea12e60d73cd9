"""A/A on the CPU device: the reference judged as a candidate, so every true speed-up is 1. Run by hand; takes a quarter of an hour.

    python tests/benchmarks/a_a.py OUT.jsonl [ROUNDS]

Judges the six problems ROUNDS times under strict and stores every raw block; then says how often the interval covers 1 and how
often "faster, interval above 1" fires, with exact one-sided tests at 1 %, and compares estimators of the time of a call.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numpy as np

from kbench import registry, stats
from kbench.calibrate import PROBLEMS, judge_once
from kbench.codec import decode, encode
from kbench.evaluate import Session, Settings
from kbench.types import Verdict


def measure(path: Path, rounds: int) -> None:
    problems = {problem.id: problem for problem in registry.discover()}
    with Session(Settings(baselines=("eager",), policy="any", fresh_references=True)) as session, path.open("a") as out:
        for name in PROBLEMS:
            for _ in range(rounds):
                started = time.monotonic()
                verdict = judge_once(session, problems[name])
                line = {"problem": name, "seconds": time.monotonic() - started, "verdict": encode(verdict)}
                out.write(json.dumps(line) + "\n")
                out.flush()
                assert verdict.timing is not None
                print(name, f"{verdict.timing.speedups[0].value:.3f}", f"{line['seconds']:.1f} s", file=sys.stderr)


def report(path: Path) -> None:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    timings = [t for line in lines if (t := decode(Verdict, line["verdict"]).timing) is not None]
    speedups = [timing.speedups[0] for timing in timings]
    values = np.array([s.value for s in speedups])
    print(
        f"{len(values)} judgings, median speed-up {np.median(values):.4f}, seconds {np.median([x['seconds'] for x in lines]):.1f}"
    )
    with_interval = [s for s in speedups if s.interval is not None]
    missed = sum(not s.interval.low <= 1 <= s.interval.high for s in with_interval if s.interval)
    faster = sum(bool(s.surely_faster) for s in with_interval)
    n = len(with_interval)
    if n:
        print(f"interval misses 1: {missed} of {n}, P = {stats.binomial_tail(missed, n, 0.05):.3f}")
        print(f"faster with interval above 1: {faster} of {n}, P = {stats.binomial_tail(faster, n, 0.025):.3f}")
    pairs = np.log([ratio for s in speedups for ratio in s.pairs])
    print(f"sd of a pair's log ratio {math.sqrt(float(np.mean(pairs**2))):.4f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A/A on the CPU device.")
    parser.add_argument("out", type=Path, metavar="OUT.jsonl")
    parser.add_argument("rounds", type=int, nargs="?", default=0, help="0 only reports what is there")
    given = parser.parse_args()
    if given.rounds:
        measure(given.out, given.rounds)
    report(given.out)
