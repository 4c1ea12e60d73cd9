"""Where a run keeps what belongs to one attempt (prompts, replies, the solution, a trajectory), and the solution as it was judged.

Not covered: writing them, which is the store's, and the pages, which follow no link on the way.
"""

from __future__ import annotations

from pathlib import Path

from kbench.errors import SchemaError
from kbench.files import read_plain
from kbench.source import source_hash

ARTIFACTS = "artifacts"
SOLUTION = "solution.py"


def place_of(run: Path, problem: str, sample: int | str) -> Path:
    """The folder of one attempt below that of its run."""
    return run / ARTIFACTS / problem / str(sample)


def judged_source(path: Path, wanted: str | None) -> str:
    """A stored solution, its odd bytes as surrogates. SchemaError where it is not there, or is not the one with that hash."""
    data = read_plain(path)
    if data is None:
        raise SchemaError("the solution that was judged is not stored")
    source = data.decode("utf-8", "surrogateescape")
    if source_hash(source) != wanted:
        raise SchemaError("the stored solution is not the one that was judged")
    return source
