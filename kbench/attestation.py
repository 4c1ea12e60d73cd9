"""What `kbench verify` found, kept beside the run and bound to its attempts: a later change of them voids it.

It is a note for whoever runs the leaderboard, not a signature: who can write the run folder can write this file too.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from kbench.codec import decode
from kbench.errors import KBenchError
from kbench.files import json_text, open_plain, read_json, write_atomic
from kbench.store import ATTEMPTS, RUN
from kbench.types import SCHEMA_VERSION
from kbench.words import counted

FILE = "verification.json"


@dataclass(frozen=True, slots=True)
class Attestation:
    kbench_version: str
    when: str
    content: str  # content_hash of the run that was verified
    findings: tuple[str, ...]
    rejudged: tuple[str, ...] = ()  # attempts that were judged again
    schema: int = SCHEMA_VERSION


def content_hash(folder: Path) -> str:
    """sha256 over run.json and attempts.jsonl."""
    digest = hashlib.sha256()
    for name in (RUN, ATTEMPTS):
        path = folder / name
        if path.exists():
            with open_plain(path) as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def write(folder: Path, attestation: Attestation) -> None:
    """Leaves a file alone that says the same already, of another time."""
    before = read(folder)
    if before is not None and replace(before, when=attestation.when) == attestation:
        return
    write_atomic(folder / FILE, json_text(attestation, indent=1) + "\n")


def read(folder: Path) -> Attestation | None:
    """None where there is none that can be read."""
    try:
        return decode(Attestation, read_json(folder / FILE))
    except (OSError, KBenchError):
        return None


def doubt(folder: Path) -> str | None:
    """Why the run does not count as verified, in two or three words; None where it does."""
    found = read(folder)
    if found is None:
        return "unverified"
    if found.content != content_hash(folder):
        return "changed since it was verified"
    return f"verify found {counted(len(found.findings), 'difference')}" if found.findings else None
