"""A tool-using loop round the straight line: a model, or an agent program, works in a folder of its own and asks the referee.

contract     the folder: what stands in it, what may be changed, what of it is the solution
box          the folder in a sandbox with a shell; gate: compile, verify, profile, served from outside it
loop         model, tools, model, ... until an end that is declared; command: any agent program in the loop's place
trajectory   all of it as JSON lines, to resume, to show, to export; outcome: the best of it
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from kbench.errors import ConfigError

TASK_VERSION = "1"  # of the words that an agent is told
CONTRACTS = ("auto", "single", "cuda-agent")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How long an episode may take, and in what folder. All of it is part of the run's identity, the times excepted."""

    max_turns: int = 200  # arXiv 2602.24286, section 4.1
    context_tokens: int = 131_072  # the episode ends where a request was longer; None of it is cut away
    contract: str = "auto"  # cuda-agent where there is a GPU, else single
    template: str | None = None  # a folder that stands in for the contract's own
    tools: str | None = None  # a TOML file: names and schemas of the tools
    command_s: float = 600.0  # of one shell command, without the time it waits for the referee
    episode_s: float = 4 * 3600.0
    output_chars: int = 30_000  # of one tool's answer: head and tail
    agents: int = 4  # episodes at once
    disk_bytes: int = 512 << 20
    memory_bytes: int = 6 << 30

    def __post_init__(self) -> None:
        if self.contract not in CONTRACTS:
            raise ConfigError(f"--contract {self.contract!r}: give one of {', '.join(CONTRACTS)}")

    def identity(self) -> dict[str, object]:
        task = {"task": TASK_VERSION}
        contents = {"template": digest(self.template), "tools": digest(self.tools)}
        names = ("max_turns", "context_tokens", "contract", "output_chars")
        return {**task, **contents, **{name: getattr(self, name) for name in names}}


def digest(path: str | None) -> str | None:
    """sha256 over a file's bytes, or over a folder's files and their names. ConfigError where it is not there."""
    if path is None:
        return None
    top = Path(path)
    if not top.exists():
        raise ConfigError(f"{path}: there is no such file or folder")
    files = sorted(p for p in top.rglob("*") if p.is_file() and ".git" not in p.parts) if top.is_dir() else [top]
    whole = hashlib.sha256()
    for file in files:
        whole.update(str(file.relative_to(top)).encode() + b"\0" + file.read_bytes() + b"\0")
    return whole.hexdigest()
