"""From blocks to the time of a call. The lane's wall clock is the only source; nothing here comes from a worker.

A block of K calls takes overhead + K * t. The slope is the time of a call. What a side's overhead exceeds eager's by is charged
to its calls: a candidate cannot buy a smaller slope with sleep in the small blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kbench import stats
from kbench.referee.case import Calibration
from kbench.types import BlockSample, Speedup, Timing

TARGET_BLOCK_US = 100_000.0
MIN_CALLS, MAX_CALLS = 4, 512
LATENCY_BOUND_US = 10.0
NOISY_SPREAD = 0.25  # between pairs, as a ratio; above it, and above 4 pooled sd, the timing is marked
CLASSES_US = (100.0, 1_000.0, 10_000.0)


def duration_class(latency_us: float) -> str:
    """The class whose A/A runs say how far two identical processes differ: "<100us", "<1ms", "<10ms" or ">=10ms"."""
    names = ("<100us", "<1ms", "<10ms", ">=10ms")
    return names[sum(latency_us >= bound for bound in CLASSES_US)]


def plan_calls(call_us: float, call_bytes: int, memory_bytes: int) -> list[int]:
    """At least four K, ascending; the largest makes a block of TARGET_BLOCK_US where memory holds that many slots."""
    most = math.ceil(TARGET_BLOCK_US / max(call_us, 1.0))
    bounded = min(most, MAX_CALLS, max(MIN_CALLS, memory_bytes // max(call_bytes, 1)))
    largest = max(MIN_CALLS, bounded)
    return sorted({max(i + 1, round(largest * share)) for i, share in enumerate((0.25, 0.5, 0.75, 1.0))})


@dataclass(frozen=True, slots=True)
class SideFit:
    slope_us: float
    overhead_us: float
    latency_us: float
    single_call_us: float


def fit_side(samples: Sequence[BlockSample], allowed_overhead_us: float | None) -> SideFit:
    """Time of a call of one side in one pair. allowed_overhead_us is eager's; None for eager itself."""
    calls = np.array([s.k for s in samples], dtype=float)
    elapsed = np.array([s.elapsed_us for s in samples])
    slope, overhead = theil_sen(calls, elapsed)
    excess = 0.0 if allowed_overhead_us is None else max(0.0, overhead - max(0.0, allowed_overhead_us))
    smallest = calls == calls.min()
    single = float((elapsed[smallest] / calls[smallest]).min())
    return SideFit(slope, overhead, slope + excess / float(calls.max()), single)


def theil_sen(calls: np.ndarray, elapsed: np.ndarray) -> tuple[float, float]:
    """Median slope over all pairs of blocks of different K, weighted by their distance in K; and the median intercept."""
    i, j = np.triu_indices(len(calls), 1)
    keep = calls[i] != calls[j]
    i, j = i[keep], j[keep]
    slopes = (elapsed[j] - elapsed[i]) / (calls[j] - calls[i])
    weights = np.abs(calls[j] - calls[i])
    order = np.argsort(slopes)
    cumulative = np.cumsum(weights[order])
    slope = float(slopes[order][np.searchsorted(cumulative, cumulative[-1] / 2)])
    return slope, float(np.median(elapsed - slope * calls))


def assess(
    samples: Sequence[BlockSample], baselines: Sequence[str], calibration: Calibration, interval: bool
) -> Timing:
    """Timing from raw blocks: per pair a time for each side, per baseline the geometric mean of the pairs' ratios."""
    pairs = sorted({s.pair for s in samples})
    sides = ["candidate", *(b for b in baselines if any(s.side == b for s in samples))]
    fits = {(side, pair): fit for pair in pairs for side, fit in _fit_pair(samples, sides, pair).items()}
    latency = {side: float(np.median([fits[side, p].latency_us for p in pairs])) for side in sides}
    flags = ["latency_bound"] if latency["candidate"] < LATENCY_BOUND_US else []
    speedups = []
    kind = duration_class(latency["candidate"])
    for baseline in sides[1:]:
        ratios = [fits[baseline, p].latency_us / fits["candidate", p].latency_us for p in pairs]
        speedup = _speedup(baseline, ratios, calibration, kind, interval)
        speedups.append(speedup)
        if _noisy(ratios, calibration.sd.get(kind)):
            flags.append("noisy")
    if not interval:
        flags.append("quick")
    elif kind not in calibration.sd:
        flags.append("uncalibrated")
    return Timing(
        latency, {side: min(fits[side, p].single_call_us for p in pairs) for side in sides}, tuple(speedups),
        tuple(samples), {side: float(np.median([fits[side, p].overhead_us for p in pairs])) for side in sides},
        tuple(dict.fromkeys(flags)),
    )  # fmt: skip


def _fit_pair(samples: Sequence[BlockSample], sides: Sequence[str], pair: int) -> dict[str, SideFit]:
    own = {side: [s for s in samples if s.side == side and s.pair == pair] for side in sides}
    reference = "eager" if "eager" in sides else sides[-1]
    allowed = fit_side(own[reference], None).overhead_us
    return {side: fit_side(own[side], None if side == reference else allowed) for side in sides}


def _speedup(baseline: str, ratios: Sequence[float], calibration: Calibration, kind: str, interval: bool) -> Speedup:
    logs = [math.log(ratio) for ratio in ratios]
    bounds = None
    if interval and kind in calibration.sd:
        bounds = stats.interval_from_pairs(logs, calibration.sd[kind], calibration.df[kind])
    return Speedup(baseline, math.exp(sum(logs) / len(logs)), bounds, tuple(ratios))


def _noisy(ratios: Sequence[float], sd: float | None) -> bool:
    spread = math.log(max(ratios) / min(ratios))
    return spread > max(NOISY_SPREAD, 4 * sd if sd is not None else 0.0)
