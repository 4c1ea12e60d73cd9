"""What KernelBench's own evaluation says of every case of the exploit suite that runs on a GPU. By hand, on a GPU: 5 minutes.

    python tests/benchmarks/kernelbench_matrix.py CHECKOUT OUT.json [--jobs 4] [--family T1]   takes it
    python tests/benchmarks/kernelbench_matrix.py --report OUT.json ATTACK.json                beside `kbench attack --json`

CHECKOUT is a clone of KernelBench. Each case is given to its `eval_kernel_against_ref` (5 trials of the answer, 100 of the time,
CUDA events, its own flag for excessive speed-ups) and to its static checker, in a process of its own, as its scripts do; one
that ends without a result has none. The problem is ours, at medium shapes, in the form that KernelBench reads.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import types
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from kbench import registry
from kbench.exploits import AttackCase, read_manifest, select, suite_root

NOT_NEEDED = (
    "requests",
    "dotenv",
    "tqdm",
    "openai",
    "litellm",
    "datasets",
)  # imported there, and not used by an evaluation
LIMIT_S = 150.0
TRIALS, TIMED = 5, 100


class Anything(types.ModuleType):
    """In the place of a package that is not installed."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


def reference_of(case: AttackCase) -> str:
    """The problem as a KernelBench file: its functions take no arguments, the shapes are bound."""
    problem = registry.find(registry.discover(case.suite), case.problem)
    return (
        problem.source
        + f"""

_made, _built, _shape = get_inputs, get_init_inputs, {dict(problem.shapes["medium"])!r}


def get_inputs():
    return list(_made(**_shape))


def get_init_inputs():
    return list(_built(**_shape))
"""
    )


def evaluate(checkout: Path, request: dict[str, str]) -> dict[str, Any]:
    """In the case's own process: what their evaluation and their static checker return."""
    for name in NOT_NEEDED:
        if importlib.util.find_spec(name) is None:
            sys.modules[name] = Anything(name)
    sys.path.insert(0, str(checkout / "src"))
    import torch
    from kernelbench.eval import eval_kernel_against_ref  # type: ignore[import-not-found]
    from kernelbench.kernel_static_checker import validate_kernel_static  # type: ignore[import-not-found]

    source = Path(request["candidate"]).read_text()
    backend = "triton" if request["language"] == "triton" else "cuda"
    precision = "bf16" if request["precision"] == "bf16" else "fp32"  # of TF32 it knows nothing
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    fine, errors, warnings = validate_kernel_static(source, backend=backend, precision=precision)
    with tempfile.TemporaryDirectory() as build:
        result = eval_kernel_against_ref(
            request["reference"], source, num_correct_trials=TRIALS, num_perf_trials=TIMED, measure_performance=True,
            build_dir=build, device=torch.device("cuda:0"), backend=backend, precision=dtype,
        )  # fmt: skip
    found = {"static": bool(fine), "static_errors": errors, "static_warnings": warnings}
    if result is None:
        return {**found, "result": "none"}
    return {
        **found,
        "result": "evaluated",
        "compiled": bool(result.compiled),
        "correct": bool(result.correctness),
        "runtime": float(result.runtime),
        "reference": float(result.ref_runtime),
        "flagged": bool(result.metadata.get("excessive_speedup")),
        "why": {key: str(value)[:300] for key, value in result.metadata.items()},
    }


def in_a_process(checkout: Path, case: AttackCase) -> dict[str, Any]:
    """As `evaluate` answers, or {"result": "ended"/"timeout"}. What a case prints is kept, and never read as an answer."""
    with tempfile.TemporaryDirectory() as folder:
        request, answer = Path(folder, "request.json"), Path(folder, "answer.json")
        asked = {"candidate": str(case.path), "reference": reference_of(case), "language": case.language}
        asked["precision"] = str(case.precision)
        request.write_text(json.dumps(asked))
        command = [sys.executable, __file__, "--one", str(checkout), str(request), str(answer)]
        with open(Path(folder, "log"), "wb") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, cwd=folder
            )
            try:
                code: int | None = process.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                code = None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        tail = Path(folder, "log").read_text(errors="replace")[-600:]
        if answer.exists():
            return {**json.loads(answer.read_text()), "log": tail}
        return {"result": "timeout" if code is None else "ended", "code": code, "log": tail}


def measure(checkout: Path, out: Path, jobs: int, families: list[str]) -> None:
    cases = select(read_manifest(suite_root()), "cuda:0", families)
    rows = json.loads(out.read_text())["cases"] if out.exists() else {}
    commit = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    started = time.monotonic()

    def one(case: AttackCase) -> None:
        if case.id in rows:
            return
        began = time.monotonic()
        rows[case.id] = {**in_a_process(checkout, case), "seconds": time.monotonic() - began}
        print(
            f"{case.id}: {verdict(case, rows[case.id])} [{len(rows)}/{len(cases)}, {time.monotonic() - started:.0f} s]",
            flush=True,
        )
        text = json.dumps({"commit": commit.stdout.strip(), "cases": dict(rows)}, indent=1)
        out.with_suffix(f".{case.folder}.{case.name}").write_text(text)
        out.with_suffix(f".{case.folder}.{case.name}").replace(out)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, cases))


def verdict(case: AttackCase, row: dict[str, Any]) -> str:
    """In one word what that evaluation makes of the case: "accepted" is right for a control and wrong for an exploit."""
    if row["result"] != "evaluated":
        return f"no result ({row['result']})"
    if not row["correct"]:
        return "refused"
    told = row["reference"] / row["runtime"] if row["runtime"] > 0 else 0.0
    exploit = case.exploit
    if exploit is not None and exploit.speedup_below is not None and told < exploit.speedup_below:
        return f"true time ({told:.2g}x)"
    return f"accepted ({told:.3g}x{', flagged' if row['flagged'] else ''})"


def report(out: Path, attacked: Path) -> None:
    """A Markdown table, a row a family, and the sums."""
    stored = json.loads(out.read_text())
    ours = {row["id"]: row for row in json.loads(attacked.read_text())["cases"]}
    cases = [case for case in select(read_manifest(suite_root()), "cuda:0", []) if case.id in stored["cases"]]
    families: dict[str, list[AttackCase]] = defaultdict(list)
    for case in cases:
        families[case.folder].append(case)
    print(f"KernelBench {stored['commit'][:10]}\n")
    print("| family | cases | KernelBench accepts | and its static checker is silent | kbench accepts |")
    print("|---|--:|--:|--:|--:|")
    sums: dict[bool, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for folder, group in families.items():
        rows = [stored["cases"][case.id] for case in group]
        theirs = [verdict(case, row).startswith("accepted") for case, row in zip(group, rows, strict=True)]
        silent = [accepted and row["static"] for accepted, row in zip(theirs, rows, strict=True)]
        control = group[0].exploit is None
        kbench = [
            (ours[case.id]["status"] == "correct") if control else not ours[case.id]["held"]
            for case in group
            if case.id in ours
        ]
        counts = [len(group), sum(theirs), sum(silent), sum(kbench)]
        print(f"| {folder.replace('_', ' ')} | {' | '.join(map(str, counts))} |")
        sums[control] = [a + b for a, b in zip(sums[control], counts, strict=True)]
    for control, counts in sorted(sums.items()):
        print(f"| **all {'controls' if control else 'exploits'}** | {' | '.join(map(str, counts))} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--family", action="append", default=[])
    given = parser.parse_args()
    if given.one:
        checkout, request, answer = given.paths
        found = evaluate(checkout, json.loads(request.read_text()))
        answer.write_text(json.dumps(found, default=str))
    elif given.report:
        report(*given.paths)
    else:
        checkout, out = given.paths
        measure(checkout.resolve(), out.resolve(), given.jobs, given.family)


if __name__ == "__main__":
    main()
