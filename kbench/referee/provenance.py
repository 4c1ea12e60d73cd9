"""Where the work of a candidate ran, as its own process's profiler tells it. A claim: correctness and time rest elsewhere.

any      whatever is right counts
custom   own kernels do work (Python's share and the reference's overhead do not count), no torch.compile: much of the time
         is theirs, and the library works less than for the reference; or they stand in for operators that the reference
         calls and the candidate does not
pure     no library compute at all
"""

from __future__ import annotations

from dataclasses import dataclass

from kbench.types import Gate

OWN_SHARE = 0.10  # custom: at least this share of a call's time in own code, above what eager's Python costs
PLAIN_SHARE = 0.3  # so much of it is own code whatever the machine did meanwhile; with less, one trace does not decide
# of a call's time in own code that stands in for operators of the reference, beside a large product
STAND_IN_SHARE = 0.01
# of eager's time, that those operators take at least; a wrapper that only calls another operator takes less
GONE_SHARE = 0.02
REPLACED_SHARE = 0.03  # of the time of those operators, which fused code may well be faster than
OTHERS_SHARE = 0.25  # of that time; more of it in other library operators, and they took their place
ALL_SHARE = 0.9  # of eager's time in the library; who spends as much there has the library do what it does for eager
MOSTLY_LIBRARY = 0.5  # below this, own code does most of the work whatever Python costs
LIBRARY_SHARE = 0.05  # pure: at most this share in library operators that compute
COMPILED = ("CompiledFxGraph", "Torch-Compiled Region", "Inductor", "TorchDynamo")
# Operators that allocate or describe, and compute nothing.
PASSIVE = {
    "empty", "empty_like", "empty_strided", "new_empty", "view", "reshape", "as_strided", "t", "transpose", "permute",
    "expand", "slice", "select", "detach", "alias", "squeeze", "unsqueeze", "resize_", "size", "stride", "contiguous",
    "to", "_to_copy", "result_type", "set_", "unbind", "split", "chunk", "narrow", "flatten", "numpy_T", "_unsafe_view",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shares:
    """Microseconds of one call: the candidate's own code (Python and kernels), library operators, and whether Inductor ran."""

    own_us: float
    compiled: bool
    library: dict[str, float]  # microseconds by operator

    @property
    def library_us(self) -> float:
        return sum(self.library.values())

    @property
    def top(self) -> str:
        return max(self.library, key=lambda name: self.library[name], default="")

    @property
    def total_us(self) -> float:
        return max(self.own_us + self.library_us, 1e-9)


def shares_of(operators_us: dict[str, float]) -> Shares:
    """From self times per operator, of the processor or the GPU. What is no aten operator ran in the candidate's own code."""
    library = {
        name: spent
        for name, spent in operators_us.items()
        if name.startswith("aten::") and name.removeprefix("aten::") not in PASSIVE
    }
    own = sum(spent for name, spent in operators_us.items() if not name.startswith("aten::"))
    compiled = any(mark in name for name in operators_us for mark in COMPILED)
    return Shares(own, compiled, library)


def quieter(before: Shares | None, found: Shares) -> Shares:
    """Of two traces of a worker the less of each kind: what else the machine did only ever adds."""
    if before is None:
        return found
    library = {name: min(spent, before.library.get(name, spent)) for name, spent in found.library.items()}
    return Shares(min(before.own_us, found.own_us), before.compiled or found.compiled, before.library | library)


def is_plain(candidate: Shares, eager: Shares | None) -> bool:
    """Whether so much is own code that no disturbance of one trace could have made it up."""
    return _own_us(candidate, eager) >= PLAIN_SHARE * candidate.total_us


def _own_us(candidate: Shares, eager: Shares | None) -> float:
    """In own code, above what eager's Python costs."""
    return max(0.0, candidate.own_us - (eager.own_us if eager is not None else 0.0))


def replaced_us(candidate: Shares, eager: Shares | None) -> float:
    """Time that eager spends in operators which the candidate does not call at all."""
    if eager is None:
        return 0.0
    return sum(spent for name, spent in eager.library.items() if name not in candidate.library)


def others_us(candidate: Shares, eager: Shares | None) -> float:
    """Time that the candidate spends in library operators which eager does not call."""
    known = eager.library if eager is not None else {}
    return sum(spent for name, spent in candidate.library.items() if name not in known)


def instead_us(candidate: Shares, eager: Shares) -> float:
    """Time of eager's operators that the candidate does not call, beyond what other library operators took in their place."""
    return replaced_us(candidate, eager) - others_us(candidate, eager)


def stands_in(candidate: Shares, eager: Shares | None, own_us: float) -> bool:
    """Whether own code took the place of operators that eager spends time in, beyond what other library operators took."""
    if eager is None:
        return False
    gone_us = instead_us(candidate, eager)
    return (
        own_us >= STAND_IN_SHARE * candidate.total_us
        and gone_us >= GONE_SHARE * eager.total_us
        and own_us >= REPLACED_SHARE * gone_us
    )


def replaces_much(candidate: Shares, eager: Shares | None) -> bool:
    """Whether operators that take a good part of eager's time are gone, and no other library operators took their place.

    Eager's Python can cost as much as fused own code does, so that nothing is left of it: then this tells.
    """
    if eager is None:
        return False
    gone_us = replaced_us(candidate, eager)
    return (
        gone_us >= OWN_SHARE * eager.total_us
        and others_us(candidate, eager) <= OTHERS_SHARE * gone_us
        and candidate.own_us >= REPLACED_SHARE * gone_us
    )


def library_does_all(candidate: Shares, eager: Shares | None) -> bool:
    """Whether none of eager's operators is gone, or others took their place, and the library works as long as for eager: then own
    code, however long it runs, does none of the work. Times of two processes alone would accuse on a busy machine."""
    return (
        eager is not None
        and instead_us(candidate, eager) < GONE_SHARE * eager.total_us
        and candidate.library_us >= ALL_SHARE * eager.library_us
    )


def policy_gate(policy: str, candidate: Shares, eager: Shares | None) -> Gate:
    """The gate of `--policy`, with its evidence labelled as the candidate's own."""
    own_us = _own_us(candidate, eager)
    own_share = own_us / candidate.total_us
    does = own_share >= OWN_SHARE and not library_does_all(candidate, eager)
    does = does or stands_in(candidate, eager, own_us) or replaces_much(candidate, eager)
    library_share = candidate.library_us / candidate.total_us
    told = f"claimed by its process: {own_share:.0%} own code, {library_share:.0%} library"
    told += f" (most in {candidate.top})" if candidate.top else ""
    if policy == "any":
        return Gate("policy", True, f"any; {told}")
    if candidate.own_us + candidate.library_us <= 0:
        return Gate("policy", False, f"{policy}: the trace shows no work at all, so nothing says who did it")
    if candidate.compiled:
        return Gate("policy", False, f"{policy}: the work ran in code that torch.compile made")
    if policy == "custom" and library_share > MOSTLY_LIBRARY and not does:
        wanted = (
            f"custom wants own kernels to do {OWN_SHARE:.0%} of the work that the library does for the reference, or to stand in "
            "for its operators"
        )
        return Gate("policy", False, f"{wanted}; {told}")
    if policy == "pure" and library_share > LIBRARY_SHARE:
        return Gate("policy", False, f"pure allows {LIBRARY_SHARE:.0%} in library operators; {told}")
    return Gate("policy", True, f"{policy}; {told}")
