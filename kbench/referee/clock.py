"""From blocks to the time of a call. The lane's wall clock is the only source; nothing here comes from a worker.

A block of K calls takes overhead + K * t. What is subtracted is measured on reference workers, which a candidate cannot touch.

On a CPU it is a block of no call at all, and a side's time of a call is the fast decile of (elapsed - overhead) / K over its
blocks, weighted by K: what disturbs a CPU only ever adds. On a shared two-core machine the log-ratio of an A/A pair had a
standard deviation of 0.08 so, of 0.16 with the median, and of 0.31 with the slope over K.

On a GPU the first launches of a block cost some 300 us more than an empty one does, which is the intercept of eager's blocks
over K; torch.compile's cost 200 us more than that, and are taken off its own time. A candidate is taken to need what eager
needs: an intercept of its own, out of its own blocks, could be made. What the values of the inputs make of a call (power: 3 %
of an 8192 matmul) is common to the sides of a round, so a ratio is the middle of the rounds' ratios. On an H200 the log-ratio
of an A/A judging was 0.37 % in the median so, against 0.94 % with an intercept for each side.

A candidate that sleeps in small blocks, to flatten a slope, gains nothing; one that does less in large blocks than in small
ones breaks proportionality, and that is a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kbench import stats
from kbench.referee.case import Calibration
from kbench.types import BlockSample, Speedup, Timing

Figures = np.ndarray[Any, np.dtype[np.float64]]
SHRINKS = 1.5  # a call that takes so much longer in small blocks than in large ones, in every pair
FAST_SHARE = 0.1  # of a CPU's blocks; the median of a GPU's
# of a block; more is a disturbed machine's, and would make what is left of a call as small as one likes
MOST_OVERHEAD = 0.5
OVERHEAD_SHARE = 0.2  # of the longest block; where it is more the timing is marked
MIN_CALLS, MAX_CALLS = 4, 512
LATENCY_BOUND_US = 10.0
NOISY_SPREAD = 0.25  # between pairs, as a ratio; above it, and above 4 pooled sd, the timing is marked
DISTURBED = 4.0  # spread of a reference's own times of a call; above it the timing is marked
LONE_SHARE = 0.1  # of a lone call's time; what it may take longer than one of many before that is charged
LONE_US = 75.0  # and this much beside
EXCUSED, EXCUSED_US = 1.0, 1000.0  # of a reference's call, or this; beyond the larger its lone calls excuse nobody
MIN_LONE = 2  # lone calls a side, or nothing is said of them
SLOWED = 1.5  # times a reference's lone call that one of its calls among many takes; only a disturbed machine does that
CLASSES_US = (100.0, 1_000.0, 10_000.0)
CLASSES = ("<100us", "<1ms", "<10ms", ">=10ms")


def duration_class(latency_us: float) -> str:
    """The class whose A/A runs say how far two identical processes differ: "<100us", "<1ms", "<10ms" or ">=10ms"."""
    return CLASSES[sum(latency_us >= bound for bound in CLASSES_US)]


def plan_calls(call_us: float, fit: int, block_us: float, least: int) -> list[int]:
    """Four K, ascending; the largest makes a block of block_us where memory holds that many calls (`fit`).

    1 .. `least` or so where not even MIN_CALLS fit.
    """
    most = math.ceil(block_us / max(call_us, 1.0))
    largest = max(least, min(max(most, MIN_CALLS), MAX_CALLS, fit))
    if largest < MIN_CALLS:
        return list(range(1, largest + 1))
    return sorted({max(i + 1, round(largest * share)) for i, share in enumerate((0.25, 0.5, 0.75, 1.0))})


@dataclass(frozen=True, slots=True)
class SideFit:
    latency_us: float
    single_call_us: float  # shortest of the smallest blocks, over K: fixed overhead included
    shrinkage: float  # time of a call in the two smallest K over that in the two largest; 1 is proportional
    spread: float  # longest time of a call over the shortest; what noise does to one that is proportional


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of one side in one pair, in the order of the rounds."""

    calls: Figures
    elapsed_us: Figures
    overhead_us: float = 0.0  # of each of them

    @property
    def each_us(self) -> Figures:
        """Time of a call, block by block."""
        left = np.maximum(self.elapsed_us - self.overhead_us, (1 - MOST_OVERHEAD) * self.elapsed_us)
        return np.asarray(left / self.calls)


Found = dict[tuple[str, int], Blocks]  # by side and pair
Fits = dict[tuple[str, int], SideFit]


def blocks_of(samples: Sequence[BlockSample], side: str, pair: int) -> Blocks:
    own = [s for s in samples if s.side == side and s.pair == pair and s.k]
    return Blocks(np.array([s.k for s in own], dtype=float), np.array([s.elapsed_us for s in own]))


def fit_side(blocks: Blocks, fast_share: float) -> SideFit:
    """Time of a call of one side in one pair: the `fast_share` quantile over its blocks, weighted by K."""
    calls, each = blocks.calls, blocks.each_us
    single = float((blocks.elapsed_us / calls)[calls == calls.min()].min())
    several = calls > 1 if (calls > 1).any() else calls > 0
    calls, each = calls[several], each[several]
    distinct = np.unique(calls)
    small, large = np.isin(calls, distinct[:2]), np.isin(calls, distinct[-2:])
    return SideFit(
        weighted_quantile(each, calls, fast_share),
        single,
        float(each[small].min() / each[large].min()),
        float(each.max() / each.min()),
    )


def fits_of(found: Found, share: float) -> Fits:
    return {key: fit_side(blocks, share) for key, blocks in found.items()}


def fast_share(device: str) -> float:
    """The quantile of a side's blocks that is taken for its time."""
    return FAST_SHARE if device == "cpu" else 0.5


def weighted_quantile(values: Figures, weights: Figures, share: float) -> float:
    """The smallest value at or below which `share` of the weight lies."""
    order = np.argsort(values)
    cumulative = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(cumulative, share * cumulative[-1])])


def overhead(samples: Sequence[BlockSample], fast_share: float) -> float:
    """The same quantile of the empty blocks as of the others, in microseconds; 0 where there are none."""
    empty = [s.elapsed_us for s in samples if s.k == 0]
    return float(np.quantile(empty, fast_share, method="lower")) if empty else 0.0


def intercepts(found: Found, sides: Sequence[str], empty_us: float) -> dict[str, float]:
    """What a block of each side costs beside its calls. The candidate's is the first reference's.

    That comes from its own blocks, another reference's from its distance to it in the same round, since the inputs of a round
    move all sides alike.
    """
    first = sides[1]
    pairs = sorted({pair for _, pair in found})
    base = max(empty_us, _intercept([(found[first, p].calls, found[first, p].elapsed_us) for p in pairs]))
    over = {"candidate": base, first: base}
    for side in sides[2:]:
        over[side] = base + max(0.0, _intercept([_apart(found[first, p], found[side, p]) for p in pairs]))
    return over


def _apart(first: Blocks, second: Blocks) -> tuple[Figures, Figures]:
    rounds = min(len(first.calls), len(second.calls))
    same = first.calls[:rounds] == second.calls[:rounds]
    return first.calls[:rounds][same], (second.elapsed_us[:rounds] - first.elapsed_us[:rounds])[same]


def _intercept(pairs: Sequence[tuple[Figures, Figures]]) -> float:
    """Median over all blocks of what a line through the blocks of a pair leaves at K = 0; the line has the median slope."""
    left: list[float] = []
    for calls, values in pairs:
        first, second = np.triu_indices(len(calls), 1)
        far = calls[first] != calls[second]
        run, rise = (calls[second] - calls[first])[far], (values[second] - values[first])[far]
        if len(run):
            left += list(values - weighted_quantile(rise / run, np.abs(run), 0.5) * calls)
    return float(np.median(left)) if left else 0.0


def by_rounds(baseline: Blocks, candidate: Blocks) -> float:
    """Baseline time over candidate time: the middle of the rounds' ratios, weighted by K."""
    rounds = min(len(baseline.calls), len(candidate.calls))
    logs = np.log(baseline.each_us[:rounds] / candidate.each_us[:rounds])
    same = baseline.calls[:rounds] == candidate.calls[:rounds]
    return math.exp(middle_mean(logs[same], baseline.calls[:rounds][same]))


def middle_mean(values: Figures, weights: Figures) -> float:
    """Weighted mean of the half of the weight that lies in the middle."""
    order = np.argsort(values)
    upper = np.cumsum(weights[order]) / weights.sum()
    lower = upper - weights[order] / weights.sum()
    kept = np.clip(np.minimum(upper, 0.75) - np.maximum(lower, 0.25), 0.0, None)
    return float(values[order] @ kept / kept.sum())


def assess(
    samples: Sequence[BlockSample], baselines: Sequence[str], calibration: Calibration, interval: bool,
    device: str, warm: Sequence[BlockSample] = (),
) -> Timing:  # fmt: skip
    """Timing from raw blocks: per pair a time for each side, per baseline the geometric mean of the pairs' ratios.

    `warm`: blocks in which all calls took the same inputs."""
    pairs = sorted({s.pair for s in samples})
    sides = sides_of(samples, baselines)
    on_gpu, fast = device != "cpu", fast_share(device)
    found = measured(samples, sides, fast, on_gpu)
    fits = fits_of(found, fast)
    latency = {side: float(np.median([fits[side, p].latency_us for p in pairs])) for side in sides}
    charged_us = charge_us(found, fits)
    share = latency["candidate"] / (latency["candidate"] + charged_us)
    latency["candidate"] += charged_us
    flags = ["latency_bound"] if latency["candidate"] < LATENCY_BOUND_US else []
    speedups = []
    for baseline in sides[1:]:
        if on_gpu:
            ratios = [by_rounds(found[baseline, p], found["candidate", p]) for p in pairs]
        else:
            ratios = [fits[baseline, p].latency_us / fits["candidate", p].latency_us for p in pairs]
        ratios = [ratio * share for ratio in ratios]
        spread = pooled_spread(calibration, latency["candidate"], latency[baseline])
        speedups.append(_speedup(baseline, ratios, spread if interval else None))
        if _noisy(ratios, spread):
            flags.append("noisy")
    strayed = max((fits[side, p].spread for side in sides[1:] for p in pairs), default=1.0)
    if strayed > DISTURBED:
        flags.append("noisy")
    if any(fits[side, p].latency_us > SLOWED * fits[side, p].single_call_us for side in sides[1:] for p in pairs):
        flags.append("noisy")
    spent = overhead(samples, fast)
    if any(spent > OVERHEAD_SHARE * max(s.elapsed_us for s in samples if s.side == side) for side in sides):
        flags.append("noisy")
    if charged_us:
        flags.append("slower_alone")
    if not interval:
        flags.append("quick")
    elif any(speedup.interval is None for speedup in speedups):
        flags.append("uncalibrated")
    return Timing(
        latency, {side: min(fits[side, p].single_call_us for p in pairs) for side in sides}, tuple(speedups),
        tuple(samples), spent, tuple(dict.fromkeys(flags)), warm_us=warm_times(samples, warm, latency, fast),
        warm=tuple(warm),
    )  # fmt: skip


def warm_times(
    samples: Sequence[BlockSample], warm: Sequence[BlockSample], latency_us: dict[str, float], fast_share: float
) -> dict[str, float]:
    """Time of a call on inputs that the caches hold: by how much a block of such calls is shorter than one of as many in the
    same pair, whose overhead it has. Sides of whom nothing can be said are left out."""
    found = {}
    for side, cold_us in latency_us.items():
        own = [s for s in warm if s.side == side]
        like = [s.elapsed_us for s in samples if own and (s.side, s.pair, s.k) == (side, own[0].pair, own[0].k)]
        if own and like:
            saved_us = np.quantile(like, fast_share) - np.quantile([s.elapsed_us for s in own], fast_share)
            left_us = cold_us - float(saved_us) / own[0].k
            if left_us > 0:
                found[side] = left_us
    return found


def charge_us(found: Found, fits: Fits) -> float:
    """What the candidate's calls take longer when they are made alone, beyond what the references' do; the least of the pairs.
    Nothing where that is within what is allowed.

    All inputs of a block lie there before its first call, so calls can be answered several at once; a call alone cannot.
    """
    charges = []
    for pair in sorted({pair for _, pair in found}):
        alone = _alone(found, pair)
        if alone is None:
            return 0.0
        beyond_us = alone["candidate"] - fits["candidate", pair].latency_us - _excused_us(alone, fits, pair)
        charges.append(beyond_us if beyond_us > _allowed_us(alone) else 0.0)
    return max(0.0, min(charges))


def is_colder_alone(samples: Sequence[BlockSample], baselines: Sequence[str], device: str, pair: int) -> bool:
    """Whether the candidate's lone calls of a pair, so far, take longer than is allowed: then more of them tell more.

    The fastest of few lone calls is late by chance, of the candidate's, which is then charged for it, as of the references',
    which then excuse it.
    """
    own = [sample for sample in samples if sample.pair == pair]
    fast = fast_share(device)
    found = measured(own, sides_of(own, baselines), fast, device != "cpu")
    alone, fits = _alone(found, pair), fits_of(found, fast)
    if alone is None:
        return False
    extra_us = alone["candidate"] - fits["candidate", pair].latency_us
    return extra_us - min(0.0, _excused_us(alone, fits, pair)) > _allowed_us(alone)


def _alone(found: Found, pair: int) -> dict[str, float] | None:
    """Each side's fastest lone call. None where there are too few of them."""
    alone = {side: blocks.each_us[blocks.calls == 1] for (side, p), blocks in found.items() if p == pair}
    if any(len(values) < MIN_LONE for values in alone.values()):
        return None
    return {side: float(values.min()) for side, values in alone.items()}


def _allowed_us(alone: dict[str, float]) -> float:
    return LONE_SHARE * alone["candidate"] + LONE_US


def _excused_us(alone: dict[str, float], fits: Fits, pair: int) -> float:
    """What a lone call of the candidate's may take longer because one of a reference's does: that much, in bounds. Where all
    of theirs take less, since what was just brought in lies in the caches, the candidate's is taken to in proportion."""
    excuses = []
    for side, lone_us in alone.items():
        usual_us = fits[side, pair].latency_us
        if side != "candidate":
            longer = min(lone_us - usual_us, max(EXCUSED_US, EXCUSED * usual_us))
            excuses.append(longer if longer > 0 else longer / usual_us * fits["candidate", pair].latency_us)
    return max(excuses, default=0.0)


def sides_of(samples: Sequence[BlockSample], baselines: Sequence[str]) -> list[str]:
    return ["candidate", *(b for b in baselines if any(s.side == b for s in samples))]


def measured(samples: Sequence[BlockSample], sides: Sequence[str], fast_share: float, on_gpu: bool) -> Found:
    """The blocks of each side and pair, with the overhead that they have."""
    pairs = sorted({s.pair for s in samples})
    found = {(side, p): blocks_of(samples, side, p) for side in sides for p in pairs}
    if on_gpu and len(sides) > 1:
        own = intercepts(found, sides, overhead(samples, fast_share))
        return {(side, p): replace(blocks, overhead_us=own[side]) for (side, p), blocks in found.items()}
    empty = {p: overhead([s for s in samples if s.pair == p], fast_share) for p in pairs}
    return {(side, p): replace(blocks, overhead_us=empty[p]) for (side, p), blocks in found.items()}


def shrinks(samples: Sequence[BlockSample], baselines: Sequence[str], device: str) -> float | None:
    """How much more a candidate's call takes in small blocks than in large ones, beyond how far the references' own times stray.

    The least over the pairs, so that one disturbed block accuses nobody, and a disturbed machine does not either. None where
    it is below SHRINKS.
    """
    sides = sides_of(samples, baselines)
    found = measured(samples, sides, 0.5, device != "cpu")
    fits = fits_of(found, 0.5)
    pairs = sorted({s.pair for s in samples})
    excess = [
        fits["candidate", p].shrinkage / max(1.0, *(fits[side, p].spread for side in sides[1:]), 1.0) for p in pairs
    ]
    return min(excess) if min(excess) > SHRINKS else None


@dataclass(frozen=True, slots=True)
class Spread:
    """How far the log-ratio of two identical workers strays: sd, and the runs that it was taken from."""

    sd: float
    df: int


def pooled_spread(calibration: Calibration, first_us: float, second_us: float) -> Spread | None:
    """The wider of the two sides' duration classes; None where one of them is not calibrated."""
    kinds = {duration_class(first_us), duration_class(second_us)}
    if not kinds <= calibration.sd.keys():
        return None
    widest = max(kinds, key=lambda kind: calibration.sd[kind])
    return Spread(calibration.sd[widest], calibration.df[widest])


def _speedup(baseline: str, ratios: Sequence[float], spread: Spread | None) -> Speedup:
    logs = [math.log(ratio) for ratio in ratios]
    bounds = None if spread is None else stats.interval_from_pairs(logs, spread.sd, spread.df)
    return Speedup(baseline, math.exp(sum(logs) / len(logs)), bounds, tuple(ratios))


def _noisy(ratios: Sequence[float], spread: Spread | None) -> bool:
    apart = math.log(max(ratios) / min(ratios))
    return apart > max(NOISY_SPREAD, 4 * spread.sd if spread is not None else 0.0)
