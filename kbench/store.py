"""A run on the disk: run.json, attempts.jsonl with one line an attempt, artifacts/. One writer, any number of readers.

A line is appended with one write and synced before `append` returns. What a kill or a full disk leaves half written is
told from what is whole: readers pass over it, the next writer moves it aside. No whole record is ever lost or changed.
Not covered: what the records mean (aggregate).
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from kbench.artifacts import ARTIFACTS
from kbench.cell import device_name
from kbench.codec import decode, decode_json
from kbench.errors import ConfigError, SchemaError
from kbench.files import cannot_write, json_text, open_plain, read_json, write_atomic
from kbench.types import SCHEMA_VERSION, Record, RunInfo

T = TypeVar("T")
ATTEMPTS, RUN, LOCK = "attempts.jsonl", "run.json", ".lock"
RECORD_START = b'{"run_id":'  # Record's first field; inside a JSON string its quotes would be escaped
# Blocks of a Timing; taken out unread, for reading them takes the longest.
SAMPLES = re.compile(rb'"(samples|warm)":\[[^\]]*\]')


@dataclass(frozen=True, slots=True)
class Run:
    """A run as it stands on the disk: every whole record in the order written, superseded ones included."""

    folder: Path
    info: RunInfo
    records: tuple[Record, ...]


def load(folder: Path, raw_samples: bool = True) -> Run:
    """Read a run without touching it; a torn end is passed over. `raw_samples=False` leaves out the timed blocks, which
    are most of a large run's bytes and which a summary does not need.

    ConfigError where `folder` is no run; SchemaError, with file and line, for what no kill could have left behind or a
    newer kbench wrote.
    """
    info = read_info(folder)
    lines = _scan(folder / ATTEMPTS, raw_samples)
    return Run(folder, info, tuple(record for line in lines for record in line.records))


def read_info(folder: Path) -> RunInfo:
    """run.json. ConfigError where there is none."""
    path = folder / RUN
    try:
        value = read_json(path)
    except FileNotFoundError as error:
        raise ConfigError(f"{folder}: no run here (it has no {RUN})") from error
    return _decode(RunInfo, value, str(path))


def latest(records: Sequence[Record]) -> list[Record]:
    """The last record of each attempt, in the order in which the attempts first appear."""
    return list({record.key: record for record in records}.values())


class RunStore:
    """The one writer of a run folder. Opening it takes the folder's lock and repairs a torn end.

    ConfigError where another process writes here or the folder cannot be written; SchemaError, the file unchanged,
    where attempts.jsonl is damaged beyond what a kill can do.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._settled: dict[str, bool] = {}
        self._cleared: set[Path] = set()  # folders without halves
        self._lock = _lock(folder)
        try:
            self._repair()
            self._file = os.open(folder / ATTEMPTS, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        except OSError as error:
            os.close(self._lock)
            raise cannot_write(folder / ATTEMPTS, error) from error
        except BaseException:
            os.close(self._lock)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._lock >= 0:
            os.close(self._file)
            os.close(self._lock)
            self._lock = -1

    def begin(self, info: RunInfo) -> RunInfo:
        """Write run.json, or find that it is there and of the same run: the one that holds is returned.

        Replies may be asked for on one machine and judged on another: the environment is that of the attempts. ConfigError
        names what differs: attempts under two configurations, or on two devices, do not mix in one folder.
        """
        stored = read_info(self.folder) if (self.folder / RUN).exists() else None
        if stored is not None:
            differing = _differing(stored, info)
            judges = "device" in info.environment  # who only asks for replies does not say what will judge them
            if judges and self._settled and device_name(stored) != device_name(info):
                differing.append(f"device ({device_name(stored)}; this is {device_name(info)})")
            if differing:
                raise ConfigError(
                    f"{self.folder}: holds a run with another {', '.join(differing)}; give another --run-id"
                )
            if self._settled:
                return stored
        write_atomic(self.folder / RUN, json_text(info, indent=2) + "\n")
        return info

    def append(self, record: Record) -> None:
        """Add one line, on the disk when this returns. ConfigError on a full disk, the records before it untouched.

        SchemaError, and nothing written, for a record that could not be read back: one such line closes a run for good.
        """
        size = os.fstat(self._file).st_size
        data = to_line(record)
        _decode(Record, json.loads(data), record.key)
        try:
            while data:  # once, but for a full disk: that takes a part without an error, and the next write has it
                data = data[os.write(self._file, data) :]
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, size)
            raise cannot_write(self.folder / ATTEMPTS, error) from error
        self._settled[record.key] = record.settled

    def done_keys(self) -> frozenset[str]:
        """The attempts that are not to be made again: the last record of each says how the kernel, or its problem, did;
        an infrastructure error says nothing of either."""
        return frozenset(key for key, settled in self._settled.items() if settled)

    def write_artifact(self, key: str, name: str, data: str | bytes, durable: bool = True) -> str:
        """Keep a prompt, reply, source or log of an attempt; its path relative to the run folder is returned."""
        parts = [*re.split(r"[/#]", key), name]
        if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts):
            raise ValueError(f"no artifact can be called {key!r}, {name!r}")
        relative = Path(ARTIFACTS, *parts)
        write_atomic(self.folder / relative, data, durable)
        if relative.parent not in self._cleared:
            self._cleared.add(relative.parent)
            _drop_halves(self.folder / relative.parent)
        return str(relative)

    def _repair(self) -> None:
        path = self.folder / ATTEMPTS
        _drop_halves(self.folder)
        size, rewrite, fragments = 0, False, list[bytes]()
        for line in _scan(path, raw_samples=False):
            self._settled |= {record.key: record.settled for record in line.records}
            fragments += line.fragments
            size += len(line.whole)
            rewrite |= line.damaged and bool(line.records)
        if fragments:
            aside = next(p for n in range(1, 10**6) if not (p := path.with_name(f"{ATTEMPTS}.torn-{n}")).exists())
            write_atomic(aside, b"\n".join(fragments) + b"\n")
        if rewrite:
            write_atomic(path, b"".join(line.whole for line in _scan(path, raw_samples=False)))
        elif fragments:
            # In place: that needs no space, and the commonest cause of a torn end is a disk that had none.
            os.truncate(path, size)


def to_line(record: Record) -> bytes:
    """The record as one line of JSON in ASCII, newline included."""
    return (json_text(record) + "\n").encode("ascii")


@dataclass(frozen=True, slots=True)
class _Line:
    records: tuple[Record, ...]
    whole: bytes  # what of it stays: its records, each with a newline
    fragments: tuple[bytes, ...] = ()
    damaged: bool = False


def _scan(path: Path, raw_samples: bool) -> Iterator[_Line]:
    """attempts.jsonl line by line. SchemaError names the first line that is not a record and holds no whole one."""
    try:
        with open_plain(path) as file:
            for number, data in enumerate(file, start=1):
                yield _read_line(data, f"{path}:{number}", raw_samples)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error


def _read_line(data: bytes, where: str, raw_samples: bool) -> _Line:
    ended = data.endswith(b"\n")
    if ended and not data.strip():
        return _Line((), data)
    text = data if raw_samples else SAMPLES.sub(rb'"\1":[]', data)
    quick = decode_json(Record, text)
    if quick is not None and quick.schema <= SCHEMA_VERSION:
        return _Line((quick,), data if ended else data + b"\n", damaged=not ended)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _recover(data, ended, where)
    record = _decode(Record, value, where)
    return _Line((record,), data if ended else data + b"\n", damaged=not ended)


def _recover(data: bytes, ended: bool, where: str) -> _Line:
    """The whole records that stand in a line glued from several writes, and the fragments between them."""
    records, kept, fragments, rest = [], b"", [], data.rstrip(b"\n")
    while rest:
        start = rest.find(RECORD_START)
        found = _first_object(rest[start:]) if start >= 0 else None
        if found is None:
            # This start is torn: look for the next one behind it.
            following = rest.find(RECORD_START, start + 1) if start >= 0 else -1
            cut = following if following > 0 else len(rest)
            fragments.append(rest[:cut])
            rest = rest[cut:]
            continue
        value, length = found
        fragments += [rest[:start]] if start else []
        records.append(_decode(Record, value, where))
        kept += rest[start : start + length] + b"\n"
        rest = rest[start + length :]
    if ended and not records:
        raise SchemaError(f"{where}: holds no whole record; the file is left as it is: mend or remove that line")
    return _Line(tuple(records), kept, tuple(fragments), damaged=True)


def _first_object(data: bytes) -> tuple[Any, int] | None:
    """The JSON value at the start of `data`, and its length in bytes; None where it is torn."""
    try:
        text = data.decode("ascii")
        value, length = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return value, length


def _decode(cls: type[T], value: Any, where: str) -> T:
    schema = value.get("schema") if isinstance(value, dict) else None
    if isinstance(schema, int) and schema > SCHEMA_VERSION:
        raise SchemaError(
            f"{where}: written with schema {schema}, this kbench reads up to {SCHEMA_VERSION}; upgrade kbench"
        )
    try:
        return decode(cls, value)
    except SchemaError as error:
        raise SchemaError(f"{where}: {error}") from error


def _drop_halves(folder: Path) -> None:
    """Removes what a killed `write_atomic` left: the one writer of this folder, who asks, is in none now."""
    for half in folder.glob(".*.tmp"):
        half.unlink(missing_ok=True)


def _lock(folder: Path) -> int:
    """The descriptor that holds the folder's lock; the kernel lets go of it however this process ends."""
    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        writer = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        os.close(descriptor)
        raise ConfigError(f"{folder}: another kbench (process {writer}) writes to this run; wait for it") from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor


def _differing(stored: RunInfo, wanted: RunInfo) -> list[str]:
    """What makes two runs different ones, each with both values: configuration, protocol, problems, samples."""
    there, new = json.loads(json_text(stored)), json.loads(json_text(wanted))
    found = dict(_unequal("", there["config"], new["config"]))
    for part in ("protocol", "samples"):
        if part not in found and there[part] != new[part]:
            found[part] = "not as recorded" if part == "protocol" else f"{there[part]} there, {new[part]} here"
    if there["problems"].keys() != new["problems"].keys():
        found["problems"] = f"{len(there['problems'])} there, {len(new['problems'])} here"
    elif there["problems"] != new["problems"] or there["suite_hash"] != new["suite_hash"]:
        found["problems"] = "their text has changed"
    return [f"{name} ({told})" for name, told in found.items()]


def _unequal(path: str, there: Any, new: Any) -> Iterator[tuple[str, str]]:
    """Name and both values of each leaf that differs; a name that stands in several places is told once, by its last word."""
    if isinstance(there, dict) and isinstance(new, dict):
        for key in sorted(there.keys() | new.keys()):
            yield from _unequal(key, there.get(key), new.get(key))
    elif there != new:
        yield path, f"{_brief(there)} there, {_brief(new)} here"


def _brief(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "..."
