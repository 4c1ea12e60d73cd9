"""What is written: dataclasses as JSON text, and whole files of which a reader never sees half."""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import json
import math
import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from kbench.codec import encode
from kbench.errors import ConfigError, SchemaError
from kbench.inert import inert

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet takes a text for something to be computed


def write_atomic(path: Path, data: str | bytes, durable: bool = True) -> None:
    """Replace `path` by a file with this content, in UTF-8, synced to the disk before it takes the name.

    Without `durable` it is not synced: a killed process leaves it whole, a power cut perhaps not.

    ConfigError, with `path` as it was, where the disk is full or the folder cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    content = data if isinstance(data, bytes) else data.encode("utf-8", "backslashreplace")  # lone surrogates
    try:
        with _opened(temporary) as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.replace(temporary, path)
        if durable:
            _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise cannot_write(path, error) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("wb")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("wb")


def make_durable(path: Path) -> None:
    """Sync a file that was written without `durable`, and its name. ConfigError where the disk is full."""
    try:
        with path.open("rb") as file:
            os.fsync(file.fileno())
        _sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def _sync_folder(folder: Path) -> None:
    """Make a new or changed name in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_plain(path: Path | str, most: int | None = None) -> bytes | None:
    """The content of a file in a folder that someone sent, its first `most` bytes. None where it is not there, or is a link, a
    pipe or a device: a link would show the reader's own files."""
    try:
        opened = open_plain(path, os.O_NOFOLLOW)
    except (OSError, ConfigError):
        return None
    with opened as file:
        return file.read() if most is None else file.read(most)


def open_plain(path: Path | str, flags: int = 0) -> io.BufferedReader:
    """A file for reading. OSError where it cannot be opened, ConfigError where it is a pipe, a device or a folder: reading one
    may never end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError(f"{path}: is no plain file")
    return open(descriptor, "rb")


def read_json(path: Path) -> Any:
    """What a JSON file holds. FileNotFoundError where there is none; ConfigError where it cannot be read, SchemaError where it
    is no JSON."""
    try:
        with open_plain(path) as file:
            return json.loads(file.read())
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"{path}: is not JSON: {error}") from error


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """A table as CSV; what a row lacks is an empty cell. A text that a spreadsheet would compute is quoted with an apostrophe."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _inert(value) for name, value in row.items()} for row in rows)
    return text.getvalue()


def _inert(value: object) -> object:
    if not isinstance(value, str):
        return value
    plain = inert(value)
    return f"'{plain}" if plain.startswith(FORMULA) else plain


def cannot_write(path: Path, error: OSError) -> ConfigError:
    if error.errno in FULL:
        return ConfigError(f"{path}: no space left; what was written before is whole: free some and run it again")
    return ConfigError(f"{path}: cannot be written: {error.strerror or error}")


def json_text(value: Any, indent: int | None = None) -> str:
    """A dataclass as JSON in ASCII. NaN and the infinities, which JSON has no numbers for, are strings that
    `codec.decode` reads as the numbers they name."""
    separators = (",", ":") if indent is None else None
    return json.dumps(_finite(encode(value)), indent=indent, allow_nan=False, separators=separators)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value
