"""What the driver hands to the lane: one candidate to be judged on one problem under one protocol. JSON all through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kbench.types import Precision

LONE_ROUNDS = 2  # of one call each, a repeat
ORACLE_BLOCKS = 20  # that the oracle's seconds are spread over
ORACLE_COST = 5.0  # times a call: an expected output, in fp64
GATES = ("wire", "structure", "inputs", "values", "state", "decoys", "clock", "policy")  # that a correct verdict passed
MIN_SLOTS = 6  # input slots that a problem gets on a CPU at least: four calls of the largest block, two decoys


@dataclass(frozen=True, slots=True)
class Protocol:
    """How much is measured. Data, not code paths."""

    name: str
    pairs: int  # fresh pairs of workers
    repeats: int  # blocks of every K, pair and side
    oracle_s: float  # seconds of the oracle's time for checked calls, at least one a block
    interval: bool

    def timed_rounds(self, calls: Sequence[int]) -> list[int]:
        """K of the rounds of one pair that are timed, in no order; `calls` are the planned K, ascending."""
        return [calls[-1]] + [k for _ in range(self.repeats) for k in (*calls, *[1] * LONE_ROUNDS)]

    @property
    def block_s(self) -> float:
        """Seconds after which no more calls of a block are checked whole than there is memory for at once."""
        return self.oracle_s / ORACLE_BLOCKS / self.pairs

    def checks_a_block(self, call_us: float) -> int:
        """How many calls of a block are checked whole, where memory and time allow so many; at least one."""
        return max(1, int(self.oracle_s / ORACLE_BLOCKS / max(ORACLE_COST * call_us / 1e6, 1e-4)))


STRICT = Protocol("strict", pairs=3, repeats=2, oracle_s=4.0, interval=True)
QUICK = Protocol("quick", pairs=1, repeats=1, oracle_s=1.0, interval=False)
PROTOCOLS = {protocol.name: protocol for protocol in (STRICT, QUICK)}


@dataclass(frozen=True, slots=True)
class ProblemCase:
    """The reference in one shape, mode and precision, on one device."""

    id: str
    source: str
    content_hash: str
    shape: dict[str, object] = field(default_factory=dict)
    families: tuple[str, ...] = ("default",)
    mode: str = "own"  # "train", "eval", or "own": as the module comes
    noise_buffers: tuple[str, ...] = ()
    moves_all: bool = False  # the problem declares that a call reads every input and writes every output element
    precision: Precision = Precision.FP32
    device: str = "cpu"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Pooled between-process sd of a pair's log-ratio, from A/A runs, per duration class; df = runs - 1."""

    sd: dict[str, float] = field(default_factory=dict)
    df: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    problem: ProblemCase
    build_folder: str
    file: str  # the solution's file in the build folder
    class_name: str
    sha256: str  # of that file; empty for a baseline
    protocol: Protocol
    baselines: tuple[str, ...] = ("eager", "compile")
    compile_mode: str | None = None  # of the candidate itself; builtin/compile only
    policy: str = "any"
    builtin: bool = False  # a baseline in the candidate's place
    fresh_references: bool = False  # not those that earlier candidates were judged beside; A/A runs must be independent
    timeout_s: float = 60.0
    calibration: Calibration = field(default_factory=Calibration)

    @property
    def side(self) -> str:
        """Whence a baseline in the candidate's place is forked: "compile" or "eager"."""
        return "compile" if self.compile_mode is not None else "eager"


TORCH_DTYPE = {
    Precision.FP32: "float32",
    Precision.TF32: "float32",
    Precision.BF16: "bfloat16",
    Precision.FP16: "float16",
}
