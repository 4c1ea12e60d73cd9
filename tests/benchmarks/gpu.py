"""Every figure that the README quotes of the GPU referee, taken again on the GPU at hand. Run by hand; 20 minutes in all.

    python tests/benchmarks/gpu.py aa      OUT [ROUNDS]     A/A judgings of eager, medium shapes        7 minutes
    python tests/benchmarks/gpu.py span    OUT              eager's time of a call against CUPTI        3 minutes
    python tests/benchmarks/gpu.py kernels OUT              shipped kernels, full shapes, cold and warm 6 minutes
    python tests/benchmarks/gpu.py again   OUT              the same kernels, another process           3 minutes
    python tests/benchmarks/gpu.py suite   OUT CHECKOUT     KernelBench problems against device events  3 minutes
    python tests/benchmarks/gpu.py report  OUT              what all of that amounts to

Each part appends to a file of its own in the folder OUT and leaves out what is there already, so that a part that was cut
short goes on.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kbench import calibration, environment, registry, stats
from kbench.calibrate import log_ratios
from kbench.codec import decode, encode
from kbench.evaluate import Session, Settings, read_solution
from kbench.models.builtin import builtin_solution
from kbench.referee import clock
from kbench.types import Problem, Solution, Speedup, Status, Timing, Verdict

SOLUTIONS = Path(__file__).parents[2] / "problems" / "solutions"
SHORTEST_US = 30.0
SPAN_US = 100.0
SUITE = (
    "level1/1_*", "level1/19_*", "level1/26_*", "level1/40_*", "level1/50_*", "level2/12_*", "level2/76_*", "level3/4_*",
    "level3/9_*", "level3/43_*",
)  # fmt: skip
SETTINGS = Settings(device="cuda:0", policy="any", timeout_s=120.0)


class Table:
    """Lines of one part, appended as they are taken."""

    def __init__(self, folder: Path, part: str) -> None:
        self.path = folder / f"{part}.jsonl"
        self.lines = [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def has(self, **key: Any) -> bool:
        return any(key.items() <= line.items() for line in self.lines)

    def add(self, line: dict[str, Any]) -> None:
        self.lines.append(line)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")


def judged(session: Session, problem: Problem, solution: Solution, **key: Any) -> dict[str, Any]:
    started = time.monotonic()
    verdict = session.judge(problem, solution)
    seconds = time.monotonic() - started
    shown = (
        [f"{s.baseline} {s.value:.4f}" for s in verdict.timing.speedups] if verdict.timing else [verdict.message[:200]]
    )
    print(problem.id, *key.values(), verdict.status, f"{seconds:.1f} s", *shown, flush=True)
    return {"problem": problem.id, "seconds": seconds, "verdict": encode(verdict), **key}


def aa(folder: Path, rounds: int) -> None:
    table = Table(folder, "aa")
    settings = replace(SETTINGS, shapes="medium", baselines=("eager",), fresh_references=True)
    with Session(settings) as session:
        for problem in registry.discover():
            for turn in range(rounds):
                if not table.has(problem=problem.id, turn=turn):
                    line = judged(session, problem, builtin_solution("builtin/eager", problem), turn=turn)
                    table.add(line)
                    pairs = log_ratios(decode(Verdict, line["verdict"]))
                    calibration.add(session.cache, environment.device_key(settings.device), pairs)


def kernels() -> Iterator[tuple[Problem, Path]]:
    """One Triton or CUDA solution a problem."""
    for problem in registry.discover():
        for language in ("triton", "cuda"):
            path = SOLUTIONS / f"{problem.id}__{language}.py"
            if path.exists():
                yield problem, path
                break


def judge_kernels(folder: Path, part: str, turns: tuple[str, ...]) -> None:
    table = Table(folder, part)
    with Session(replace(SETTINGS, shapes="full")) as session:
        for problem, path in kernels():
            for turn, protocol in enumerate(turns):
                session.settings = replace(session.settings, protocol=protocol)
                if not table.has(problem=problem.id, turn=turn):
                    table.add(judged(session, problem, read_solution(path), turn=turn, protocol=protocol))


def span(folder: Path) -> None:
    """Eager calls of each problem under CUPTI: first start to last end over as many calls as the longest block had.

    "inside" is taken by a worker in its sandbox, of the blocks that the referee gives it: the same cold caches and page tables
    as in a judging. "apart" is a plain loop over as many inputs in a process of its own, which has nothing beside it.
    """
    table = Table(folder, "span")
    with Session(replace(SETTINGS, shapes="medium", baselines=("eager",))) as session:
        for problem in registry.discover():
            longest = [max(s.k for s in timing.samples) for timing in timings(folder, "aa", problem.id)]
            if longest and not table.has(problem=problem.id):
                inside = span_inside(session, problem, longest[0])
                answer = {"inside_us": inside, **in_a_process("span", problem.id, str(longest[0]))}
                table.add({"problem": problem.id, **answer})
                print(problem.id, answer, flush=True)


RECORDER = """

import json as _json, torch as _torch
from torch.profiler import ProfilerActivity as _Activity, profile as _profile

CALLS, GAP_US = {calls}, 1000.0  # between two blocks lie milliseconds


class ModelNew(Model):
    trace, made = None, 0

    def forward(self, *inputs):
        if self.trace is None:
            self.trace = _profile(activities=[_Activity.CUDA])
            self.trace.__enter__()
        if self.made == {enough}:
            self.trace.__exit__(None, None, None)
            raise RuntimeError(_json.dumps(self.spans()))
        self.made += 1
        return super().forward(*inputs)

    def spans(self):
        kind = _torch.autograd.DeviceType.CUDA
        ranges = sorted((e.time_range.start, e.time_range.end) for e in self.trace.events() if e.device_type == kind)
        blocks = []
        for begin, end in ranges:
            if blocks and begin - blocks[-1][1] < GAP_US:
                blocks[-1][1:] = [max(end, blocks[-1][1]), blocks[-1][2] + 1]
            else:
                blocks.append([begin, end, 1])
        most = max(block[2] for block in blocks)
        return [(end - begin) / CALLS for begin, end, count in blocks if count == most]
"""


def span_inside(session: Session, problem: Problem, calls: int) -> float | None:
    """The candidate says it with the message of the error that ends it. None where it says something else."""
    source = problem.source + RECORDER.format(calls=calls, enough=3 * calls + 2)
    verdict = session.judge(problem, Solution(source, "span", "python"))
    try:
        return float(np.median(json.loads(verdict.message.partition(": ")[2])))
    except ValueError:
        print(problem.id, "inside:", verdict.status, verdict.message[:200], flush=True)
        return None


def suite(folder: Path, checkout: Path) -> None:
    table = Table(folder, "suite")
    problems = registry.select(registry.discover(checkout), globs=SUITE)
    with Session(replace(SETTINGS, protocol="quick")) as session:
        for problem in problems:
            if not table.has(problem=problem.id):
                line = judged(session, problem, builtin_solution("builtin/eager", problem), path=str(problem.path))
                table.add({**line, "events_us": in_a_process("events", str(problem.path), "0")})


def in_a_process(what: str, name: str, calls: str) -> dict[str, float]:
    command = [sys.executable, __file__, f"_{what}", name, calls]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def prepared(source: str, shape: dict[str, Any]) -> tuple[Any, Any]:
    """The module on the device, and a function that makes inputs there."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    space: dict[str, Any] = {"__name__": "problem"}
    exec(compile(source, "problem.py", "exec"), space)
    torch.set_default_device("cuda")
    module = space["Model"](*space["get_init_inputs"](**shape)).cuda()

    def inputs() -> list[Any]:
        return [x.cuda() if isinstance(x, torch.Tensor) else x for x in space["get_inputs"](**shape)]

    return module, inputs


def span_of(name: str, calls: int) -> dict[str, float]:
    import torch
    from torch.profiler import ProfilerActivity, profile

    problem = registry.find(registry.discover(), name)
    module, inputs = prepared(problem.source, problem.shapes["medium"])
    if problem.spec.get("mode") == "eval":
        module.eval()
    slots = [inputs() for _ in range(calls)]
    found = []
    with torch.no_grad():
        for _ in range(2):
            held = [module(*slot) for slot in slots]
            torch.cuda.synchronize()
        del held
        for _ in range(5):
            with profile(activities=[ProfilerActivity.CUDA]) as trace:
                held = [module(*slot) for slot in slots]
                torch.cuda.synchronize()
            del held
            events = [e for e in trace.events() if e.device_type == torch.autograd.DeviceType.CUDA]
            begin, end = min(e.time_range.start for e in events), max(e.time_range.end for e in events)
            found.append((end - begin) / calls)
    return {"apart_us": float(np.median(found)), "calls": calls}


def events_of(path: str) -> dict[str, float]:
    """Median of cold calls between two events, eager and torch.compile."""
    import torch

    module, inputs = prepared(Path(path).read_text(), {})
    slots = [inputs() for _ in range(2)]
    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    found = {}
    with torch.no_grad():
        for name, call in (("eager", module), ("compile", torch.compile(module))):
            times = []
            for turn in range(25):
                flush.zero_()
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                begin.record()
                call(*slots[turn % 2])
                end.record()
                torch.cuda.synchronize()
                times.append(begin.elapsed_time(end) * 1e3)
            found[name] = float(np.median(times[5:]))
    return found


# ---- report ----------------------------------------------------------------------------------------------------------


def verdicts(folder: Path, part: str, **key: Any) -> list[tuple[dict[str, Any], Verdict]]:
    lines = [line for line in Table(folder, part).lines if key.items() <= line.items()]
    return [(line, decode(Verdict, line["verdict"])) for line in lines]


def timings(folder: Path, part: str, problem: str) -> list[Timing]:
    return [v.timing for _, v in verdicts(folder, part, problem=problem) if v.timing is not None]


def spread(values: list[float], name: str) -> str:
    shares = np.abs(np.array(values)) * 100
    return (
        f"{name}: median {np.median(shares):.2f} %, 95th percentile {np.quantile(shares, 0.95):.2f} %, n {len(values)}"
    )


def report(folder: Path) -> None:
    rows = verdicts(folder, "aa")
    if rows:
        report_aa(rows)
        report_span(folder)
    report_kernels(folder)
    report_suite(folder)


def report_aa(rows: list[tuple[dict[str, Any], Verdict]]) -> None:
    wrong = [f"{line['problem']}: {v.status} {v.message[:100]}" for line, v in rows if v.status is not Status.CORRECT]
    timed = [v.timing for _, v in rows if v.timing is not None and v.timing.latency_us["eager"] >= SHORTEST_US]
    print(f"A/A, {len(timed)} judgings of problems of {SHORTEST_US:.0f} us and more; not correct: {wrong or 'none'}")
    print(" ", spread([t.speedups[0].value - 1 for t in timed], "speed-up - 1"))
    with_interval = cross_validated([verdict for _, verdict in rows if verdict.timing in timed])
    if with_interval:
        n = len(with_interval)
        missed = sum(not s.interval.low <= 1 <= s.interval.high for s in with_interval if s.interval)
        faster = sum(bool(s.surely_faster) for s in with_interval)
        print(f"  interval misses 1: {missed} of {n}, P {stats.binomial_tail(missed, n, 0.05):.3f}", end="; ")
        print(f"interval above 1: {faster} of {n}, P {stats.binomial_tail(faster, n, 0.025):.3f}")
    for name in sorted({line["problem"] for line, _ in rows}):
        found = [v.timing for line, v in rows if line["problem"] == name and v.timing is not None]
        values = " ".join(f"{t.speedups[0].value:.4f}" for t in found)
        if found:
            print(f"    {name:44s} {found[0].latency_us['eager']:9.1f} us  {values}")


def cross_validated(judgings: list[Verdict]) -> list[Speedup]:
    """Each judging's speed-up with the interval that the A/A runs of all the others give it."""
    found = []
    for verdict in judgings:
        ratios: dict[str, list[float]] = {}
        for kind, value in (pair for other in judgings if other is not verdict for pair in log_ratios(other)):
            ratios.setdefault(kind, []).append(value)
        assert verdict.timing is not None
        samples, known = verdict.timing.samples, calibration.from_ratios(ratios)
        found.append(clock.assess(samples, ["eager"], known, True, "cuda:0").speedups[0])
    return [speedup for speedup in found if speedup.interval is not None]


def report_span(folder: Path) -> None:
    apart: dict[str, list[float]] = {"inside_us": [], "apart_us": []}
    for line in Table(folder, "span").lines:
        own = float(np.median([t.latency_us["eager"] for t in timings(folder, "aa", line["problem"])]))
        told = f"    {line['problem']:44s} kbench {own:9.1f} us"
        for name, found in apart.items():
            value = line.get(name)
            if value is not None and value >= SPAN_US:
                found.append(own / value - 1)
                told += f", CUPTI {name.removesuffix('_us')} {value:9.1f} us {100 * found[-1]:+.2f} %"
        print(told)
    for name, found in apart.items():
        if found:
            print(" ", spread(found, f"time of a call against the CUPTI span, {name.removesuffix('_us')}"))


def report_kernels(folder: Path) -> None:
    first = verdicts(folder, "kernels", turn=0)
    for line, verdict in first:
        shown = (
            [f"{s.baseline} {s.value:.3f} {s.interval or ''}" for s in verdict.timing.speedups]
            if verdict.timing
            else []
        )
        print(f"    {line['problem']:44s} {verdict.status} {' '.join(shown)} {verdict.message[:100]}")
    sure = [v for _, v in first if v.timing and (s := v.timing.speedup("compile")) and s.surely_faster]
    if first:
        good = sum(v.status is Status.CORRECT for _, v in first)
        print(f"kernels: {good} of {len(first)} correct, {len(sure)} surely faster than compile")
    for turn, name in ((1, "strict, warm"), (2, "quick, warm")):
        seconds = [line["seconds"] for line, _ in verdicts(folder, "kernels", turn=turn)]
        if seconds:
            print(f"  {name}: median {np.median(seconds):.1f} s, longest {max(seconds):.1f} s")
    apart = []
    for line, verdict in verdicts(folder, "again"):
        before = [v for other, v in first if other["problem"] == line["problem"]]
        if before and before[0].timing and verdict.timing:
            apart.append(math.log(verdict.timing.speedups[0].value / before[0].timing.speedups[0].value))
    if apart:
        print(" ", spread(apart, "speed-up over eager, two processes"))


def report_suite(folder: Path) -> None:
    apart = []
    for line, verdict in verdicts(folder, "suite"):
        if verdict.timing is None:
            print(f"    {line['problem']:60s} {verdict.status} {verdict.message[:100]}")
            continue
        for side, theirs in line["events_us"].items():
            own = verdict.timing.latency_us.get(side)
            if own is not None:
                apart.append(own / theirs - 1)
                print(
                    f"    {line['problem']:60s} {side:8s} {own:9.1f} us, events {theirs:9.1f} us, {100 * apart[-1]:+.2f} %"
                )
    if apart:
        print(" ", spread(apart, "KernelBench problems against device events"))


def main() -> None:
    part, *rest = sys.argv[1:]
    if part == "_span":
        print(json.dumps(span_of(rest[0], int(rest[1]))))
    elif part == "_events":
        print(json.dumps(events_of(rest[0])))
    else:
        folder = Path(rest[0])
        folder.mkdir(parents=True, exist_ok=True)
        parts = {
            "aa": lambda: aa(folder, int(rest[1]) if len(rest) > 1 else 3),
            "span": lambda: span(folder),
            "kernels": lambda: judge_kernels(folder, "kernels", ("strict", "strict", "quick")),
            "again": lambda: judge_kernels(folder, "again", ("strict",)),
            "suite": lambda: suite(folder, Path(rest[1])),
            "report": lambda: report(folder),
        }
        parts[part]()


if __name__ == "__main__":
    main()
