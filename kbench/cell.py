"""What must be equal for two runs to be ranked or compared: the problems, the device, and how they were judged."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields

from kbench.inert import one_line
from kbench.types import RunInfo


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """Figures of different cells answer different questions, so they never stand in one ranking."""

    suite: str  # hash over the ids and contents of the problems that were asked for
    shapes: str
    device: str
    precision: str
    protocol: str
    policy: str
    kbench: str  # major version

    @property
    def title(self) -> str:
        """For people: "AMD EPYC, 2 cores; fp32, small shapes; strict protocol, custom policy; kbench 0"."""
        return (
            f"{self.device}; {self.precision}, {self.shapes} shapes; {self.protocol} protocol, {self.policy} policy; "
            f"kbench {self.kbench}; problems {self.suite[:8]}"
        )


def suite_hash_of(problems: Mapping[str, str]) -> str:
    """sha256 over the problems' ids and content hashes, in no order."""
    lines = sorted(f"{problem} {content_hash}\n" for problem, content_hash in problems.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def cell_of(info: RunInfo) -> Cell:
    config = {name: str(value) for name, value in info.config.items()}
    values = {
        "suite": info.suite_hash,
        "shapes": config.get("shapes", "?"),
        "device": device_name(info),
        "precision": config.get("precision", "?"),
        "protocol": str(info.protocol.get("name", config.get("protocol", "?"))),
        "policy": config.get("policy", "?"),
        "kbench": info.kbench_version.partition(".")[0],
    }
    return Cell(**{name: one_line(value) for name, value in values.items()})


def device_name(info: RunInfo) -> str:
    """The device's model. A CPU's cores are part of it: they are what the candidate ran on."""
    facts = info.environment
    name = str(facts.get("model") or facts.get("name") or info.config.get("device", "unknown device"))
    return f"{name}, {facts['cores']} cores" if facts.get("device") == "cpu" and "cores" in facts else name


def differing(first: Cell, second: Cell) -> list[str]:
    """One phrase a difference, empty within one cell."""
    return [
        f"{field.name} {_short(before)} against {_short(after)}"
        for field in fields(Cell)
        if (before := getattr(first, field.name)) != (after := getattr(second, field.name))
    ]


def _short(text: str) -> str:
    return text[:12] if len(text) == 64 and " " not in text else text
