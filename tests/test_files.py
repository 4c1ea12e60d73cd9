from __future__ import annotations

import os
from pathlib import Path

import pytest

from kbench.errors import ConfigError
from kbench.files import read_plain, write_atomic


def test_a_failed_replacement_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.json"
    write_atomic(path, "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigError, match="no space left"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_a_pipe_and_a_missing_file_have_no_content(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"abcdef")
    (tmp_path / "link").symlink_to(tmp_path / "plain")
    os.mkfifo(tmp_path / "pipe")
    assert read_plain(tmp_path / "plain", 3) == b"abc"
    assert read_plain(tmp_path / "plain") == b"abcdef"
    assert [read_plain(tmp_path / name) for name in ("link", "pipe", "missing", ".")] == [None] * 4
