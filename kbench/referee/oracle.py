"""The lane's end of the oracle: the problem's own code in a process of its own, asked for inputs, weights and answers."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from kbench import freezer
from kbench.candidate import memory, protocol
from kbench.devices import Area, Device
from kbench.errors import ProblemError, RefereeError
from kbench.processes import Server, spawn
from kbench.referee.case import TORCH_DTYPE, ProblemCase
from kbench.referee.layout import Layout, Leaf
from kbench.types import Precision

ORACLE_LIMIT_S = 300.0
_FRAME = re.compile(r'problem\.py", line (\d+), in (\S+)')


class Oracle:
    """Describes the problem first; then the areas get their sizes. `staging` is the lane's truth about every input."""

    def __init__(self, box: Server, folder: Path, device: Device, role: str = "oracle") -> None:
        self.device = device
        self.staging: Area = device.area("staging")
        self.expected: Area = device.area("expected")
        self.hold = freezer.create(f"kbench-{os.getpid()}-oracle-{os.urandom(3).hex()}", None)
        descriptor, path = tempfile.mkstemp(prefix="oracle-", suffix=".log", dir=folder)
        request = {"role": role, "limits": {"RLIMIT_CORE": 0}}
        spawned = spawn(box, request, [self.staging.fd, self.expected.fd], descriptor, self.hold)
        os.close(descriptor)
        self.log_path, self.channel = Path(path), spawned.channel
        self.channel.settimeout(ORACLE_LIMIT_S)

    def ask(self, **request: Any) -> dict[str, Any]:
        """One request and its answer. ProblemError where the problem's own code raised; RefereeError where it died."""
        self.device.settle()
        try:
            protocol.send(self.channel, request)
            answer = protocol.receive(self.channel)
        except (OSError, protocol.WireError) as error:
            raise RefereeError(f"the oracle did not answer {request['do']!r}: {error}") from error
        if answer is None:
            raise RefereeError(f"the oracle died during {request['do']!r} (out of memory?)")
        if "failed" in answer:
            frames = _FRAME.findall(answer.get("text", ""))
            where = "line {}, in {}: ".format(*frames[-1]) if frames else ""
            raise ProblemError(f"{where}{answer['failed']}")
        return answer

    def describe(self, problem: ProblemCase, path: str, seed: int) -> dict[str, Any]:
        return self.ask(
            do="describe", path=path, shape=problem.shape, precision=TORCH_DTYPE[problem.precision],
            device=problem.device, tf32=problem.precision is Precision.TF32, mode=problem.mode, seed=seed,
            noise_buffers=list(problem.noise_buffers),
        )  # fmt: skip

    def map(self, layout: Layout, arguments: Any) -> None:
        self.staging.allocate(layout.region_bytes)
        self.expected.allocate(layout.expected_bytes)
        tickets = {"staging": self.staging.ticket(), "expected": self.expected.ticket()}
        self.ask(do="map", tickets=tickets, leaves=[leaf.plain() for leaf in layout.leaves], arguments=arguments)

    def value(self, leaf: Leaf) -> torch.Tensor:
        """A view of the expected area as the leaf's tensor; valid until the next `expect`."""
        return memory.view(self.expected.flat, leaf.offset, leaf.dtype, leaf.shape, leaf.stride)

    def expect(
        self, layout: Layout, bases: Sequence[int], want: Sequence[int], state: bool, stateful: bool
    ) -> set[tuple[int, int]]:
        """Fills the expected area for the calls at `want`; the (place, output) pairs whose output is a selection's indices."""
        answer = self.ask(
            do="expect", bases=list(bases), want=list(want), stateful=stateful,
            targets=[[a.plain() for a in row] for row in layout.answers[: len(want)]],
            state=[a.plain() for a in layout.state_answers] if state else [],
        )  # fmt: skip
        return {(place, output) for place, output in answer["selected"]}

    def close(self) -> None:
        self.channel.close()
        self.hold.close()
        self.staging.close()
        self.expected.close()
