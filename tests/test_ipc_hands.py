"""What the lane accepts of a worker's account of its device memory. The driver is replaced: no GPU is needed for this."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from kbench.candidate import driver, memory
from kbench.devices import ipc
from kbench.referee.outputs import Wrong
from kbench.referee.rounds import Rounds
from kbench.referee.watch import Again
from kbench.types import Status

SIZE = 4096


class FakeDriver:
    """Handles "a", "b", ... name memories of SIZE bytes."""

    def __init__(self) -> None:
        self.memories: dict[str, torch.Tensor] = {}
        self.detached: list[int] = []

    def attach(self, handle: str) -> int:
        return self.memories.setdefault(handle, torch.zeros(SIZE, dtype=torch.uint8)).data_ptr()

    def device_bytes(self, address: int, size_bytes: int) -> torch.Tensor:
        return next(m for m in self.memories.values() if m.data_ptr() == address)[:size_bytes]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeDriver:
    made = FakeDriver()
    monkeypatch.setattr(driver, "attach", made.attach)
    monkeypatch.setattr(driver, "detach", made.detached.append)
    monkeypatch.setattr(driver, "allocation_of", lambda address: (address, SIZE))
    monkeypatch.setattr(memory, "device_bytes", made.device_bytes)
    return made


def hands() -> ipc.IpcHands:
    region: Any = SimpleNamespace(size_bytes=SIZE, flat=torch.full((SIZE,), 7, dtype=torch.uint8))
    return ipc.IpcHands(region)


def account(*held: tuple[int, str]) -> dict[str, Any]:
    return {"held": [list(pair) for pair in held], "region": 1 << 40}


def test_an_output_is_read_and_written_where_the_worker_says_its_segment_lies(fake: FakeDriver) -> None:
    mine = hands()
    assert not mine.holds([(10_000, 4)])
    assert mine.learn(account((10_000, "a"), (50_000, "b")))
    assert mine.holds([(10_000, SIZE), (50_004, 100)])
    assert mine.write(50_004, torch.full((3,), 9, dtype=torch.uint8))
    assert fake.memories["b"][3:8].tolist() == [0, 9, 9, 9, 0]
    taken = mine.read(50_004, 3)
    assert taken is not None
    fake.memories["b"].zero_()
    assert taken.tolist() == [9, 9, 9]  # a copy


def test_what_reaches_beyond_a_segment_is_not_held(fake: FakeDriver) -> None:
    mine = hands()
    mine.learn(account((10_000, "a")))
    assert not mine.holds([(10_000 + SIZE - 2, 4)])
    assert mine.read(10_000 + SIZE - 2, 4) is None
    assert not mine.write(9_999, torch.zeros(1, dtype=torch.uint8))


@pytest.mark.parametrize(
    "held", [((10_000, "a"), (10_000 + SIZE - 1, "b")), ((10_000, "a"), (90_000, "a"))], ids=["addresses", "memory"]
)
def test_segments_that_share_addresses_or_memory_are_refused(fake: FakeDriver, held: Any) -> None:
    with pytest.raises(ValueError, match="memor"):
        hands().learn(account(*held))


def test_a_segment_that_was_given_back_is_forgotten_and_the_change_is_news(fake: FakeDriver) -> None:
    mine = hands()
    assert mine.learn(account((10_000, "a")))
    assert not mine.learn(account((10_000, "a")))
    assert mine.learn(account((10_000, "b")))
    assert fake.detached == [fake.memories["a"].data_ptr()]
    fake.memories["b"][0] = 5
    taken = mine.read(10_000, 1)
    assert taken is not None
    assert taken.tolist() == [5]


def test_the_input_region_is_readable_and_known_as_such(fake: FakeDriver) -> None:
    mine = hands()
    mine.learn(account((10_000, "a")))
    assert mine.in_inputs([((1 << 40) + 8, 16), (10_000, 16)]) == [True, False]
    taken = mine.read((1 << 40) + 8, 2)
    assert taken is not None
    assert taken.tolist() == [7, 7]


def test_a_wrong_answer_is_excused_by_new_segments_once_and_not_where_outputs_are_clones() -> None:
    # A candidate that took a new segment in every block it cheated in was played again, and never refused for it.
    wrong = Wrong(Status.INCORRECT, "values", "output: no")

    def refused(*_: Any) -> None:
        raise wrong

    rounds = Rounds.__new__(Rounds)
    rounds.checks = SimpleNamespace(block=refused, forget_failure=lambda: None)  # type: ignore[assignment]
    rounds.recipes = {}
    worker: Any = SimpleNamespace(hands=SimpleNamespace(told=True), clone=False, learn_segments=lambda addresses: True)
    block: Any = SimpleNamespace(slots=())
    with pytest.raises(Again):
        rounds.check(worker, block, [])
    assert worker.clone
    with pytest.raises(Wrong):
        rounds.check(worker, block, [])
