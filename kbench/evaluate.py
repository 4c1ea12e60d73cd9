"""The right half of the line for one candidate: Problem, Solution -> Build -> Verdict. Needs no network and no LLM SDK."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kbench import calibration, environment, sandbox, scratch
from kbench.builder import SOLUTION_FILE, Builder, BuildOrder
from kbench.errors import ConfigError, ProblemError
from kbench.extract import detect_language
from kbench.referee.case import PROTOCOLS, TORCH_DTYPE, Case, ProblemCase
from kbench.referee.client import LaneReferee, Survey
from kbench.source import source_hash
from kbench.types import Build, Gate, Precision, Problem, Solution, Verdict
from kbench.words import counted

COMPILE_SHARE = 0.25  # of the memory that is free, for inputs, outputs and weights of what is compiled at once
COMPILED_A_JOB = 4  # before a person hears how far it is
COMPILE_LIMIT_S = 300.0


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides how a candidate is judged, resolved."""

    device: str = "cpu"
    shapes: str = "small"
    precision: Precision = Precision.FP32
    protocol: str = "strict"
    policy: str = "custom"
    baselines: tuple[str, ...] = ("eager", "compile")
    timeout_s: float = 60.0
    require_sandbox: bool = False
    fresh_references: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """A solution that will be judged; `name` is for progress."""

    name: str
    problem: Problem
    solution: Solution
    settings: Settings


class Session:
    """One lane, one builder, one cache: what a command opens once. Use as a context manager."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.cache = environment.cache_folder()
        self.rung = sandbox.choose(settings.require_sandbox)
        self.calibration = calibration.load(self.cache, environment.device_key(settings.device))
        self.scratch = scratch.make()
        self.referee = LaneReferee(self.rung, self.cache)
        self.builder = Builder(self.rung, self.cache, self.scratch)
        self.surveys: dict[str, Survey] = {}

    def judge(self, problem: Problem, solution: Solution, settings: Settings | None = None) -> Verdict:
        """Builds and judges one solution. ProblemError where the problem itself cannot be run.

        `settings`: in place of the session's own; of the same device, shapes and precision.
        """
        settings = settings or self.settings
        case = problem_case(problem, settings)
        build = self.build(case, solution)
        if build.folder is None:
            return unbuilt(build, self.rung, settings)
        try:
            verdict = self.referee.judge(self.case(case, build, solution, settings))
        except ProblemError as error:
            raise ProblemError(f"{problem.id} ({problem.path}): {error}") from error
        built = Gate("build", True, told_of(build))
        return replace(verdict, build_seconds=build.seconds, gates=(built, *verdict.gates))

    def build(self, case: ProblemCase, solution: Solution) -> Build:
        if solution.builtin:
            return NOTHING_TO_BUILD
        order = build_order(case, solution)
        kept = self.builder.cached(self.builder.key(order))
        if kept is not None:
            return kept
        survey = self.survey([case])[0]
        return self.builder.build(replace(order, init=survey.init, init_leaves=survey.init_leaves))

    def build_for(self, problem: Problem, solution: Solution) -> Build:
        return self.build(problem_case(problem, self.settings), solution)

    def build_all(self, wanted: Sequence[Wanted], jobs: int, report: Callable[[str], None]) -> None:
        """Builds what is not in the cache, `jobs` at once, before anything is timed. A build that fails is the candidate's
        verdict when it is judged. ProblemError names the first problem that cannot be loaded."""
        unbuilt = [one for one in wanted if not self.is_built(problem_case(one.problem, one.settings), one.solution)]
        if not unbuilt:
            return
        report(f"building {counted(len(unbuilt), 'solution')}, {jobs} at a time")
        self.survey(list({(c := problem_case(one.problem, one.settings)).id: c for one in unbuilt}.values()))

        def build(one: Wanted) -> None:
            self.build(problem_case(one.problem, one.settings), one.solution)
            report(f"built {one.name}")

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(build, unbuilt))

    def compile_ahead(self, wanted: Sequence[Wanted], jobs: int, report: Callable[[str], None]) -> None:
        """On a GPU's machine: torch.compile for what it was never done for, `jobs` at once, before anything is timed. What
        fails here fails again, and is recorded, where it is judged."""
        if self.settings.device == "cpu":
            return
        asked = {
            (one.problem.id, mode): (problem_case(one.problem, one.settings), mode)
            for one in wanted
            for mode in modes_of(one)
        }
        left = [one for one in asked.values() if not self.marker(*one).exists()]
        sizes = [sum((survey.sizes or {}).values()) for survey in self.survey([case for case, _ in left])]
        room = self.available_bytes() * COMPILE_SHARE
        for first in range(0, len(left), COMPILED_A_JOB * jobs):
            these = slice(first, first + COMPILED_A_JOB * jobs)
            report(f"torch.compile for {first + len(left[these])} of {counted(len(left), 'problem')}, {jobs} at a time")
            found = self.referee.compile(left[these], sizes[these], room, jobs, COMPILE_LIMIT_S)
            for one, outcome in zip(left[these], found, strict=True):
                if "failed" not in outcome:
                    self.marker(*one).parent.mkdir(parents=True, exist_ok=True)
                    self.marker(*one).touch()

    def marker(self, case: ProblemCase, mode: str) -> Path:
        """The file that says that Inductor's cache was filled for it."""
        parts = [case.content_hash, case.shape, case.precision, case.mode, mode, environment.device_key(case.device)]
        return self.cache / "inductor" / "ahead" / hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]

    def is_built(self, case: ProblemCase, solution: Solution) -> bool:
        return solution.builtin or self.builder.cached(self.builder.key(build_order(case, solution))) is not None

    def available_bytes(self) -> int:
        if self.settings.device == "cpu":
            return environment.available_bytes()
        return environment.gpu_free_bytes(self.settings.device)

    def survey(self, cases: Sequence[ProblemCase]) -> list[Survey]:
        """What the problems are built with, asked once each. ProblemError names the first that cannot be loaded."""
        unknown = [case for case in cases if case.id not in self.surveys]
        for case, found in zip(unknown, self.referee.survey(unknown) if unknown else [], strict=True):
            self.surveys[case.id] = found
        for case in cases:
            if self.surveys[case.id].failed:
                raise ProblemError(f"{case.id}: {self.surveys[case.id].failed}")
        return [self.surveys[case.id] for case in cases]

    def case(self, problem: ProblemCase, build: Build, solution: Solution, settings: Settings) -> Case:
        assert build.folder is not None
        return Case(
            problem, build.folder, SOLUTION_FILE, solution.class_name, "" if solution.builtin else source_hash(solution.source),
            PROTOCOLS[settings.protocol], settings.baselines,
            solution.compile_mode, "any" if solution.builtin else settings.policy, solution.builtin,
            settings.fresh_references, settings.timeout_s, self.calibration,
        )  # fmt: skip

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.referee.end()
        scratch.remove(self.scratch)


NOTHING_TO_BUILD = Build("", "", "", 0.0, cached=True)  # a baseline is the problem's own code


def modes_of(wanted: Wanted) -> set[str]:
    """Of torch.compile: what judging this solution needs."""
    needed = {""} if "compile" in wanted.settings.baselines else set()
    own = wanted.solution.compile_mode
    return needed if own is None else needed | {own}


def told_of(build: Build) -> str:
    if build is NOTHING_TO_BUILD:
        return "the problem's own code, nothing to build"
    return f"{'kept from an earlier build' if build.cached else 'built'}, {build.seconds:.1f} s"


def problem_case(problem: Problem, settings: Settings) -> ProblemCase:
    """The problem in the wanted shape. ConfigError where it has shapes, and not that one."""
    shape: dict[str, Any] = {}
    if problem.shapes:
        if settings.shapes not in problem.shapes:
            raise ConfigError(f"{problem.id} has no shapes {settings.shapes!r}; it has {', '.join(problem.shapes)}")
        shape = problem.shapes[settings.shapes]
    noise = problem.spec.get("noise_buffers", ())
    return ProblemCase(
        problem.id, problem.source, problem.content_hash, shape, problem.inputs, str(problem.spec.get("mode", "own")),
        tuple(noise) if isinstance(noise, (list, tuple)) else (), problem.spec.get("moves") == "all",
        settings.precision, settings.device,
    )  # fmt: skip


def build_order(case: ProblemCase, solution: Solution) -> BuildOrder:
    context = f"{case.content_hash} {sorted(case.shape.items())}"
    return BuildOrder(solution, None, (), case.mode, TORCH_DTYPE[case.precision], case.device, context)


def unbuilt(build: Build, rung: str, settings: Settings) -> Verdict:
    assert build.status is not None
    gate = Gate("build", False, build.error or str(build.status))
    return Verdict(
        build.status, build.error, (gate,), build_seconds=build.seconds, detail=build.log, sandbox=rung,
        protocol=settings.protocol, device=settings.device,
    )  # fmt: skip


def read_solution(path: Path) -> Solution:
    """A solution file. ConfigError where it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; give the file that defines ModelNew") from error
    source = data.decode("utf-8", "surrogateescape")
    if not source.strip():
        raise ConfigError(f"{path}: the file is empty; give the file that defines ModelNew")
    return Solution(source, str(path), detect_language(source))
