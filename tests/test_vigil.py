"""What a stopped candidate's work on a device would show, on a device that says it saw it: the CPU with another voice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kbench import devices, registry, sandbox
from kbench.codec import decode, encode
from kbench.devices.cpu import Cpu
from kbench.errors import RefereeError
from kbench.evaluate import NOTHING_TO_BUILD, Session, Settings, problem_case
from kbench.models.builtin import builtin_solution
from kbench.referee import judging
from kbench.referee.judging import Judging
from kbench.referee.lane import Lane
from kbench.referee.rounds import MOST_UNFIT, Rounds
from kbench.referee.watch import BUSY, EARLY, MOVED, VIGIL_CALL_US, VIGIL_US, Again
from kbench.referee.worker import Worker
from kbench.types import BlockSample, Status, Verdict

ALONE_US = 1000.0


class Watch:
    def __init__(self, device: Talkative, least_us: float) -> None:
        self.device, self.least_us = device, least_us
        self.probe_us = device.canary_us if least_us == 0 else 0.0

    def has_ended(self) -> bool:
        self.device.ends -= 1
        self.device.lengths.append(self.least_us)
        return self.device.ends >= 0

    def late_us(self) -> float:
        return self.device.late_us

    def was_held_up(self) -> bool:
        return self.device.late_us > ALONE_US


class Talkative(Cpu):
    """Says that work of so many us came between, as a GPU would where a process that stands stopped left some."""

    goes_on = True
    late_us = held_us = 0.0  # after a candidate's block; while inputs come in
    canary_us = 0.0  # after a reference's block
    lengths: ClassVar[list[float]] = []  # of the vigils that were looked at
    slowed = False
    ends = 0  # so many vigils of the candidate's have ended too early
    alive = False  # whether a candidate's worker has been loaded

    def bring(self, copies: Callable[[], None], calls: int) -> float:
        super().bring(copies, calls)
        return ALONE_US + (self.held_us if self.alive else 0.0)

    def was_held_up(self, took_us: float, alone_us: float) -> bool:
        return took_us > 1.5 * alone_us

    def vigil(self, least_us: float) -> Any:
        return Watch(self, least_us)

    def conditions(self) -> dict[str, float]:
        return {"throttle_mask": float(self.slowed)}

    def marks(self, conditions: dict[str, float]) -> tuple[str, ...]:
        return ("throttled",) if conditions.get("throttle_mask") else ()

    def is_late(self, probe_us: float, usual_us: Any) -> bool:
        return probe_us > ALONE_US


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Talkative:
    device, start = Talkative(), Judging.start
    device.lengths.clear()

    def started(judging: Judging, pair: int) -> None:
        start(judging, pair)
        device.alive = True

    monkeypatch.setattr(devices, "open_device", lambda name: device)
    monkeypatch.setattr(Judging, "start", started)
    return device


@pytest.fixture
def judge(device: Talkative, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Verdict]]:
    monkeypatch.setenv("KBENCH_CACHE", str(tmp_path / "cache"))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    lane = Lane(sandbox.choose(), tmp_path, scratch)
    settings = Settings(protocol="quick", policy="any", baselines=("eager",))
    problem = registry.find(registry.discover(), "level1/019_relu")

    def judged(protocol: str = "quick") -> Verdict:
        solution, wanted = builtin_solution("builtin/eager", problem), replace(settings, protocol=protocol)
        with Session(wanted) as session:
            case = session.case(problem_case(problem, wanted), NOTHING_TO_BUILD, solution, wanted)
        return decode(Verdict, lane.judge({"case": encode(case)})["verdict"])

    yield judged
    lane.close()


def test_a_device_that_nobody_else_used_gives_a_verdict(judge: Callable[[], Verdict]) -> None:
    verdict = judge()
    assert verdict.status is Status.CORRECT, verdict.message


def test_work_that_starts_while_the_inputs_come_in_is_refused(device: Talkative, judge: Callable[[], Verdict]) -> None:
    device.held_us = 10 * ALONE_US
    verdict = judge()
    assert verdict.status is Status.TIMING_INVALID
    assert EARLY in verdict.message


def test_work_that_is_done_between_done_and_the_reading_is_refused(
    device: Talkative, judge: Callable[[], Verdict]
) -> None:
    device.late_us = 1e6
    verdict = judge()
    assert verdict.status is Status.TIMING_INVALID
    assert BUSY in verdict.message


def test_outputs_that_were_read_too_late_are_read_again_from_a_longer_vigil(
    device: Talkative, judge: Callable[[], Verdict]
) -> None:
    device.ends = 3
    verdict = judge()
    assert verdict.status is Status.CORRECT, verdict.message
    assert device.lengths[:4] == [times * (VIGIL_US + VIGIL_CALL_US) for times in (1, 2, 4, 8)]


@pytest.mark.parametrize(("slow", "status"), [(3.0, Status.TIMING_INVALID), (1.0, Status.CORRECT)])
def test_references_that_are_slower_beside_the_candidate_than_without_it_accuse_it(
    slow: float, status: Status, judge: Callable[[], Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    block = Rounds.block

    def played(rounds: Rounds, side: str, calls: int, pair: int) -> BlockSample:
        sample = block(rounds, side, calls, pair)
        longer = slow if "candidate" in rounds.sides and side == "eager" else 1.0
        return replace(sample, elapsed_us=longer * 1000.0 * calls)

    monkeypatch.setattr(Rounds, "block", played)
    verdict = judge()
    assert verdict.status is status, verdict.message
    if status is not Status.CORRECT:
        assert "3.00 times as long beside the candidate" in verdict.message


@pytest.mark.parametrize("goes", [True, False])
def test_work_that_holds_the_references_up_is_the_candidates_if_it_ends_with_it(
    goes: bool, device: Talkative, judge: Callable[[], Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    device.canary_us = 2 * ALONE_US
    without = Rounds.is_quiet_without_the_candidate

    def gone(rounds: Rounds, *arguments: Any) -> bool:
        device.canary_us = 0.0 if goes else device.canary_us
        return without(rounds, *arguments)

    monkeypatch.setattr(Rounds, "is_quiet_without_the_candidate", gone)
    if goes:
        verdict = judge()
        assert verdict.status is Status.TIMING_INVALID
        assert "ended with it" in verdict.message
    else:
        with pytest.raises(RefereeError, match="eager"):
            judge()


def test_a_candidate_whose_work_may_go_on_reads_its_inputs_in_memory_of_its_own(
    judge: Callable[..., Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    regions: dict[tuple[str, int], set[int]] = {}
    block = Rounds.block

    def played(rounds: Rounds, side: str, calls: int, pair: int) -> BlockSample:
        regions.setdefault((side, pair), set()).add(id(rounds.sides[side].region))
        return block(rounds, side, calls, pair)

    monkeypatch.setattr(Rounds, "block", played)
    assert judge("strict").status is Status.CORRECT
    assert [len(found) for found in regions.values()] == [1] * 6
    for pair in range(3):
        assert regions["candidate", pair] != regions["eager", pair]
        assert regions["candidate", pair] == regions["eager", (pair + 1) % 2]  # they change places


@pytest.mark.parametrize(("slow", "marked"), [(2, False), (10_000, True)])
def test_rounds_of_a_device_that_slowed_itself_down_are_played_again_and_marked_if_it_goes_on(
    slow: int, marked: bool, device: Talkative, judge: Callable[[], Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    once, left = Rounds.once, iter(range(slow))

    def played(rounds: Rounds, *arguments: Any, **named: Any) -> list[BlockSample]:
        device.slowed = device.slowed or next(left, None) is not None
        try:
            return once(rounds, *arguments, **named)
        except Again as again:
            device.slowed = again.side != "device" and device.slowed
            raise

    monkeypatch.setattr(Rounds, "once", played)
    verdict = judge()
    assert verdict.status is Status.CORRECT, verdict.message
    assert verdict.timing is not None
    assert ("throttled" in verdict.timing.flags) is marked
    again = next(gate.evidence for gate in verdict.gates if gate.name == "clock")
    assert f"{MOST_UNFIT if marked else 2} rounds played again (device: throttled)" in again


def test_a_worker_in_the_middle_of_a_series_answers_what_it_is_asked(
    judge: Callable[[], Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    # It waited for its next block, deaf: one whose memory grew in a lone call was called `timeout`.
    reach, asked = Rounds.reach, []

    def reached(rounds: Rounds, side: str, worker: Worker, rows: Any) -> None:
        if side == "candidate" and worker.series and not asked:
            asked.append(worker.armed)
            worker.ask("rest")
            worker.freeze()
            raise Again(side, MOVED)
        reach(rounds, side, worker, rows)

    monkeypatch.setattr(Rounds, "reach", reached)
    monkeypatch.setattr(judging, "REFERENCE_LIMIT_S", 5.0)
    verdict = judge()
    assert verdict.status is Status.CORRECT, verdict.message
    assert asked == [True]
