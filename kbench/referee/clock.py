"""From blocks to the time of a call. The lane's wall clock is the only source; nothing here comes from a worker.

A block of K calls takes overhead + K * t. The overhead is measured, not extrapolated: blocks of no call at all, run by a
reference worker, which a candidate cannot touch. A side's time of a call is the fast decile of (elapsed - overhead) / K
over its blocks, weighted by K (the median on a GPU): what disturbs a CPU only ever adds, and no candidate can make a block
look faster than it ran. On a shared two-core machine the log-ratio of an A/A pair had a standard deviation of 0.08 so, of
0.16 with the median, and of 0.31 with the slope over K. A candidate that sleeps in small blocks, to flatten a slope, gains
nothing; one that does less in large blocks than in small ones breaks proportionality, and that is a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kbench import stats
from kbench.referee.case import Calibration
from kbench.types import BlockSample, Speedup, Timing

Figures = np.ndarray[Any, np.dtype[np.float64]]
SHRINKS = 1.5  # a call that takes so much longer in small blocks than in large ones, in every pair
FAST_SHARE = 0.1  # of a CPU's blocks; the median of a GPU's
MOST_OVERHEAD = (
    0.5  # of a block; more is a disturbed machine's, and would make what is left of a call as small as one likes
)
OVERHEAD_SHARE = 0.2  # of the longest block; where it is more the timing is marked
MIN_CALLS, MAX_CALLS = 4, 512
LATENCY_BOUND_US = 10.0
NOISY_SPREAD = 0.25  # between pairs, as a ratio; above it, and above 4 pooled sd, the timing is marked
DISTURBED = 4.0  # spread of a reference's own times of a call; above it the timing is marked
CLASSES_US = (100.0, 1_000.0, 10_000.0)


def duration_class(latency_us: float) -> str:
    """The class whose A/A runs say how far two identical processes differ: "<100us", "<1ms", "<10ms" or ">=10ms"."""
    names = ("<100us", "<1ms", "<10ms", ">=10ms")
    return names[sum(latency_us >= bound for bound in CLASSES_US)]


def plan_calls(call_us: float, call_bytes: int, memory_bytes: int, block_us: float, least: int) -> list[int]:
    """Four K, ascending; the largest makes a block of block_us where memory holds that many slots.

    1 .. `least` or so where not even MIN_CALLS fit.
    """
    most = math.ceil(block_us / max(call_us, 1.0))
    largest = max(least, min(max(most, MIN_CALLS), MAX_CALLS, memory_bytes // max(call_bytes, 1)))
    if largest < MIN_CALLS:
        return list(range(1, largest + 1))
    return sorted({max(i + 1, round(largest * share)) for i, share in enumerate((0.25, 0.5, 0.75, 1.0))})


@dataclass(frozen=True, slots=True)
class SideFit:
    latency_us: float
    single_call_us: float  # shortest of the smallest blocks, over K: fixed overhead included
    shrinkage: float  # time of a call in the two smallest K over that in the two largest; 1 is proportional
    spread: float  # longest time of a call over the shortest; what noise does to one that is proportional


def fit_side(samples: Sequence[BlockSample], overhead_us: float, fast_share: float) -> SideFit:
    """Time of a call of one side in one pair: the `fast_share` quantile over its blocks, weighted by K."""
    calls = np.array([s.k for s in samples], dtype=float)
    elapsed = np.array([s.elapsed_us for s in samples])
    each = np.maximum(elapsed - overhead_us, (1 - MOST_OVERHEAD) * elapsed) / calls
    distinct = np.unique(calls)
    small, large = np.isin(calls, distinct[:2]), np.isin(calls, distinct[-2:])
    single = float((elapsed / calls)[calls == distinct[0]].min())
    return SideFit(
        weighted_quantile(each, calls, fast_share),
        single,
        float(each[small].min() / each[large].min()),
        float(each.max() / each.min()),
    )


def weighted_quantile(values: Figures, weights: Figures, share: float) -> float:
    """The smallest value at or below which `share` of the weight lies."""
    order = np.argsort(values)
    cumulative = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(cumulative, share * cumulative[-1])])


def overhead(samples: Sequence[BlockSample], fast_share: float) -> float:
    """The same quantile of the empty blocks as of the others, in microseconds; 0 where there are none."""
    empty = [s.elapsed_us for s in samples if s.k == 0]
    return float(np.quantile(empty, fast_share, method="lower")) if empty else 0.0


def assess(
    samples: Sequence[BlockSample], baselines: Sequence[str], calibration: Calibration, interval: bool,
    device: str,
) -> Timing:  # fmt: skip
    """Timing from raw blocks: per pair a time for each side, per baseline the geometric mean of the pairs' ratios."""
    pairs = sorted({s.pair for s in samples})
    sides = ["candidate", *(b for b in baselines if any(s.side == b for s in samples))]
    fast_share = FAST_SHARE if device == "cpu" else 0.5
    fits = fit_all(samples, sides, fast_share)
    latency = {side: float(np.median([fits[side, p].latency_us for p in pairs])) for side in sides}
    flags = ["latency_bound"] if latency["candidate"] < LATENCY_BOUND_US else []
    speedups = []
    for baseline in sides[1:]:
        ratios = [fits[baseline, p].latency_us / fits["candidate", p].latency_us for p in pairs]
        spread = pooled_spread(calibration, latency["candidate"], latency[baseline])
        speedups.append(_speedup(baseline, ratios, spread if interval else None))
        if _noisy(ratios, spread):
            flags.append("noisy")
    strayed = max((fits[side, p].spread for side in sides[1:] for p in pairs), default=1.0)
    if strayed > DISTURBED:
        flags.append("noisy")
    spent = overhead(samples, fast_share)
    if any(spent > OVERHEAD_SHARE * max(s.elapsed_us for s in samples if s.side == side) for side in sides):
        flags.append("noisy")
    if not interval:
        flags.append("quick")
    elif any(speedup.interval is None for speedup in speedups):
        flags.append("uncalibrated")
    return Timing(
        latency, {side: min(fits[side, p].single_call_us for p in pairs) for side in sides}, tuple(speedups),
        tuple(samples), spent, tuple(dict.fromkeys(flags)),
    )  # fmt: skip


def fit_all(samples: Sequence[BlockSample], sides: Sequence[str], fast_share: float) -> dict[tuple[str, int], SideFit]:
    fits = {}
    for pair in sorted({s.pair for s in samples}):
        own = [s for s in samples if s.pair == pair]
        spent = overhead(own, fast_share)
        for side in sides:
            fits[side, pair] = fit_side([s for s in own if s.side == side and s.k], spent, fast_share)
    return fits


def shrinks(samples: Sequence[BlockSample], baselines: Sequence[str]) -> float | None:
    """How much more a candidate's call takes in small blocks than in large ones, beyond how far the references' own times stray.

    The least over the pairs, so that one disturbed block accuses nobody, and a disturbed machine does not either. None where
    it is below SHRINKS.
    """
    sides = ["candidate", *(b for b in baselines if any(s.side == b for s in samples))]
    fits = fit_all(samples, sides, fast_share=0.5)
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
