"""An episode as JSON lines, each on the disk before the next thing is done: to resume, to show, to export, to judge again.

begin     what was asked: task, tools, contract            reply     what the model said, its calls and its usage
result    what a call was answered with                    snapshot  a judged state, its source beside the file by its hash
note      our words to the model                           end       why it ended
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kbench.codec import decode, encode
from kbench.errors import SchemaError
from kbench.files import cannot_write, json_text, write_atomic
from kbench.models import Reply, Request
from kbench.types import SCHEMA_VERSION, Snapshot

NAME, WORKDIR = "trajectory.jsonl", "workdir.tar"


def source_name(solution_hash: str) -> str:
    return f"snapshot-{solution_hash[:16]}.py"


class Trajectory:
    """The one writer of an episode's file. `find` and `keep` are those of the one who asks the model."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / NAME
        self.lock = threading.Lock()
        folder.mkdir(parents=True, exist_ok=True)
        self.events = whole_events(self.path) if self.path.exists() else []
        self._drop_open_turn()
        self.file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)

    def _drop_open_turn(self) -> None:
        """Of a turn that a kill cut off the reply is kept, for it is paid; its calls are carried out again."""
        replies = [at for at, event in enumerate(self.events) if event["event"] == "reply"]
        if replies and not self.ended:
            last = replies[-1]
            wanted = len(self.events[last]["reply"]["calls"])
            after = [event for event in self.events[last + 1 :] if event["event"] == "result"]
            if wanted == 0 or len(after) < wanted:
                self.events = self.events[: last + 1]
        if self.path.exists():
            write_atomic(self.path, "".join(line_of(event) for event in self.events))

    @property
    def ended(self) -> str | None:
        """Why the episode ended; None where it did not, or only its machinery failed."""
        return next((str(e["stop_reason"]) for e in reversed(self.events) if e["event"] == "end"), None)

    def add(self, event: str, **fields: Any) -> None:
        entry = {"event": event, **fields}
        with self.lock:
            self.events.append(entry)
            try:
                os.write(self.file, line_of(entry).encode("ascii"))
                os.fsync(self.file)
            except OSError as error:
                raise cannot_write(self.path, error) from error

    def begin(self, **fields: Any) -> None:
        if not self.events:
            self.add("begin", schema=SCHEMA_VERSION, **fields)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == kind]

    def find(self, request: Request) -> Reply | None:
        """The reply of that turn. The conversation before it is this file's own, so it is the same."""
        found = next((e for e in self.of("reply") if e["turn"] == request.turn), None)
        return decode(Reply, found["reply"]) if found is not None else None

    def keep(self, request: Request, reply: Reply) -> None:
        self.add("reply", turn=request.turn, reply=json.loads(json_text(reply)))

    def snapshots(self) -> list[Snapshot]:
        return [decode(Snapshot, event["snapshot"]) for event in self.of("snapshot")]

    def add_snapshot(self, snapshot: Snapshot, source: str) -> None:
        path = self.folder / source_name(snapshot.solution_hash)
        if not path.exists():
            write_atomic(path, source.encode("utf-8", "surrogateescape"))
        self.add("snapshot", snapshot=encode(snapshot))

    def source(self, solution_hash: str) -> str:
        return (self.folder / source_name(solution_hash)).read_bytes().decode("utf-8", "surrogateescape")

    def workdir(self) -> bytes | None:
        """A tar of the folder as it was after the last whole turn."""
        path = self.folder / WORKDIR
        return path.read_bytes() if path.exists() else None

    def keep_workdir(self, data: bytes) -> None:
        write_atomic(self.folder / WORKDIR, data, durable=False)

    def seconds(self) -> float:
        return max((float(event.get("seconds", 0.0)) for event in self.events), default=0.0)

    def close(self) -> None:
        os.close(self.file)


def line_of(event: dict[str, Any]) -> str:
    return json.dumps(event, separators=(",", ":")) + "\n"


def whole_events(path: Path) -> list[dict[str, Any]]:
    """Every whole line; a torn end is passed over. SchemaError for a line before the end that is none."""
    lines = path.read_bytes().split(b"\n")
    events: list[dict[str, Any]] = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            event = json.loads(line)
            event["event"]
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines):
                break
            raise SchemaError(f"{path}:{number}: is no event of a trajectory") from error
        events.append(event)
    return events


def chat(events: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The episode in the chat format that fine-tuning tools read: messages and tools."""
    messages: list[dict[str, Any]] = []
    tools: list[dict[str, Any]] = []
    for event in events:
        match event["event"]:
            case "begin":
                tools = [{"type": "function", "function": tool} for tool in event["tools"]]
                messages += [{"role": "system", "content": event["system"]}] if event["system"] else []
                messages.append({"role": "user", "content": event["task"]})
            case "reply":
                messages.append(_assistant(event["reply"]))
            case "result":
                messages.append(
                    {"role": "tool", "tool_call_id": event["id"], "name": event["name"], "content": event["text"]}
                )
            case "note":
                messages.append({"role": "user", "content": event["text"]})
    return {"messages": messages, "tools": tools}


def _assistant(reply: dict[str, Any]) -> dict[str, Any]:
    calls = [
        {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}}
        for c in reply["calls"]
    ]
    thought = {"reasoning_content": reply["thinking"]} if reply.get("thinking") else {}
    return {"role": "assistant", "content": reply["text"], **thought, **({"tool_calls": calls} if calls else {})}
