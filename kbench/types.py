"""The frozen dataclasses that travel along the straight line, and the words they use. Imports nothing of kbench.

Problem -> Request -> Reply -> Solution -> Build -> Verdict -> Record -> Summary
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

SCHEMA_VERSION = 1  # of everything written to disk; a reader refuses a newer one
LARGEST = 1e15  # of any figure that is stored: microseconds, tokens, dollars; beyond it arithmetic loses its meaning
MOST_SPEEDUP = 1e9
POLICIES = ("any", "custom", "pure")  # what counts as a candidate's own work: referee.provenance
LONGEST_NAME = 200  # bytes, of a run or a problem: both are folders under results/
MOST_SAMPLES = 10_000  # attempts a problem of one run
MOST_ATTEMPTS = 1_000_000  # of one run
WORD = re.compile(r"[A-Za-z0-9_.:-]{0,80}")  # what kbench names a side, a baseline, a protocol, a sandbox or a device
LEVEL = re.compile(r"level(\d+)/")


class Status(StrEnum):
    """How an attempt ended. The first failure along the line decides; only CORRECT passes."""

    REFUSED = "refused"
    NO_CODE = "no_code"
    COMPILE_ERROR = "compile_error"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    INCORRECT = "incorrect"
    TAMPER = "tamper"
    TIMING_INVALID = "timing_invalid"
    POLICY = "policy"
    CORRECT = "correct"
    INFRA_ERROR = "infra_error"  # ours: retried, never scored as the model's


class Precision(StrEnum):
    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"


@dataclass(frozen=True, slots=True)
class Problem:
    """One reference module, described without running it.

    `content_hash` is sha256 over the file's bytes; `shapes`, `inputs` and `spec` are the module's literal
    SHAPES, INPUTS and SPEC (empty where the file has none, as in KernelBench).
    """

    id: str  # "level1/019_relu", or "level1/1_Name" in a suite
    level: int
    path: str
    source: str
    content_hash: str
    shapes: dict[str, dict[str, object]] = field(default_factory=dict)
    inputs: tuple[str, ...] = ("default",)
    spec: dict[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.id.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Solution:
    """Source text of one candidate. `origin` says where it came from: a file, a reply, or builtin/NAME."""

    source: str
    origin: str
    language: str = "unknown"
    class_name: str = "ModelNew"
    compile_mode: str | None = None  # torch.compile mode; builtin/compile only

    @property
    def builtin(self) -> bool:
        return self.origin.startswith("builtin/")


@dataclass(frozen=True, slots=True)
class Build:
    """What the builder left: a folder that a worker gets a private copy of, or the reason why there is none."""

    key: str  # content address: sha256 over source, toolchain and versions
    folder: str | None
    log: str  # capped head and tail of what compiler and import printed
    seconds: float
    cached: bool
    status: Status | None = None  # COMPILE_ERROR, TIMEOUT or INFRA_ERROR; None when built
    error: str = ""  # the compiler's first error, or the exception's last line

    def __post_init__(self) -> None:
        if (self.folder is None) == (self.status is None):
            raise ValueError("a Build has a folder or a failing status, never both or neither")


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval at `level`; low <= high."""

    low: float
    high: float
    level: float = 0.95

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"interval [{self.low}, {self.high}] is upside down")


@dataclass(frozen=True, slots=True)
class Gate:
    """One check and the positive evidence it gave. `passed` is None where it did not run: that is never a pass."""

    name: str
    passed: bool | None
    evidence: str


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first wrong element of a checked output, and how wrong the output is as a whole."""

    output: str  # "output", "output[1]" or "state running_mean"
    index: tuple[int, ...]
    actual: float
    expected: float
    wrong_elements: int
    total_elements: int


@dataclass(frozen=True, slots=True)
class ErrorFigure:
    """A candidate's worst error over all checked outputs against fp64, beside eager's and the budget it implies."""

    metric: str  # "relative_l2", "centred_l2" or "max"
    candidate: float
    eager: float
    budget: float


@dataclass(frozen=True, slots=True)
class BlockSample:
    """One timed block as it was measured: K back-to-back calls between go and done."""

    side: str  # "candidate", "eager", "compile"
    pair: int
    k: int
    elapsed_us: float
    # Clocks, temperature, what throttles, where the device tells.
    conditions: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not 0 <= self.k <= LARGEST:
            raise ValueError(f"a block of {self.side} has no such count of calls")


@dataclass(frozen=True, slots=True)
class Speedup:
    """Baseline time over candidate time, > 1 is faster. `interval` is None on an uncalibrated device or under quick."""

    baseline: str  # "eager" or "compile"
    value: float
    interval: Interval | None = None
    pairs: tuple[float, ...] = ()  # one ratio a pair of workers

    def __post_init__(self) -> None:
        if not 1 / MOST_SPEEDUP <= self.value <= MOST_SPEEDUP:
            raise ValueError(f"speed-up over {self.baseline} is {self.value}")
        if self.interval is not None and self.interval.low < 0:
            raise ValueError(f"no speed-up lies in [{self.interval.low}, {self.interval.high}]")
        _check_word(self.baseline)

    @property
    def surely_faster(self) -> bool | None:
        """Whether the interval lies above 1; None where there is no interval."""
        return None if self.interval is None else self.interval.low > 1


@dataclass(frozen=True, slots=True)
class Timing:
    """Steady-state time of a call per side, in microseconds, and the raw blocks it came from."""

    latency_us: dict[str, float]  # side -> time of a call
    single_call_us: dict[str, float]  # side -> shortest block of the smallest K, over K: fixed overhead included
    speedups: tuple[Speedup, ...]
    samples: tuple[BlockSample, ...]
    overhead_us: float = 0.0  # of a block of no call: what go and done cost
    flags: tuple[str, ...] = ()  # the keys of report.verdict.FLAG_TEXT
    floor_us: float | None = None  # what moving the bytes alone takes at the best rate measured; None: not measured
    warm_us: dict[str, float] = field(default_factory=dict)  # side -> a call on inputs that caches hold; no score
    warm: tuple[BlockSample, ...] = ()  # whence that comes; outputs of these blocks are not checked

    def __post_init__(self) -> None:
        for side, value in self.latency_us.items():
            if not 0 < value <= LARGEST:
                raise ValueError(f"{side} takes {value} us")
        sides = (sample.side for sample in (*self.samples, *self.warm))
        for word in {*self.latency_us, *self.single_call_us, *self.warm_us, *sides}:
            _check_word(word)

    def speedup(self, baseline: str) -> Speedup | None:
        return next((s for s in self.speedups if s.baseline == baseline), None)


@dataclass(frozen=True, slots=True)
class FailedCall:
    """What it takes to make the failed call again: seeds of the judging it came from, spent and no secret any more."""

    master_seed: int
    input_seed: int
    family: str
    near_seed: int | None  # a near-duplicate of the call made from the same other seeds without it
    weight_seed: int
    calls_before: int  # of its block, on the same weights; matters where forward changes state


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the referee found. Everything in it was measured outside the candidate's process, `claims` excepted."""

    status: Status
    message: str  # one line for a person
    gates: tuple[Gate, ...] = ()
    errors: tuple[ErrorFigure, ...] = ()
    mismatch: Mismatch | None = None
    failed_call: FailedCall | None = None
    timing: Timing | None = None
    calls_made: int = 0
    calls_checked: int = 0
    weights: str = ""  # "by_name", "by_order", "by_seed", "stateless"
    stage_seconds: dict[str, float] = field(default_factory=dict)
    build_seconds: float | None = None
    detail: str = ""  # compiler's message, traceback: the candidate's own words, capped
    sandbox: str = ""
    protocol: str = ""
    device: str = ""
    claims: dict[str, float] = field(default_factory=dict)  # reported from the candidate's process; nothing rests on it

    def __post_init__(self) -> None:
        if self.status is Status.CORRECT and (not self.gates or not all(g.passed for g in self.gates)):
            raise ValueError("a correct verdict needs positive evidence from every gate")
        for word in (self.sandbox, self.protocol, self.device, self.weights):
            _check_word(word)


# ---- what is stored: one Record a line of attempts.jsonl, one RunInfo a run ------------------------------------------


@dataclass(frozen=True, slots=True)
class ReplyFacts:
    """What the provider said of a reply beside its text. None is unknown, never 0.

    Tokens are in the provider's own terms: Anthropic and OpenAI count reasoning within the output, Google beside it. Cached
    ones are part of the input. Of a reply that took several requests (refinement turns, one that broke off) they are summed.
    """

    model: str  # as the server names it
    tokens_input: int | None = None
    tokens_output: int | None = None
    tokens_reasoning: int | None = None
    tokens_cached: int | None = None
    cost_usd: float | None = None
    stop_reason: str | None = None
    latency_s: float | None = None
    reused: bool = False  # a stored reply judged again: its tokens and cost stand on an earlier line
    retries: int | None = None  # requests that the SDK sent again before this reply began
    broken: int = 0  # replies that broke off and were asked for again; what they cost is known in part only
    stop_detail: str | None = None  # the provider's own words on why it stopped, as JSON
    sent: dict[str, object] = field(default_factory=dict)  # the settings as sent; None was left to the provider
    note: str = ""  # why there is no code in it: "cut off at the token limit", "a tool call instead of text"

    def __post_init__(self) -> None:
        counts = (self.tokens_input, self.tokens_output, self.tokens_reasoning, self.tokens_cached, self.cost_usd)
        for value in (*counts, self.latency_s, self.retries, self.broken):
            if value is not None and not 0 <= value <= LARGEST:
                raise ValueError(f"tokens, dollars, seconds and counts of a reply are 0 to {LARGEST:.0e}")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of an attempt with refinement: what was answered, and what the referee said of it."""

    status: Status
    message: str
    solution_hash: str | None
    speedups: dict[str, float] = field(default_factory=dict)  # baseline -> as measured in this turn
    reply: ReplyFacts | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state of an agent's folder that was judged, and when: after how many turns, tokens and seconds of the episode."""

    kind: str  # "verify", "profile" or "final"
    turn: int  # from 1; 0 before the first reply, or where turns are not known
    solution_hash: str
    status: Status
    message: str
    speedups: dict[str, float] = field(default_factory=dict)  # baseline -> as measured then, by one pair of workers
    tokens: int | None = None  # input and output of all replies so far
    seconds: float = 0.0
    changed: tuple[str, ...] = ()  # files that were not the agent's to change, and were


@dataclass(frozen=True, slots=True)
class AgentFacts:
    """How an episode went. The record's own verdict is that of `chosen`, judged once more by the run's protocol."""

    stop_reason: str  # "done", "turns", "context", "time", "refused", "malformed", "exit N" of a program
    turns: int
    tool_calls: dict[str, int]
    malformed_calls: int
    snapshots: tuple[Snapshot, ...]
    chosen: int | None  # place in `snapshots` of the best verified one, else of the last; None where there is none
    final: int | None  # place of the folder's last state
    reward: int  # -1, 1, 2 or 3: arXiv 2602.24286, equation 1, on the times of the record's verdict
    network: str = "none"  # or "host", where the preset of an agent program wants it
    contract: str = ""


def _check_place(name: str) -> None:
    """ValueError where the name of a run or a problem is no folder below the one that it belongs in."""
    if len(name.encode("utf-8", "replace")) > LONGEST_NAME:
        raise ValueError(f"a name of {len(name)} characters, at most {LONGEST_NAME} can be: {name[:20]!r}...")
    _check_printable(name)
    if any(part in ("", ".", "..") for part in name.split("/")):
        raise ValueError(f"a name that leads elsewhere: {name!r}")


def _check_printable(name: str) -> None:
    """ValueError for what would move a reader's cursor, or begin a line of its own in a log."""
    if not name.isprintable():
        raise ValueError(f"a name with control characters: {name!r}")


def _check_word(text: str) -> None:
    """ValueError for what kbench would call nothing."""
    if not WORD.fullmatch(text):
        raise ValueError(f"no name of kbench's: {text[:80]!r}")


def _texts(value: object) -> Iterator[str]:
    """The strings in it, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _texts(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)


def attempt_key(problem_id: str, sample: int) -> str:
    return f"{problem_id}#{sample}"


@dataclass(frozen=True, slots=True)
class Record:
    """One attempt as it ended. It has a status, or the reason why the problem is not run on this device at all.

    `started` and `ended` are ISO 8601 with an offset; `solution_hash` is sha256 of the source judged, None without one.
    """

    run_id: str
    problem_id: str
    level: int
    sample: int  # from 0
    started: str
    ended: str
    status: Status | None
    not_run: str | None = None  # "needs 17.2 GB"
    verdict: Verdict | None = None
    solution_hash: str | None = None
    language: str = "unknown"
    origin: str = ""
    reply: ReplyFacts | None = None  # None where no model was asked
    exempt: bool = False  # a baseline judged as a candidate: no policy applies to it
    key: str = ""  # attempt_key(problem_id, sample); filled in when empty
    schema: int = SCHEMA_VERSION
    turns: tuple[Turn, ...] = ()  # of refinement, the first to the last; empty for a single turn
    agent: AgentFacts | None = None  # where the attempt was an episode of an agent

    def __post_init__(self) -> None:
        key = attempt_key(self.problem_id, self.sample)
        if not self.key:
            object.__setattr__(self, "key", key)
        if self.key != key or self.sample < 0:
            raise ValueError(f"attempt {self.key!r} is sample {self.sample} of {self.problem_id}")
        _check_place(self.problem_id)
        if (self.status is None) == (self.not_run is None):
            raise ValueError(f"{key} has a status or a reason why it is not run, never both or neither")
        if self.verdict is not None and self.verdict.status is not self.status:
            raise ValueError(f"{key} is {self.status} and its verdict {self.verdict.status}")
        if self.status is Status.CORRECT and self.verdict is None:
            raise ValueError(f"{key} is correct without a verdict")
        if self.not_run is not None and not (self.not_run and self.not_run.isprintable()):
            raise ValueError(f"{key} is not run, and the reason is no line of text")
        named = LEVEL.match(self.problem_id)
        if named is not None and int(named[1]) != self.level:
            raise ValueError(f"{key} is said to be of level {self.level}")

    @property
    def settled(self) -> bool:
        """Whether a resumed run leaves this attempt alone."""
        return self.status is not Status.INFRA_ERROR


@dataclass(frozen=True, slots=True)
class RunInfo:
    """run.json: what was run and where. `problems` is the selection in its order, problem id to content hash."""

    run_id: str
    created: str
    kbench_version: str
    config: dict[str, object]  # resolved; never a key or a secret
    environment: dict[str, object]
    protocol: dict[str, object]
    suite_hash: str
    problems: dict[str, str]
    samples: int = 1  # attempts a problem that were asked for
    schema: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        judged = [
            self.config.get(name, "") for name in ("model", "device", "shapes", "precision", "protocol", "policy")
        ]
        for text in _texts([*judged, self.environment, self.protocol, self.kbench_version, self.created]):
            _check_printable(text)
        for name in (self.run_id, *self.problems):
            _check_place(name)
        if not 1 <= self.samples <= MOST_SAMPLES:
            raise ValueError(f"{self.samples} samples a problem; 1 to {MOST_SAMPLES} can be")
        if self.samples * len(self.problems) > MOST_ATTEMPTS:
            raise ValueError(
                f"{self.samples} samples of {len(self.problems)} problems are more than {MOST_ATTEMPTS} attempts"
            )
