"""Stored runs for the page's tests: two plain models of several samples, and one that attacks the reader."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from kbench.files import json_text, write_atomic
from kbench.source import source_hash
from kbench.store import to_line
from kbench.types import Gate, Record, Status, Verdict

from .making import info, record, reply

PROBLEMS = tuple(f"level{level}/{n}_p" for level in (1, 2) for n in range(1, 7))
SOURCE = "class ModelNew:\n    pass\n"
SCRIPT = "<script>window.owned=1</script><img src=x onerror='window.owned=1'>"
HOSTILE = f"</pre></script>{SCRIPT}\u2028');window.owned=1;//{{{{7*7}}}}${{1}}`\n" * 3
EVIL_PROBLEM = 'level1/9_evil"><script>window.owned=1</script>'


def write(folder: Path, records: list[Record], model: str, sources: dict[str, str], samples: int) -> Path:
    problems = {r.problem_id: "hash" for r in records}
    config = {"model": model, "precision": "fp32", "policy": "custom", "shapes": "small"}
    facts = {"device": "cpu", "model": "Test CPU", "cores": 2}
    day = f"2026-01-0{1 + len(model) % 9}T00:00:00+00:00"
    run = info(run_id=folder.name, problems=problems, config=config, samples=samples, environment=facts, created=day)
    write_atomic(folder / "run.json", json_text(run))
    judged = [replace(r, solution_hash=source_hash(sources.get(r.key, SOURCE))) for r in records]
    write_atomic(folder / "attempts.jsonl", b"".join(to_line(r) for r in judged))
    for r in records:
        place = folder / "artifacts" / r.problem_id.replace("/", "/", 1) / str(r.sample)
        if ".." not in r.problem_id:
            write_atomic(place / "solution.py", sources.get(r.key, SOURCE))
    return folder


def plain_run(folder: Path, seed: int, samples: int = 2) -> Path:
    rng = np.random.default_rng(seed)
    records = []
    for problem in PROBLEMS:
        for sample in range(samples):
            paid = {"reply": reply(tokens_input=100, tokens_output=900, cost_usd=0.02 * seed)}
            if rng.random() < 0.3:
                records.append(record(problem, Status.INCORRECT, sample, **paid))
            else:
                ratio = float(np.exp(rng.normal(0.1 * seed, 0.3)))
                records.append(record(problem, eager=ratio * 1.3, compiled=ratio, sample=sample, sure=True, **paid))
    return write(folder, records, f"local/{folder.name}", {}, samples)


def hostile_run(folder: Path) -> Path:
    gates = (Gate(SCRIPT, True, SCRIPT), Gate("values", False, SCRIPT))
    bad = Verdict(Status.INCORRECT, SCRIPT, gates, detail=HOSTILE)
    records = [record(problem, eager=1.1, compiled=0.9) for problem in PROBLEMS[:6]]
    records.append(record(EVIL_PROBLEM, Status.INCORRECT, verdict=bad, language=SCRIPT, origin=SCRIPT))
    return write(folder, records, f"evil/{SCRIPT}$$x$$", {records[-1].key: HOSTILE}, 1)
