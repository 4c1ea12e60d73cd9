"""Whole files, written so that a reader sees the old one or the new one and never half of one."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from kbench.errors import ConfigError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_atomic(path: Path, data: str | bytes) -> None:
    """Replace `path` by a file with this content, in UTF-8, synced to the disk before it takes the name.

    ConfigError, with `path` as it was, where the disk is full or the folder cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    content = data if isinstance(data, bytes) else data.encode("utf-8", "backslashreplace")  # lone surrogates
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise cannot_write(path, error) from error
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """Make a new or changed name in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cannot_write(path: Path, error: OSError) -> ConfigError:
    if error.errno in FULL:
        return ConfigError(f"{path}: no space left; what was written before is whole: free some and run it again")
    return ConfigError(f"{path}: cannot be written: {error.strerror or error}")
