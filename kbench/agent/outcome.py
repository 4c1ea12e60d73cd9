"""What an episode comes to: the best verified state of it, timed once more, and the reward of arXiv 2602.24286."""

from __future__ import annotations

from collections.abc import Sequence

from kbench.types import Snapshot, Status, Verdict

MARGIN = 0.05  # "faster" for the reward: (t0 - t) / t0 above this, strictly


def chosen(snapshots: Sequence[Snapshot]) -> int | None:
    """The place of the fastest correct one (over compile, else over eager); of the last where none is correct."""
    correct = [at for at, snapshot in enumerate(snapshots) if snapshot.status is Status.CORRECT]
    if not correct:
        return len(snapshots) - 1 if snapshots else None
    compiled = any("compile" in snapshots[at].speedups for at in correct)
    return max(correct, key=lambda at: snapshots[at].speedups.get("compile" if compiled else "eager", 0.0))


def best_so_far(snapshots: Sequence[Snapshot], baseline: str) -> list[tuple[Snapshot, float]]:
    """The curve: each state that was faster over `baseline` than all correct ones before it."""
    curve: list[tuple[Snapshot, float]] = []
    for snapshot in snapshots:
        value = snapshot.speedups.get(baseline)
        if snapshot.status is Status.CORRECT and value is not None and (not curve or value > curve[-1][1]):
            curve.append((snapshot, value))
    return curve


def reward(verdict: Verdict | None) -> int:
    """-1 where it is not correct; 3 where it is more than 5 % faster than eager and than compile, 2 than eager, else 1."""
    if verdict is None or verdict.status is not Status.CORRECT:
        return -1
    faster = {s.baseline: 1 - 1 / s.value > MARGIN for s in (verdict.timing.speedups if verdict.timing else ())}
    if not faster.get("eager", False):
        return 1
    return 3 if faster.get("compile", False) else 2
