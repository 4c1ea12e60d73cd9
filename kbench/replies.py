"""Replies on the disk: those of a run in its folder, and all of them in a cache that is keyed by everything that can change one.

`keep` writes a reply the moment it is whole, so that a killed process loses none. `settle`, by whoever takes the reply and not by
the one who asks on, syncs it, so that a power cut loses none that was judged, and writes what can be made again: the texts for
people, and the cache. Errors are never kept; a reply without a text is kept as what became of its attempt, but never put
into the cache.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

from kbench.artifacts import place_of
from kbench.files import make_durable, write_atomic
from kbench.models import Reply, Request
from kbench.models.kept import read_reply, reply_entry, reply_name
from kbench.store import RunStore
from kbench.types import attempt_key


def reply_key(identity: dict[str, object], request: Request) -> str:
    """sha256 over the model's identity, the whole conversation and the sample's number."""
    said = [request.system, *([message.role, message.text] for message in request.messages)]
    text = json.dumps([identity, said, request.sample], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class Replies:
    """`cache` is None where no reply of another run is to be used."""

    def __init__(self, store: RunStore, identity: dict[str, object], cache: Path | None) -> None:
        self.store, self.identity = store, identity
        self.cache = cache / "replies" if cache is not None else None

    def find(self, request: Request) -> Reply | None:
        """The reply to exactly this request, from this run or another."""
        key = reply_key(self.identity, request)
        kept = read_reply(reply_path(self.store.folder, request), key)
        if kept is not None or self.cache is None:
            return kept
        cached = read_reply(self._cached(key), key)
        if cached is None or cached.facts is None:
            return None
        reused = replace(cached, facts=replace(cached.facts, reused=True))
        self.keep(request, reused)
        return reused

    def keep(self, request: Request, reply: Reply) -> None:
        self._write(request, reply_name(request.turn), reply_entry(reply, reply_key(self.identity, request)))

    def settle(self, request: Request, reply: Reply) -> None:
        """Of a reply that `find` or `keep` has put into the run."""
        path = reply_path(self.store.folder, request)
        made = path.with_name(f"reply.{request.turn}.txt")
        if made.exists():
            return
        make_durable(path)
        key = reply_key(self.identity, request)
        if self.cache is not None and reply.text.strip() and not self._cached(key).exists():
            write_atomic(self._cached(key), reply_entry(reply, key), durable=False)
        self._write(request, f"prompt.{request.turn}.txt", conversation(request))
        self._write(request, made.name, reply.text)

    def _write(self, request: Request, name: str, text: str) -> None:
        self.store.write_artifact(attempt_key(request.problem.id, request.sample), name, text, durable=False)

    def _cached(self, key: str) -> Path:
        assert self.cache is not None
        return self.cache / key[:2] / f"{key}.json"


def reply_path(folder: Path, request: Request) -> Path:
    return place_of(folder, request.problem.id, request.sample) / reply_name(request.turn)


def conversation(request: Request) -> str:
    """The request as a person reads it."""
    parts = [("system", request.system), *((message.role, message.text) for message in request.messages)]
    return "\n\n".join(f"===== {role} =====\n\n{text.rstrip()}" for role, text in parts if text) + "\n"
