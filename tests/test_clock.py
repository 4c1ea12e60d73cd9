"""From blocks to the time of a call: what is honest comes out right, and what is bought with sleep is charged."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kbench import stats
from kbench.referee import clock
from kbench.referee.case import Calibration
from kbench.types import BlockSample

CALLS = (5, 10, 15, 20)


def blocks(
    side: str, pair: int, call_us: float, overhead_us: float = 300.0, extra: dict[int, float] | None = None
) -> list[BlockSample]:
    extra = extra or {}
    empty = [BlockSample(side, pair, 0, overhead_us)] if side == "eager" else []
    return empty + [
        BlockSample(side, pair, k, overhead_us + k * call_us + extra.get(k, 0.0)) for k in CALLS for _ in range(2)
    ]


def speedup(samples: list[BlockSample], calibration: Calibration | None = None) -> clock.Speedup:
    timing = clock.assess(samples, ["eager"], calibration or Calibration(), interval=True, device="cpu")
    found = timing.speedup("eager")
    assert found is not None
    return found


def test_fixed_overhead_is_no_part_of_the_time_of_a_call() -> None:
    samples = blocks("candidate", 0, 2000.0) + blocks("eager", 0, 3000.0)
    assert speedup(samples).value == pytest.approx(1.5)


def test_empty_blocks_of_a_disturbed_machine_make_no_call_as_short_as_one_likes() -> None:
    # A loaded machine's empty blocks took longer than a fast candidate's own: what was left of its time was nothing.
    fast = [BlockSample("candidate", 0, k, 3_000.0) for k in CALLS]
    eager = [BlockSample("eager", 0, k, 3_000.0 + 3_000.0 * k) for k in CALLS]
    empty = [BlockSample("eager", 0, 0, elapsed) for elapsed in (3_700.0, 4_200.0, 5_000.0)]
    timing = clock.assess([*fast, *eager, *empty], ["eager"], Calibration(), interval=False, device="cpu")
    assert "noisy" in timing.flags
    assert timing.latency_us["candidate"] >= 0.5 * 3_000.0 / 20
    told = timing.speedup("eager")
    assert told is not None
    assert told.value < 45  # 3690 once


def test_one_slow_empty_block_moves_nothing() -> None:
    samples = blocks("candidate", 0, 2000.0) + blocks("eager", 0, 3000.0) + [BlockSample("eager", 0, 0, 90_000.0)]
    assert speedup(samples).value == pytest.approx(1.5)


def test_sleeping_in_small_blocks_buys_nothing() -> None:
    # Every call takes 3 ms as eager's does; sleep of 3 ms for each call that is missing to 20 flattens the slope to zero.
    sleep = {k: (20 - k) * 3000.0 for k in CALLS}
    samples = blocks("candidate", 0, 3000.0, extra=sleep) + blocks("eager", 0, 3000.0)
    assert speedup(samples).value <= 1.01


def test_doing_less_in_large_blocks_than_in_small_ones_is_seen() -> None:
    batched = [BlockSample("candidate", 0, k, 300.0 + 3000.0 * min(k, 5)) for k in CALLS]
    found = clock.shrinks(batched + blocks("eager", 0, 3000.0), ["eager"], "cpu")
    assert found == pytest.approx(2.0, rel=0.05)


def test_a_machine_that_disturbs_the_reference_accuses_nobody() -> None:
    batched = [BlockSample("candidate", 0, k, 300.0 + 3000.0 * min(k, 5)) for k in CALLS]
    disturbed = [
        BlockSample("eager", 0, k, 300.0 + k * t) for k, t in zip(CALLS, (3000.0, 14000.0, 5000.0, 3000.0), strict=True)
    ]
    found = clock.assess(
        [*batched, *disturbed, BlockSample("eager", 0, 0, 300.0)], ["eager"], Calibration(), False, "cpu"
    )
    assert clock.shrinks(batched + disturbed, ["eager"], "cpu") is None
    assert "noisy" in found.flags


def test_what_the_reference_does_too_is_no_accusation() -> None:
    cold = dict.fromkeys(CALLS, 9000.0)  # cold weights: every side pays once a block
    samples = blocks("candidate", 0, 1000.0, extra=cold) + blocks("eager", 0, 1000.0, extra=cold)
    assert clock.shrinks(samples, ["eager"], "cpu") is None


def test_one_disturbed_block_does_not_move_the_result() -> None:
    samples = blocks("candidate", 0, 2000.0) + blocks("eager", 0, 2000.0)
    spoiled = BlockSample("candidate", 0, 20, samples[6].elapsed_us * 3)
    assert speedup([*samples[:6], spoiled, *samples[7:]]).value == pytest.approx(1.0, rel=0.02)


def test_the_speedup_is_the_geometric_mean_over_pairs() -> None:
    samples = [
        s
        for pair, t in enumerate((1000.0, 2000.0))
        for s in blocks("candidate", pair, t) + blocks("eager", pair, 2000.0)
    ]
    assert speedup(samples).value == pytest.approx(math.sqrt(2 * 1))


def test_an_uncalibrated_device_shows_no_interval_and_no_sure_win() -> None:
    found = speedup(blocks("candidate", 0, 1000.0) + blocks("eager", 0, 3000.0))
    assert found.interval is None
    assert found.surely_faster is None


def test_two_durations_take_the_wider_class_and_both_must_be_calibrated() -> None:
    samples = blocks("candidate", 0, 500.0) + blocks("eager", 0, 5000.0)
    one = Calibration({"<1ms": 0.02}, {"<1ms": 40})
    assert speedup(samples, one).interval is None
    both = Calibration({"<1ms": 0.02, "<10ms": 0.2}, {"<1ms": 40, "<10ms": 40})
    wide = Calibration({"<1ms": 0.2, "<10ms": 0.2}, {"<1ms": 40, "<10ms": 40})
    assert speedup(samples, both).interval == speedup(samples, wide).interval is not None


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    sd, pairs, hits, tries = 0.05, 3, 0, 2000
    for _ in range(tries):
        logs = rng.normal(math.log(1.5), sd, pairs)
        estimate = math.sqrt(float(np.mean(rng.normal(0, sd, 40) ** 2)))
        interval = stats.interval_from_pairs(list(logs), estimate, 40)
        hits += interval.low <= 1.5 <= interval.high
    assert stats.binomial_tail(tries - hits, tries, 0.05) > 0.001
    assert stats.binomial_tail(hits, tries, 0.95) > 0.001


@pytest.mark.parametrize(
    ("call_us", "call_bytes"), [(1.0, 1 << 10), (50.0, 1 << 20), (5_000.0, 8 << 20), (400_000.0, 1 << 30)]
)
def test_there_are_always_at_least_four_different_k(call_us: float, call_bytes: int) -> None:
    calls = clock.plan_calls(call_us, (512 << 20) // call_bytes, 100_000.0, 4)
    assert len(set(calls)) >= 4
    assert calls == sorted(calls)
    assert calls[-1] <= clock.MAX_CALLS


def test_blocks_are_a_tenth_of_a_second_where_memory_allows() -> None:
    assert clock.plan_calls(5_000.0, 512, 100_000.0, 4)[-1] * 5_000.0 >= 100_000.0


def test_where_four_calls_do_not_fit_into_memory_fewer_are_taken() -> None:
    assert clock.plan_calls(2_700.0, 1, 12_000.0, 1) == [1]
    assert clock.plan_calls(2_700.0, 3, 12_000.0, 1) == [1, 2, 3]


def test_a_call_below_ten_microseconds_is_marked_latency_bound() -> None:
    timing = clock.assess(
        blocks("candidate", 0, 5.0, 20.0) + blocks("eager", 0, 9.0, 20.0),
        ["eager"],
        Calibration(),
        interval=True,
        device="cpu",
    )
    assert "latency_bound" in timing.flags


def test_calls_that_are_answered_several_at_once_are_charged_what_one_costs_alone() -> None:
    # Eager takes 2 ms whatever K is; the candidate computes all calls of a block in one, at 0.5 ms each, and one alone takes 2 ms.
    alone = [BlockSample(side, 0, 1, 300.0 + 2000.0) for side in ("candidate", "eager") for _ in range(4)]
    samples = blocks("candidate", 0, 500.0) + blocks("eager", 0, 2000.0) + alone
    found = clock.assess(samples, ["eager"], Calibration(), True, "cpu")
    assert "slower_alone" in found.flags
    assert speedup(samples).value < 1.3


def test_a_lone_call_that_is_cold_for_every_side_charges_nobody() -> None:
    alone = [
        BlockSample(side, 0, 1, 300.0 + call_us + 400.0)
        for side, call_us in (("candidate", 500.0), ("eager", 2000.0))
        for _ in range(4)
    ]
    samples = blocks("candidate", 0, 500.0) + blocks("eager", 0, 2000.0) + alone
    assert speedup(samples).value == pytest.approx(4.0)


def test_lone_calls_that_a_busy_machine_delays_excuse_no_more_than_a_call_of_eagers() -> None:
    # All calls answered in one, as above; the machine is so busy that a lone call waits 3 ms for its threads, of eager's too.
    alone = [BlockSample(side, 0, 1, 300.0 + 5000.0) for side in ("candidate", "eager") for _ in range(4)]
    samples = blocks("candidate", 0, 500.0) + blocks("eager", 0, 2000.0) + alone
    assert speedup(samples).value < 1.0


def test_more_lone_calls_are_made_while_the_fastest_is_late() -> None:
    usual = blocks("candidate", 0, 2000.0) + blocks("eager", 0, 2000.0)
    late = [BlockSample(side, 0, 1, 300.0 + 6000.0) for side in ("candidate", "eager") for _ in range(2)]
    fast = [BlockSample(side, 0, 1, 300.0 + 2100.0) for side in ("candidate", "eager")]
    assert clock.is_colder_alone(usual + late, ["eager"], "cpu", 0)
    assert not clock.is_colder_alone(usual + late + fast, ["eager"], "cpu", 0)
    assert not clock.is_colder_alone(usual, ["eager"], "cpu", 0)  # of none nothing can be said


def test_a_reference_that_is_slower_in_blocks_than_alone_was_disturbed() -> None:
    alone = [BlockSample(side, 0, 1, 300.0 + 2000.0) for side in ("candidate", "eager") for _ in range(2)]
    for eager_us, noisy in ((2000.0, False), (2500.0, False), (80_000.0, True)):
        samples = blocks("candidate", 0, 2000.0) + blocks("eager", 0, eager_us) + alone
        assert ("noisy" in clock.assess(samples, ["eager"], Calibration(), True, "cpu").flags) is noisy


def gpu_rounds(
    pair: int,
    call_us: dict[str, float],
    overhead_us: dict[str, float],
    power: tuple[float, ...] = (1.0, 1.03, 0.98, 1.01),
) -> list[BlockSample]:
    """Rounds of all sides; `power` is what the inputs of a round make of every side's call."""
    rounds = [BlockSample("eager", pair, 0, 250.0)]
    for turn, k in enumerate(k for _ in range(2) for k in (1, 2, 4, 5)):
        rounds += [
            BlockSample(side, pair, k, overhead_us[side] + k * t * power[turn % len(power)])
            for side, t in call_us.items()
        ]
    return rounds


def gpu(samples: list[BlockSample], baseline: str) -> float:
    told = clock.assess(samples, ["eager", "compile"], Calibration(), True, "cuda:0").speedup(baseline)
    assert told is not None
    return told.value


def test_on_a_gpu_the_first_launches_of_a_block_are_no_part_of_a_call() -> None:
    call = {"candidate": 1200.0, "eager": 1200.0, "compile": 1200.0}
    samples = gpu_rounds(0, call, {"candidate": 600.0, "eager": 600.0, "compile": 850.0}, power=(1.0,))
    assert gpu(samples, "eager") == pytest.approx(1.0, abs=1e-6)
    assert gpu(samples, "compile") == pytest.approx(1.0, abs=1e-6)


def test_on_a_gpu_what_the_inputs_make_of_a_round_moves_no_ratio() -> None:
    call = {"candidate": 10_000.0, "eager": 15_000.0, "compile": 12_000.0}
    samples = gpu_rounds(0, call, dict.fromkeys(call, 500.0))
    assert gpu(samples, "eager") == pytest.approx(1.5, rel=5e-3)
    assert gpu(samples, "compile") == pytest.approx(1.2, rel=5e-3)


def test_on_a_gpu_sleep_in_small_blocks_is_charged_beyond_the_references_overhead() -> None:
    # Affine to the eye: 1200 us a call, and sleep of 240 us for each call that is missing to five.
    samples = gpu_rounds(
        0, {"candidate": 960.0, "eager": 1200.0}, {"candidate": 500.0 + 1200.0, "eager": 500.0}, (1.0,)
    )
    assert gpu(samples, "eager") < 1.01


def test_a_warm_call_is_shorter_by_what_its_block_saves() -> None:
    # 2 ms a call cold and 1.5 ms warm, 300 us of overhead in every block; the second side was never seen warm.
    samples = blocks("candidate", 0, 2000.0) + blocks("eager", 0, 3000.0)
    warm = [BlockSample("candidate", 0, 20, 300.0 + 20 * 1500.0 + more) for more in (0.0, 80.0)]
    timing = clock.assess(samples, ["eager"], Calibration(), False, "cpu", warm)
    assert timing.warm_us == {"candidate": pytest.approx(1500.0, rel=0.01)}
    assert timing.latency_us["candidate"] == pytest.approx(2000.0)


@pytest.mark.parametrize("warm", [[], [BlockSample("candidate", 0, 7, 1.0)], [BlockSample("candidate", 0, 20, 0.0)]])
def test_a_warm_call_of_which_nothing_can_be_said_is_left_out(warm: list[BlockSample]) -> None:
    samples = blocks("candidate", 0, 2000.0, overhead_us=0.0) + blocks("eager", 0, 3000.0, overhead_us=0.0)
    assert clock.assess(samples, ["eager"], Calibration(), False, "cpu", warm).warm_us == {}
