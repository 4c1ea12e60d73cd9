"""Stored replies and solutions, judged without asking a model.

replay/PATH   a KernelBench run folder   level_{L}_problem_{P}_sample_{S}_kernel.py
              a kbench run folder        artifacts/level1/019_relu/0/{reply.0.json,reply.txt,solution.py}; also after `kbench generate`
              a folder of solutions      [level1/]019_relu[__anything].py; .txt and .md are replies to take code from
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kbench.artifacts import ARTIFACTS, SOLUTION, place_of
from kbench.errors import ConfigError
from kbench.export import kernel_files
from kbench.extract import detect_language
from kbench.models import Reply, Request
from kbench.models.kept import read_reply, reply_name
from kbench.models.refusal import is_refusal
from kbench.registry import number_of
from kbench.store import ATTEMPTS
from kbench.types import Problem, Solution

SUFFIXES = (".py", ".txt", ".md")


class Replay:
    exempt = False

    def __init__(self, path: str) -> None:
        self.name, self.folder = f"replay/{path}", Path(path)
        if not path:
            raise ConfigError("replay/PATH: give the folder of solutions or replies, as in replay/solutions")
        if not self.folder.is_dir():
            raise ConfigError(f"{path}: no folder of solutions or replies there")
        self.kernels = {(k.level, k.number, k.sample): k.path for k in kernel_files(self.folder)}
        self.files = sorted(p for p in self.folder.rglob("*") if p.suffix in SUFFIXES and p.is_file())
        if not self.kernels and not self.files:
            raise ConfigError(f"{path}: holds no solution (.py) and no reply (.txt, .md)")

    def generate(self, request: Request) -> Reply | None:
        path = self.find(request)
        if path is None:
            return None
        if path.name == reply_name(0):
            return self.kept_reply(path)
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        if path.suffix == ".py":
            return Reply(solution=Solution(text, str(path), detect_language(text)), origin=str(path))
        return Reply(text, refused=is_refusal(text), origin=str(path))

    def kept_reply(self, path: Path) -> Reply | None:
        """A model's reply with all that was known of it. It cost nothing now where its run has told its cost already."""
        reply = read_reply(path)
        if reply is None or reply.facts is None:
            return reply
        return replace(reply, facts=replace(reply.facts, reused=reply.facts.reused or self.told), origin=str(path))

    @property
    def told(self) -> bool:
        attempts = self.folder / ATTEMPTS
        return attempts.is_file() and attempts.stat().st_size > 0

    def covers(self, problem: Problem) -> bool:
        """Whether anything is stored for the problem at all."""
        if self.kernels:
            return any(level == problem.level and number == number_of(problem.id) for level, number, _ in self.kernels)
        return self.find(Request(problem, 0)) is not None

    def find(self, request: Request) -> Path | None:
        problem, sample = request.problem, request.sample
        if self.kernels:
            return self.kernels.get((problem.level, number_of(problem.id), sample))
        stored = place_of(self.folder, problem.id, sample)
        if (self.folder / ARTIFACTS).is_dir():
            first = stored / reply_name(0)
            if first.is_file() and not (stored / reply_name(1)).is_file():
                return first
            kept = [stored / name for name in ("reply.txt", SOLUTION) if (stored / name).is_file()]
            return kept[0] if kept else None
        named = [path for path in self.files if self.belongs(path, problem.level, problem.name)]
        return named[sample] if sample < len(named) else None

    def belongs(self, path: Path, level: int, name: str) -> bool:
        """Whether a file's name is the problem's, and it lies in the folder itself or in its level's."""
        if path.stem != name and not path.stem.startswith(f"{name}__"):
            return False
        return path.relative_to(self.folder).parts[:-1] in ((), (f"level{level}",))
