"""What becomes of each attempt once a reply is there: code out of it, build, verdict, another turn or a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from kbench.artifacts import SOLUTION
from kbench.asking import Asked
from kbench.errors import ProblemError
from kbench.evaluate import Session, Settings, Wanted, problem_case
from kbench.extract import detect_language, extract
from kbench.models import Model, Reply, Request
from kbench.referee.case import MIN_SLOTS
from kbench.refine import (
    Played,
    best_of,
    facts_of,
    goes_on,
    next_request,
    picked_from_several,
    read_verdict,
    verdict_name,
    verdict_text,
)  # fmt: skip
from kbench.source import source_hash
from kbench.store import RunStore, latest, load
from kbench.types import Problem, Record, ReplyFacts, RunInfo, Solution, Status, Verdict, attempt_key

RESERVE_SHARE = 0.8  # of available memory that a problem may take
SURVEYED_AT_ONCE = 25  # problems; some seconds, after which a person hears how far it is

Report = Callable[[str, "Record | None"], None]  # a stage or an attempt's key, and its record when it has ended


@dataclass(frozen=True, slots=True)
class Candidate:
    """One turn on its way: what was asked, what came back, and the code in it, if any."""

    request: Request
    reply: Reply
    solution: Solution | None

    @property
    def key(self) -> str:
        return attempt_key(self.request.problem.id, self.request.sample)

    @property
    def solution_hash(self) -> str | None:
        return None if self.solution is None else source_hash(self.solution.source)


def solution_in(reply: Reply) -> Solution | None:
    """The reply's solution, or the code in its text. A refusal has none, whatever else it says."""
    if reply.solution is not None:
        return reply.solution
    source = None if reply.refused else extract(reply.text, reply.finished)
    return None if source is None else Solution(source, reply.origin, detect_language(source))


class Attempts:
    """The attempts of one run. Used from one thread."""

    def __init__(
        self, model: Model, settings: Settings, build_jobs: int, turns: int, info: RunInfo, store: RunStore, session: Session,
        report: Report,
    ) -> None:  # fmt: skip
        self.model, self.settings, self.build_jobs, self.turns = model, settings, build_jobs, turns
        self.info, self.store, self.session, self.report = info, store, session, report
        self.order = {problem: at for at, problem in enumerate(info.problems)}
        self.broken: dict[str, str] = {}  # problems that cannot be run themselves, and why
        self.played: dict[str, list[Played]] = {}
        self.started: dict[str, str] = {}
        records = load(store.folder, raw_samples=False).records
        self.hashes = {record.key: record.solution_hash for record in records}
        self.left_out = {record.key for record in latest(records) if record.not_run is not None}
        self.told = {record.key: _turns_told(record) for record in records}

    def is_settled(self, asked: Asked) -> bool:
        """Whether it stands recorded, with this very solution, or as too large for the device."""
        candidate = self._candidate(asked)
        if candidate.key not in self.store.done_keys():
            return False
        return candidate.key in self.left_out or self.hashes.get(candidate.key) == candidate.solution_hash

    def unsettled(self, requests: Iterable[Request]) -> list[Request]:
        done = self.store.done_keys()
        return [r for r in requests if attempt_key(r.problem.id, r.sample) not in done]

    def sound(self, requests: Sequence[Request]) -> Iterator[list[Request]]:
        """Those whose problem can be loaded and fits on the device, so that a reply is worth its price, as they are found;
        what is too large is recorded."""
        names = list(dict.fromkeys(request.problem.id for request in requests))
        for first in range(0, len(names), SURVEYED_AT_ONCE):
            of_these = set(names[first : first + SURVEYED_AT_ONCE])
            some = [request for request in requests if request.problem.id in of_these]
            self._survey([request.problem for request in some])
            self._looked_at(first, len(names))
            yield [
                r for r in some if r.problem.id not in self.broken and not self._too_large(Candidate(r, Reply(), None))
            ]

    def take(self, batch: Sequence[Asked], out_of_time: Callable[[], bool] = lambda: False) -> Iterator[Request]:
        """Builds and judges what came in, records the attempts that end with it, and yields the next turn of those that go on."""
        for asked in batch:
            if asked.reply is None:
                self._failed(asked)
        candidates = [self._candidate(asked) for asked in batch if asked.reply is not None]
        self._survey([c.request.problem for c in candidates if c.solution is not None])
        judgeable = [c for c in candidates if c.solution is not None and not self._too_large(c)]
        for candidate in candidates:
            if candidate.solution is None:
                status = Status.REFUSED if candidate.reply.refused else Status.NO_CODE
                yield from self._after(candidate, status, None)
        if out_of_time():
            return
        judgeable.sort(key=lambda c: (self.order[c.request.problem.id], c.request.sample, c.request.turn))
        kept = {id(c): read_verdict(self.store.folder, c.request) if self.turns > 1 else None for c in judgeable}
        self._build_ahead([c for c in judgeable if kept[id(c)] is None])
        for candidate in judgeable:
            if out_of_time():
                return
            self.started.setdefault(candidate.key, timestamp())
            verdict = kept[id(candidate)] or self._judged(candidate)
            yield from self._after(candidate, verdict.status, verdict)

    def _candidate(self, asked: Asked) -> Candidate:
        reply, request = asked.reply, asked.request
        assert reply is not None
        told = self.told.get(attempt_key(request.problem.id, request.sample), 0)
        if asked.stored and reply.facts is not None and request.turn < told:
            reply = replace(reply, facts=replace(reply.facts, reused=True))
        return Candidate(request, reply, solution_in(reply))

    def _too_large(self, candidate: Candidate) -> bool:
        reason = self.too_large(candidate.request.problem)
        if reason is not None:
            record = self._new_record(candidate, timestamp(), Status.NO_CODE, None, candidate.reply.facts)
            self._record(candidate, replace(record, status=None, not_run=reason))
        return reason is not None

    def _survey(self, problems: Sequence[Problem]) -> None:
        """Asks what the problems are built with and how large they are, many in one sandbox; a suite has hundreds.

        Those that cannot be loaded are `broken` from here on.
        """
        cases = [problem_case(problem, self.settings) for problem in {p.id: p for p in problems}.values()]
        for first in range(0, len(cases), SURVEYED_AT_ONCE):
            batch = [case for case in cases[first : first + SURVEYED_AT_ONCE] if case.id not in self.broken]
            while batch:
                try:
                    self.session.survey(batch)
                    break
                except ProblemError as error:  # names the first of them; the others are known by then
                    named = next(case.id for case in batch if str(error).startswith(f"{case.id}:"))
                    self.broken[named] = str(error)
                    batch = [case for case in batch if case.id not in self.broken]
            self._looked_at(first, len(cases))

    def _looked_at(self, first: int, total: int) -> None:
        if total > SURVEYED_AT_ONCE:
            self.report(f"looked at {min(first + SURVEYED_AT_ONCE, total)} of {total} problems", None)

    def too_large(self, problem: Problem) -> str | None:
        """Why a problem is not run on this device: "needs 17.2 GB". None where it fits, or its size is unknown."""
        if problem.id in self.broken:
            return None
        sizes = self.session.survey([problem_case(problem, self.settings)])[0].sizes
        if sizes is None:
            return None
        needed = needed_bytes(sizes, len(self.settings.baselines) + 1, self.settings.device)
        if needed <= self.session.available_bytes() * RESERVE_SHARE:
            return None
        return f"needs {needed / 1e9:.1f} GB"

    def _build_ahead(self, candidates: Sequence[Candidate]) -> None:
        wanted = [
            Wanted(c.key, c.request.problem, c.solution, self.settings)
            for c in candidates
            if c.solution is not None and c.request.problem.id not in self.broken
        ]
        self.session.build_all(wanted, self.build_jobs, lambda line: self.report(line, None))
        self.session.compile_ahead(wanted, self.build_jobs, lambda line: self.report(line, None))

    def _judged(self, candidate: Candidate) -> Verdict:
        """Its verdict. What is wrong with the problem itself stands in `broken`, or is added to it."""
        assert candidate.solution is not None
        problem = candidate.request.problem
        try:
            if problem.id in self.broken:
                raise ProblemError(self.broken[problem.id])
            return self.session.judge(problem, candidate.solution)
        except ProblemError as error:
            self.broken[problem.id] = str(error)
            message = f"the problem itself cannot be run: {error}"
            return Verdict(Status.INFRA_ERROR, message, protocol=self.settings.protocol)

    def _after(self, candidate: Candidate, status: Status, verdict: Verdict | None) -> Iterator[Request]:
        """Another turn, or the end of the attempt."""
        turns = self.played.setdefault(candidate.key, [])
        turns.append(
            Played(candidate.request, candidate.reply, candidate.solution, candidate.solution_hash, status, verdict)
        )
        if self.turns > 1 and verdict is not None:
            self.store.write_artifact(candidate.key, verdict_name(candidate.request.turn), verdict_text(verdict))
        if goes_on(turns, self.turns):
            self.report(f"{candidate.key} turn {len(turns)} of {self.turns}: {status}", None)
            yield next_request(turns)
            return
        self._ended(candidate.key, turns)

    def _ended(self, key: str, turns: Sequence[Played]) -> None:
        best = turns[-1] if turns[-1].status is Status.INFRA_ERROR else best_of(turns)
        candidate = Candidate(best.request, best.reply, best.solution)
        status, verdict = best.status, best.verdict
        started = self.started.get(key, timestamp())
        if best.status is Status.CORRECT and picked_from_several(turns):
            verdict = self._judged(candidate)
            status = verdict.status
        record = self._new_record(candidate, started, status, verdict, facts_of(turns))
        self._record(
            candidate, replace(record, turns=tuple(turn.as_turn() for turn in turns) if self.turns > 1 else ())
        )

    def _failed(self, asked: Asked) -> None:
        """No reply, and not the model's fault: an infrastructure error, asked for again when the run is resumed."""
        request = asked.request
        turns = self.played.get(attempt_key(request.problem.id, request.sample), [])
        verdict = Verdict(Status.INFRA_ERROR, asked.failure, protocol=self.settings.protocol)
        origin = self.model.name
        facts = asked.facts
        if turns:  # what the turns before it cost is told now, and once
            facts = facts_of([*turns, replace(turns[-1], reply=Reply(facts=facts))])
        candidate = Candidate(request, Reply(origin=origin), None)
        record = self._new_record(candidate, timestamp(), Status.INFRA_ERROR, verdict, facts)
        self._record(candidate, replace(record, turns=tuple(turn.as_turn() for turn in turns)))

    def _new_record(
        self, candidate: Candidate, started: str, status: Status, verdict: Verdict | None, facts: ReplyFacts | None
    ) -> Record:
        request, solution = candidate.request, candidate.solution
        return Record(
            self.info.run_id, request.problem.id, request.problem.level, request.sample, started, timestamp(), status,
            verdict=verdict, solution_hash=candidate.solution_hash,
            language=solution.language if solution is not None else "unknown", origin=candidate.reply.origin, reply=facts,
            exempt=self.model.exempt,
        )  # fmt: skip

    def _record(self, candidate: Candidate, record: Record) -> None:
        if candidate.reply.text:
            self.store.write_artifact(candidate.key, "reply.txt", candidate.reply.text)
        if candidate.solution is not None:
            source = candidate.solution.source.encode("utf-8", "surrogateescape")
            self.store.write_artifact(candidate.key, SOLUTION, source)
        if record.verdict is not None and record.verdict.detail:
            self.store.write_artifact(candidate.key, "detail.log", record.verdict.detail)
        self.store.append(record)
        self.report(candidate.key, record)


def needed_bytes(sizes: dict[str, int], sides: int, device: str) -> int:
    """Least memory that judging takes, from the bytes of one call's inputs and outputs and of the weights."""
    inputs, outputs = sizes["inputs"], sizes["outputs"]
    weights = sizes["weights"] * (2 * sides + 4)
    if (
        device == "cpu"
    ):  # staging and each side hold MIN_SLOTS calls; the oracle answers in fp64 with eager's answer beside it
        return (inputs + outputs) * (MIN_SLOTS * (sides + 1) + 6) + weights
    # One call a block: three slots of staging and of both regions, fp64 inputs and answers, an output of every side.
    return inputs * (3 * 3 + 2) + outputs * (sides + 3 + 2) + weights + sizes["weights"]


def _turns_told(record: Record) -> int:
    """How many turns of the attempt have their tokens and cost on this line."""
    if record.turns:
        return len(record.turns)
    return int(record.reply is not None and record.status is not None and record.solution_hash is not None)


def timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
