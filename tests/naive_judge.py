"""A judge as none should be: candidate, reference, checker, clock and result share one process, one input and one seed.

Four of them, each with mistakes that harnesses were seen to make (exploits.Naive): an exploit that fools none has rotted.

checks_first     compares one output by allclose at 1e-2, then times more calls on the very same input
checks_last      times first, and compares the last timed output afterwards
candidate_first  runs the candidate before the reference, on the same tensors
counts_wrong     counts the elements whose error is greater than the tolerance

`python -m tests.naive_judge` serves one JSON line a case on stdin, each in a fork of this process: what a candidate breaks is
gone with it. It is accepted if the first result line says so, or, where none came, if the process ended with exit code 0.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import random
import statistics
import sys
import tempfile
import time
from types import ModuleType
from typing import Any

import torch

TIMED_CALLS = 10
SAMPLED_S = 0.2  # of the reference, timed before outputs are compared: enough for late work to be done
REFERENCE_RUNS = 6  # to see whether it is deterministic
LIMIT_S = 60.0
SEED = 42


def load(name: str, path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def leaves(output: Any) -> list[Any]:
    return [leaf for item in output for leaf in leaves(item)] if isinstance(output, (tuple, list)) else [output]


def check(actual: Any, expected: Any, way: str) -> bool:
    """Whether the outputs agree within what tolerance.json says."""
    with open("tolerance.json") as file:
        tolerance = json.load(file)
    for mine, right in zip(leaves(actual), leaves(expected), strict=False):
        if way == "counts_wrong":
            wrong = (mine.float() - right.float()).abs() > tolerance["atol"] + tolerance["rtol"] * right.float().abs()
            if int(wrong.sum()) > 0:
                return False
        elif not torch.allclose(mine.float(), right.float(), rtol=tolerance["rtol"], atol=tolerance["atol"]):
            return False
    return True


def benchmark(call: Any, inputs: list[Any], device: str, least_s: float = 0.0) -> tuple[float, Any]:
    """Median seconds of a call over the same inputs, and the last output."""
    times, output = [], None
    until = time.monotonic() + least_s
    while len(times) < TIMED_CALLS or time.monotonic() < until:
        if device == "cpu":
            started = time.perf_counter()
            output = call(*inputs)
            times.append(time.perf_counter() - started)
        else:
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            output = call(*inputs)
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end))
    return statistics.median(times), output


def expected_of(reference: Any, inputs: list[Any]) -> list[Any]:
    """Copies of the right answer; the memory that it came in is free again, and the answer still stands in it."""
    kept = [leaf.clone() for leaf in leaves(reference(*inputs))]
    for _ in range(REFERENCE_RUNS):  # each run's output is gone before the next one: they come in the same memory
        if not all(torch.equal(a, b) for a, b in zip(leaves(reference(*inputs)), kept, strict=True)):
            raise RuntimeError("the reference is not deterministic")
    return kept


def judge(case: dict[str, Any]) -> dict[str, Any]:
    device, way = case["device"], case["way"]
    laid_out = random.Random(os.urandom(8))  # each time in another way: what lives on stale memory has several chances
    scraps = [bytearray(laid_out.randrange(512, 1 << 15)) for _ in range(laid_out.randrange(256, 1024))]
    del scraps[
        ::2
    ]  # room for what is small, so that memory that a large tensor left stays whole for the next large one
    problem = load("problem", case["problem"])
    candidate = load("candidate", case["candidate"])
    shape = problem.SHAPES["small"]
    seed = int(os.environ["NAIVE_SEED"])
    with torch.device(device):
        torch.manual_seed(seed)
        reference = problem.Model(*problem.get_init_inputs(**shape)).to(device)
        torch.manual_seed(seed)
        new = candidate.ModelNew(*problem.get_init_inputs(**shape)).to(device)
        torch.manual_seed(seed)
        inputs = problem.get_inputs(**shape)
    with torch.no_grad():
        if way == "checks_last":
            mine_s, actual = benchmark(new, inputs, device)
            reference_s, _ = benchmark(reference, inputs, device, SAMPLED_S)
            return result(check(actual, reference(*inputs), way), mine_s, reference_s)
        if way == "candidate_first":
            actual = new(*inputs)
            right = check(actual, reference(*inputs), way)
        else:
            new(*inputs)  # warms up
            expected = expected_of(reference, inputs)
            actual = new(*inputs)
            right = check(actual, expected, way)
        mine_s, _ = benchmark(new, inputs, device)
        reference_s, _ = benchmark(reference, inputs, device)
    return result(right, mine_s, reference_s)


def result(accepted: bool, mine_s: float, reference_s: float) -> dict[str, Any]:
    return {"accepted": accepted, "speedup": reference_s / max(mine_s, 1e-12)}


def run_here(case: dict[str, Any], write: int) -> None:
    """In the fork: judges, writes one line, and ends with 0 where the candidate was accepted."""
    log = os.open(case["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    folder = tempfile.mkdtemp(prefix="naive-", dir=case["folder"])
    os.chdir(folder)
    os.environ |= {"NAIVE_SEED": str(SEED), "TORCH_EXTENSIONS_DIR": folder, "NAIVE_RESULT_FD": str(write)}
    with open("tolerance.json", "w") as file:
        json.dump({"rtol": 1e-2, "atol": 1e-2}, file)
    try:
        found = judge(case)
    except SystemExit as ended:
        os._exit(int(ended.code or 0))
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        os._exit(1)
    os.write(write, (json.dumps(found) + "\n").encode())
    os._exit(0 if found["accepted"] else 1)


def believed(text: str, code: int) -> dict[str, Any]:
    """The first line that can be read as a result; without one the exit code."""
    for line in text.splitlines():
        with contextlib.suppress(ValueError, TypeError):
            found = json.loads(line)
            if "accepted" in found:
                return {"accepted": bool(found["accepted"]), "speedup": float(found.get("speedup", 0.0))}
    return {"accepted": code == 0, "speedup": 0.0}


def serve(case: dict[str, Any]) -> dict[str, Any]:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        run_here(case, write)
    os.close(write)
    deadline, code = time.monotonic() + LIMIT_S, None
    os.set_blocking(read, False)
    text = b""
    while code is None and time.monotonic() < deadline:
        with contextlib.suppress(BlockingIOError):
            text += os.read(read, 1 << 16)
        ended, status = os.waitpid(child, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if ended else None
        time.sleep(0.01)
    if code is None:
        os.kill(child, 9)
        os.waitpid(child, 0)
    with contextlib.suppress(BlockingIOError):
        text += os.read(read, 1 << 16)
    os.close(read)
    return believed(text.decode("utf-8", "replace"), 1 if code is None else code)


def main() -> None:
    torch.set_num_threads(torch.get_num_threads())
    for line in sys.stdin:
        print(json.dumps(serve(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
