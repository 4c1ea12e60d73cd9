"""Temporary folders end with their maker, killed or not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from kbench import scratch

MAKES = """
import sys
from pathlib import Path
from kbench import scratch
(scratch.make("lane", Path(sys.argv[1])) / "file").write_text("left")
print("made", flush=True)
sys.stdin.read()
"""


def maker(parent: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", MAKES, str(parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"made\n"
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def test_the_folder_of_a_killed_process_is_swept_with_all_that_is_in_it(tmp_path: Path) -> None:
    end(maker(tmp_path))
    assert list(tmp_path.glob("kbench-lane-*/file"))
    scratch.sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_living_process_stays(tmp_path: Path) -> None:
    process = maker(tmp_path)
    scratch.sweep(tmp_path)
    assert list(tmp_path.glob("kbench-lane-*/file"))
    end(process)


def test_a_folder_whose_lock_is_held_stays_though_nobody_here_has_that_process_id(tmp_path: Path) -> None:
    # As where two containers share a folder for temporary files.
    folder = scratch.make("lane", tmp_path)
    foreign = folder.rename(tmp_path / f"kbench-lane-{2**22 + 1}-foreign")
    scratch.sweep(tmp_path)
    assert foreign.is_dir()
    scratch.remove(folder)
    scratch.sweep(tmp_path)
    assert not foreign.exists()


def test_what_is_not_of_this_kind_is_left_alone(tmp_path: Path) -> None:
    for name in ("kbench-results", "kbench-1-dead-or-not", "other-4194305-x", "kbench-lane-x"):
        (tmp_path / name).mkdir()
    scratch.sweep(tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


def test_a_removed_folder_is_gone(tmp_path: Path) -> None:
    folder = scratch.make(parent=tmp_path)
    (folder / "inner").mkdir()
    scratch.remove(folder)
    assert list(tmp_path.iterdir()) == []
