"""Candidates that are files: what their docstrings say, and their judging."""

from __future__ import annotations

import re
from pathlib import Path

from kbench import registry
from kbench.evaluate import Session, read_solution
from kbench.types import Verdict

RELU = "level1/019_relu"


def header(path: Path, name: str, default: str) -> str:
    found = re.search(rf"{name}:\s*([^\n\"]+)", path.read_text())
    return found.group(1).strip() if found else default


def judge(session: Session, path: Path) -> Verdict:
    problem = registry.find(registry.discover(), header(path, "problem", RELU))
    return session.judge(problem, read_solution(path))
