"""The straight line for many attempts: ask, build, judge, record, summarise. The same run again resumes.

A model behind a network is asked by many workers at once while what has come in is built and judged; any other answers at
once, and all of it is built, in parallel, before anything is timed. Candidates of a problem are judged together, so that
its references stay warm. An attempt is on the disk the moment it ends.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kbench import __version__, aggregate, environment, registry
from kbench.agent import AgentSettings
from kbench.agent.command import Program
from kbench.agent.episodes import OUTAGE, Job, Kept, play_all
from kbench.agent.judge import Judge
from kbench.agent.tools import Toolbox
from kbench.asking import Asked, Asker, Generation
from kbench.attempts import Attempts, Report, timestamp
from kbench.budget import Budget, Ledger, Limits
from kbench.errors import ProblemError
from kbench.evaluate import Session, Settings
from kbench.files import json_text
from kbench.models import Message, Model, Request
from kbench.models.remote import Remote
from kbench.prompts import VERSION, Target, first_prompt
from kbench.referee.case import PROTOCOLS
from kbench.replies import Replies
from kbench.store import RunStore, latest, load
from kbench.summary import Summary, write_summary
from kbench.types import Problem, Record, RunInfo, attempt_key
from kbench.words import counted

FIRST_LOOK_S = 0.25  # a wrong name or path is answered within that; a reply takes longer


@dataclass(frozen=True, slots=True)
class Plan:
    """A run, resolved: which attempts, asked for how, judged how."""

    model: Model
    problems: tuple[Problem, ...]
    samples: int
    settings: Settings
    suite: str | None
    build_jobs: int
    target: Target = field(default_factory=Target)  # from here on: of models that are asked over a network
    turns: int = 1
    connections: int = 8
    limits: Limits = field(default_factory=Limits)
    use_cache: bool = True
    agent: AgentSettings | None = None  # each attempt is an episode of an agent

    def config(self) -> dict[str, object]:
        """What decides the results, as stored in run.json and hashed into the run's id. What a run may spend does not."""
        settings = {name: str(getattr(self.settings, name)) for name in Settings.__slots__}
        config: dict[str, object] = {"model": self.model.name, "samples": self.samples, "suite": self.suite, **settings}
        if self.agent is not None:
            config["agent"] = self.agent.identity()
        if isinstance(self.model, Program):
            config["asked"] = self.model.identity()
        if not isinstance(self.model, Remote):
            return config
        prompt = {"version": VERSION, "style": self.target.style, "hardware": self.target.hardware}
        asked = {
            "prompt": prompt,
            "language": self.target.language,
            "turns": self.turns,
            "asked": self.model.identity(),
        }
        return {**config, **asked}

    def default_id(self) -> str:
        text = json_text({"config": self.config(), "problems": [p.content_hash for p in self.problems]})
        name = self.model.name.replace("/", "-").strip("-.")[-40:]
        return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:10]}"

    def requests(self) -> Iterator[Request]:
        for problem in self.problems:
            if not isinstance(self.model, Remote) or self.agent is not None:
                yield from (Request(problem, sample) for sample in range(self.samples))
                continue
            prompt = first_prompt(problem, self.target)
            said = (Message("user", prompt.user),)
            yield from (Request(problem, sample, prompt.system, said) for sample in range(self.samples))


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: what it comes to, and why it stopped before it was complete, where it did."""

    summary: Summary
    records: tuple[Record, ...]  # the last of each attempt, without raw samples
    stopped: str | None = None

    @property
    def resumable(self) -> bool:
        """Whether the same command again has something to do."""
        return self.stopped is not None or bool(self.summary.incomplete)


def execute(
    plan: Plan, run_id: str, store: RunStore, session: Session, report: Report, expect: Callable[[int], None]
) -> Ended:
    """Makes every attempt that is not settled yet, and writes the summary. Then, and only then, ProblemError where a
    problem itself could not be run: that its user must mend.
    """
    info = store.begin(run_info(plan, run_id, environment.describe(plan.settings.device)))
    attempts = Attempts(plan.model, plan.settings, plan.build_jobs, plan.turns, info, store, session, report)
    stopped = None
    if plan.agent is not None:
        stopped = let_agents_work(plan, store, attempts, report, expect)
    elif isinstance(plan.model, Remote):
        stopped = ask_and_judge(plan, store, attempts, report, expect)
    else:
        judge_all(plan, attempts, expect)
    summary, records = summarise(store)
    if attempts.broken:
        others = "; the other problems' attempts are kept" if len(attempts.broken) < len(plan.problems) else ""
        raise ProblemError(f"{next(iter(attempts.broken.values()))}{others}; mend the problem's file")
    return Ended(summary, records, stopped)


def judge_all(plan: Plan, attempts: Attempts, expect: Callable[[int], None]) -> None:
    """Of a model that answers at once."""
    requests = list(plan.requests())
    answered = [Asked(r, reply) for r in requests if (reply := plan.model.generate(r)) is not None]
    todo = [asked for asked in answered if not attempts.is_settled(asked)]
    expect(len(todo))
    attempts.report(f"{len(todo)} of {counted(len(answered), 'attempt')} to judge", None)
    for _ in attempts.take(todo):
        raise AssertionError("only a model behind a network is asked for another turn")


def ask_and_judge(
    plan: Plan, store: RunStore, attempts: Attempts, report: Report, expect: Callable[[int], None]
) -> str | None:
    """Asks and judges side by side. Why it stopped early, if it did: a budget, or a provider that is down.

    A problem that cannot be run, or is larger than the device, is found before a reply to it is paid for; those found
    sound are asked for while the next ones are looked at.
    """
    todo = attempts.unsettled(plan.requests())
    expect(len(todo))
    settled = plan.samples * len(plan.problems) - len(todo)
    before = f"; {settled} made already" if settled else ""
    report(f"{counted(len(todo), 'attempt')} to make, {plan.connections} requests at a time{before}", None)
    with Ledger(store.folder) as ledger:
        budget, asker = open_asker(plan, store, ledger, report)
        with Generation(asker, plan.connections) as generation:
            if isinstance(plan.model, Remote) and not plan.model.found:
                generation.add(todo[:1])  # where the server does not say what it has, a mistake of ours shows at once
                generation.wait(FIRST_LOOK_S)
                todo = todo[1:]
            for some in attempts.sound(todo):
                generation.add(some)
                if asker.stop.is_set():
                    break
            for batch in generation.batches():
                for request in attempts.take(batch, budget.out_of_time):
                    generation.add([request])
                if budget.out_of_time():
                    asker.stop.set()
    return asker.outage or budget.reached


def let_agents_work(
    plan: Plan, store: RunStore, attempts: Attempts, report: Report, expect: Callable[[int], None]
) -> str | None:
    """Plays every episode that is not settled. Why it stopped early, if it did."""
    assert plan.agent is not None
    todo = [request for some in attempts.sound(attempts.unsettled(plan.requests())) for request in some]
    expect(len(todo))
    report(f"{counted(len(todo), 'episode')} to play, {plan.agent.agents} at a time", None)
    judge, kept = Judge(attempts.session, plan.settings, plan.build_jobs), Kept()
    program = plan.model if isinstance(plan.model, Program) else None
    with Ledger(store.folder) as ledger:
        budget = Budget(plan.limits, ledger)
        asker = None
        if isinstance(plan.model, Remote):
            asker = Asker(plan.model, kept, budget, lambda line: report(line, None), OUTAGE)
        job = Job(
            attempts.info.run_id, plan.agent, plan.target, judge, Toolbox(plan.agent.tools), store, kept, asker, program,
            plan.model.name, report,
        )  # fmt: skip
        try:
            for key, record in play_all(job, todo, budget.out_of_time):
                if record is not None:
                    store.append(record)
                report(key if record is not None else f"{key}: goes on with the next run", record)
        finally:
            judge.close()
    return (asker.outage if asker is not None else "") or budget.reached


def open_asker(plan: Plan, store: RunStore, ledger: Ledger, report: Report) -> tuple[Budget, Asker]:
    assert isinstance(plan.model, Remote)
    cache = environment.cache_folder() if plan.use_cache else None
    budget = Budget(plan.limits, ledger)
    replies = Replies(store, plan.model.identity(), cache)
    return budget, Asker(plan.model, replies, budget, lambda line: report(line, None))


def generate(plan: Plan, run_id: str, store: RunStore, report: Callable[[str], None]) -> tuple[int, str | None]:
    """The left half alone: asks for every reply that is not stored, and judges none. How many are missing at the end, and
    why it stopped early, if it did."""
    store.begin(run_info(plan, run_id, environment.versions()))
    requests = list(plan.requests())
    missing = len(requests)
    with Ledger(store.folder) as ledger:
        budget, asker = open_asker(plan, store, ledger, lambda line, _: report(line))
        with Generation(asker, plan.connections) as generation:
            generation.add(requests)
            for batch in generation.batches():
                for asked in batch:
                    missing -= asked.reply is not None
                    report(f"{attempt_key(asked.request.problem.id, asked.request.sample)}: {outcome_of(asked)}")
                if budget.out_of_time():
                    asker.stop.set()
    return missing, asker.outage or budget.reached


def outcome_of(asked: Asked) -> str:
    if asked.reply is None:
        return f"failed: {asked.failure}"
    note = asked.reply.facts.note if asked.reply.facts is not None else ""
    return ("stored already" if asked.stored else "replied") + (
        ", refused" if asked.reply.refused else f", {note}" if note else ""
    )


def summarise(store: RunStore) -> tuple[Summary, tuple[Record, ...]]:
    run = load(store.folder, raw_samples=False)
    summary = aggregate.summarise(run.records, list(run.info.problems), run.info.samples)
    write_summary(store.folder, summary)
    return summary, tuple(latest(run.records))


def run_info(plan: Plan, run_id: str, machine: dict[str, object]) -> RunInfo:
    protocol = PROTOCOLS[plan.settings.protocol]
    return RunInfo(
        run_id, timestamp(), __version__, plan.config(), machine,
        {name: getattr(protocol, name) for name in type(protocol).__slots__}, registry.suite_hash(plan.problems),
        {problem.id: problem.content_hash for problem in plan.problems}, plan.samples,
    )  # fmt: skip
