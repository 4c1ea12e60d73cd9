"""The straight line for many attempts: ask, build, judge, record, summarise. The same run again resumes.

Order: what is missing is asked for and built first, in parallel and off the device; then one candidate after another is judged,
those of a problem together, so that its references stay warm. An attempt is on the disk the moment it ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from kbench import __version__, aggregate, environment, registry
from kbench.errors import ProblemError
from kbench.evaluate import Session, Settings, problem_case
from kbench.extract import detect_language, extract
from kbench.files import json_text
from kbench.models import Model, Reply, Request
from kbench.referee.case import MIN_SLOTS, PROTOCOLS
from kbench.store import RunStore, load
from kbench.summary import Summary, write_summary
from kbench.types import Problem, Record, ReplyFacts, RunInfo, Solution, Status, Verdict, attempt_key

RESERVE_SHARE = 0.8  # of available memory that a problem may take
SURVEYED_AT_ONCE = 25  # problems; some seconds, after which a person hears how far it is


@dataclass(frozen=True, slots=True)
class Plan:
    """A run, resolved: which attempts, judged how."""

    model: Model
    problems: tuple[Problem, ...]
    samples: int
    settings: Settings
    suite: str | None
    build_jobs: int

    def config(self) -> dict[str, object]:
        """What decides the results, as stored in run.json and hashed into the run's id."""
        settings = {name: str(getattr(self.settings, name)) for name in Settings.__slots__}
        return {"model": self.model.name, "samples": self.samples, "suite": self.suite, **settings}

    def default_id(self) -> str:
        text = json_text({"config": self.config(), "problems": [p.content_hash for p in self.problems]})
        name = self.model.name.replace("/", "-").strip("-.")[-40:]
        return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"

    def requests(self) -> Iterator[Request]:
        for problem in self.problems:
            for sample in range(self.samples):
                yield Request(problem, sample)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One attempt on its way: what was asked, what came back, and the code in it, if any."""

    request: Request
    reply: Reply
    solution: Solution | None

    @property
    def key(self) -> str:
        return attempt_key(self.request.problem.id, self.request.sample)

    @property
    def solution_hash(self) -> str | None:
        return None if self.solution is None else source_hash(self.solution.source)


def source_hash(source: str) -> str:
    return hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()


Report = Callable[[str, "Record | None"], None]  # a stage or an attempt's key, and its record when it has ended


def execute(
    plan: Plan, run_id: str, store: RunStore, session: Session, report: Report, expect: Callable[[int], None]
) -> Summary:
    """Makes every attempt that is not settled yet, and writes the summary. Then, and only then, ProblemError where a
    problem itself could not be run: that its user must mend.
    """
    info = store.begin(run_info(plan, run_id))
    settled = store.done_keys()
    hashes = {record.key: record.solution_hash for record in load(store.folder, raw_samples=False).records}
    candidates = [c for request in plan.requests() if (c := answered(plan.model, request)) is not None]
    todo = [c for c in candidates if c.key not in settled or hashes.get(c.key) != c.solution_hash]
    expect(len(todo))
    report(f"{len(todo)} of {len(candidates)} attempts to judge", None)
    broken = survey(todo, plan, session, report)
    runnable = [c for c in todo if not settle_unrunnable(c, plan, info, store, session, report, broken)]
    build_ahead([c for c in runnable if c.request.problem.id not in broken], plan, session, report)
    for candidate in runnable:
        record = judged(candidate, plan, info, session, broken)
        keep_artifacts(store, candidate, record)
        store.append(record)
        report(candidate.key, record)
    summary = summarise(store)
    if broken:
        others = "; the other problems' attempts are kept" if len(broken) < len(plan.problems) else ""
        raise ProblemError(f"{next(iter(broken.values()))}{others}; mend the problem's file")
    return summary


def summarise(store: RunStore) -> Summary:
    run = load(store.folder, raw_samples=False)
    summary = aggregate.summarise(run.records, list(run.info.problems), run.info.samples)
    write_summary(store.folder, summary)
    return summary


def answered(model: Model, request: Request) -> Candidate | None:
    reply = model.generate(request)
    return None if reply is None else Candidate(request, reply, solution_in(reply))


def solution_in(reply: Reply) -> Solution | None:
    """The reply's solution, or the code in its text."""
    if reply.solution is not None:
        return reply.solution
    source = extract(reply.text, reply.finished)
    return None if source is None else Solution(source, reply.origin, detect_language(source))


def settle_unrunnable(
    candidate: Candidate,
    plan: Plan,
    info: RunInfo,
    store: RunStore,
    session: Session,
    report: Report,
    broken: Mapping[str, str],
) -> bool:
    """Records what needs no judging: no code, a refusal, a problem larger than the device. Whether it did."""
    problem = candidate.request.problem
    status = None
    if candidate.solution is None:
        status = Status.REFUSED if candidate.reply.refused else Status.NO_CODE
    reason = None if status is not None or problem.id in broken else too_large(problem, plan.settings, session)
    if status is None and reason is None:
        return False
    now = timestamp()
    record = new_record(candidate, plan, info, now, None)
    record = replace(record, status=status, not_run=reason, ended=now)
    keep_artifacts(store, candidate, record)
    store.append(record)
    report(candidate.key, record)
    return True


def too_large(problem: Problem, settings: Settings, session: Session) -> str | None:
    """Why a problem is not run on this device: "needs 17.2 GB". None where it fits, or its size is unknown."""
    sizes = session.survey([problem_case(problem, settings)])[0].sizes
    if sizes is None:
        return None
    sides = len(settings.baselines) + 1
    call = sizes["inputs"] + sizes["outputs"]
    # Staging and each side hold MIN_SLOTS calls; the oracle answers in fp64 with eager's answer beside it.
    needed = call * MIN_SLOTS * (sides + 1) + sizes["weights"] * (2 * sides + 4) + 6 * call
    if needed <= session.available_bytes() * RESERVE_SHARE:
        return None
    return f"needs {needed / 1e9:.1f} GB"


def survey(candidates: Sequence[Candidate], plan: Plan, session: Session, report: Report) -> dict[str, str]:
    """Asks what the problems are built with and how large they are, many in one sandbox; a suite has hundreds.

    What is wrong with those that cannot be loaded, by their ids.
    """
    problems = {c.request.problem.id: c.request.problem for c in candidates if c.solution is not None}
    cases = [problem_case(problem, plan.settings) for problem in problems.values()]
    broken = {}
    for first in range(0, len(cases), SURVEYED_AT_ONCE):
        batch = cases[first : first + SURVEYED_AT_ONCE]
        while batch:
            try:
                session.survey(batch)
                break
            except ProblemError as error:  # names the first of them; the others are known by then
                id = next(case.id for case in batch if str(error).startswith(f"{case.id}:"))
                broken[id] = str(error)
                batch = [case for case in batch if case.id not in broken]
        if len(cases) > SURVEYED_AT_ONCE:
            report(f"looked at {min(first + SURVEYED_AT_ONCE, len(cases))} of {len(cases)} problems", None)
    return broken


def build_ahead(candidates: Sequence[Candidate], plan: Plan, session: Session, report: Report) -> None:
    """Builds what is not in the cache, several at once, before anything is timed. A failure is its verdict when it is judged."""
    unbuilt = [c for c in candidates if c.solution is not None and not session.is_built(c.request.problem, c.solution)]
    if not unbuilt:
        return
    report(f"building {len(unbuilt)} solutions, {plan.build_jobs} at a time", None)

    def build(candidate: Candidate) -> None:
        assert candidate.solution is not None
        session.build_for(candidate.request.problem, candidate.solution)
        report(f"built {candidate.key}", None)

    with ThreadPoolExecutor(plan.build_jobs) as pool:
        list(pool.map(build, unbuilt))


def judged(candidate: Candidate, plan: Plan, info: RunInfo, session: Session, broken: dict[str, str]) -> Record:
    """The attempt's record. What is wrong with the problem itself stands in `broken`, or is added to it."""
    assert candidate.solution is not None
    started, problem = timestamp(), candidate.request.problem
    try:
        if problem.id in broken:
            raise ProblemError(broken[problem.id])
        verdict = session.judge(problem, candidate.solution)
    except ProblemError as error:
        broken[problem.id] = str(error)
        verdict = Verdict(
            Status.INFRA_ERROR, f"the problem itself cannot be run: {error}", protocol=plan.settings.protocol
        )
    return new_record(candidate, plan, info, started, verdict)


def new_record(candidate: Candidate, plan: Plan, info: RunInfo, started: str, verdict: Verdict | None) -> Record:
    request, solution = candidate.request, candidate.solution
    facts: ReplyFacts | None = candidate.reply.facts
    return Record(
        info.run_id, request.problem.id, request.problem.level, request.sample, started, timestamp(),
        verdict.status if verdict is not None else Status.NO_CODE, verdict=verdict, solution_hash=candidate.solution_hash,
        language=solution.language if solution is not None else "unknown", origin=candidate.reply.origin, reply=facts,
        exempt=plan.model.exempt,
    )  # fmt: skip


def keep_artifacts(store: RunStore, candidate: Candidate, record: Record) -> None:
    if candidate.reply.text:
        store.write_artifact(candidate.key, "reply.txt", candidate.reply.text)
    if candidate.solution is not None:
        source = candidate.solution.source.encode("utf-8", "surrogateescape")
        store.write_artifact(candidate.key, "solution.py", source)
    if record.verdict is not None and record.verdict.detail:
        store.write_artifact(candidate.key, "detail.log", record.verdict.detail)


def run_info(plan: Plan, run_id: str) -> RunInfo:
    protocol = PROTOCOLS[plan.settings.protocol]
    return RunInfo(
        run_id, timestamp(), __version__, plan.config(), environment.describe(plan.settings.device),
        {name: getattr(protocol, name) for name in type(protocol).__slots__}, registry.suite_hash(plan.problems),
        {problem.id: problem.content_hash for problem in plan.problems}, plan.samples,
    )  # fmt: skip


def timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
