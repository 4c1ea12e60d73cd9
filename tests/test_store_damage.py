"""What kills, power cuts, full disks and second writers may do to a run, and what they may not."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbench.errors import ConfigError, SchemaError
from kbench.store import ATTEMPTS, RunStore, load, to_line

from .making import THREE, attempts, filled, record, whole_lines

# ---- torn lines ------------------------------------------------------------------------------------------------------


def tear(folder: Path, middle: bool = False, keep: float = 0.5) -> bytes:
    """Cut the last record; in the `middle`, a whole record follows on the same line. Gives the fragment."""
    *before, last = attempts(folder).read_bytes().splitlines(keepends=True)
    torn = last[: max(1, int(len(last) * keep))].rstrip(b"\n")
    attempts(folder).write_bytes(b"".join(before[1:]) + torn + before[0] if middle else b"".join(before) + torn)
    return torn


def test_a_reader_passes_over_a_torn_end_and_leaves_it_alone(tmp_path: Path) -> None:
    tear(filled(tmp_path))
    before = attempts(tmp_path).read_bytes()
    assert load(tmp_path).records == tuple(THREE[:2])
    assert attempts(tmp_path).read_bytes() == before


def test_a_writer_moves_a_torn_end_aside_and_the_attempt_is_made_again(tmp_path: Path) -> None:
    fragment = tear(filled(tmp_path))
    with RunStore(tmp_path) as store:
        assert store.done_keys() == {THREE[0].key, THREE[1].key}
        store.append(THREE[2])
    assert load(tmp_path).records == tuple(THREE)
    assert (tmp_path / f"{ATTEMPTS}.torn-1").read_bytes() == fragment + b"\n"


def test_a_whole_record_behind_a_fragment_is_kept(tmp_path: Path) -> None:
    fragment = tear(filled(tmp_path), middle=True)
    assert load(tmp_path).records == (THREE[1], THREE[0])
    with RunStore(tmp_path) as store:
        assert store.done_keys() == {THREE[0].key, THREE[1].key}
    assert len(whole_lines(tmp_path)) == 2
    assert (tmp_path / f"{ATTEMPTS}.torn-1").read_bytes() == fragment + b"\n"


def test_a_record_that_lacks_its_line_end_only_is_kept(tmp_path: Path) -> None:
    filled(tmp_path)
    attempts(tmp_path).write_bytes(attempts(tmp_path).read_bytes().rstrip(b"\n"))
    with RunStore(tmp_path) as store:
        store.append(record(sample=7))
    assert load(tmp_path).records == (*THREE, record(sample=7))


def test_two_records_on_one_line_are_both_kept(tmp_path: Path) -> None:
    filled(tmp_path)
    attempts(tmp_path).write_bytes(to_line(THREE[0]).rstrip(b"\n") + to_line(THREE[1]))
    with RunStore(tmp_path):
        pass
    assert load(tmp_path).records == tuple(THREE[:2])
    assert len(whole_lines(tmp_path)) == 2


def test_each_repair_keeps_its_own_fragment(tmp_path: Path) -> None:
    for n in (1, 2):
        tear(filled(tmp_path))
        with RunStore(tmp_path):
            pass
        assert (tmp_path / f"{ATTEMPTS}.torn-{n}").exists()


def test_the_zeros_that_a_power_cut_leaves_are_a_torn_end(tmp_path: Path) -> None:
    with attempts(filled(tmp_path)).open("ab") as file:
        file.write(b"\0" * 4096)
    with RunStore(tmp_path):
        pass
    assert load(tmp_path).records == tuple(THREE)


@settings(max_examples=60, deadline=None)
@given(cut=st.floats(0, 1), middle=st.booleans())
def test_wherever_a_line_is_cut_every_other_record_survives(
    tmp_path_factory: pytest.TempPathFactory, cut: float, middle: bool
) -> None:
    folder = filled(tmp_path_factory.mktemp("run"))
    tear(folder, middle, cut)
    with RunStore(folder):
        pass
    kept = load(folder).records
    assert all(one in kept for one in THREE[:2])
    assert all(one in THREE for one in kept)
    whole_lines(folder)


@pytest.mark.parametrize("line", [b"{}\n", b'{"run_id": 3}\n', b"half a li\n", b"[1]\n", b'{"run_id":"r","sample":\n'])
def test_damage_that_no_kill_leaves_is_named_by_line_and_not_touched(tmp_path: Path, line: bytes) -> None:
    filled(tmp_path)
    first, *rest = attempts(tmp_path).read_bytes().splitlines(keepends=True)
    damaged = first + line + b"".join(rest)
    attempts(tmp_path).write_bytes(damaged)
    for use in (load, RunStore):
        with pytest.raises(SchemaError, match=rf"{ATTEMPTS}:2: ") as caught:
            use(tmp_path)
        assert "\n" not in str(caught.value)
    assert attempts(tmp_path).read_bytes() == damaged


def test_an_impossible_record_is_refused_by_its_line(tmp_path: Path) -> None:
    value = json.loads(to_line(filled(tmp_path) and THREE[0])) | {"key": "level1/9_z#0"}
    attempts(tmp_path).write_text(json.dumps(value) + "\n")
    with pytest.raises(SchemaError, match=f"{ATTEMPTS}:1: "):
        load(tmp_path)


# ---- one writer, a folder that can be written, a disk with space -----------------------------------------------------


def test_a_second_writer_is_refused_in_one_line(tmp_path: Path) -> None:
    with RunStore(tmp_path), pytest.raises(ConfigError, match=rf"process {os.getpid()}\) writes to this run") as caught:
        RunStore(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_writer_may_follow_one_that_closed(tmp_path: Path) -> None:
    for _ in range(2):
        with RunStore(tmp_path) as store:
            store.append(THREE[0])
    with RunStore(tmp_path) as store:
        store.close()
        store.close()


def test_a_killed_writer_leaves_no_lock(tmp_path: Path) -> None:
    opened = f"s = RunStore(Path({str(tmp_path)!r})); print('open', flush=True); input()"
    script = f"from pathlib import Path; from kbench.store import RunStore; {opened}"
    writer = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    with writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"open\n"
        with pytest.raises(ConfigError, match="another kbench"):
            RunStore(tmp_path)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    with RunStore(tmp_path) as store:
        store.append(THREE[0])


def test_a_refused_repair_leaves_no_lock(tmp_path: Path) -> None:
    attempts(filled(tmp_path)).write_bytes(b"junk\n")
    with pytest.raises(SchemaError):
        RunStore(tmp_path)
    with (tmp_path / ".lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_reader_needs_no_lock(tmp_path: Path) -> None:
    filled(tmp_path)
    with RunStore(tmp_path):
        assert load(tmp_path).records == tuple(THREE)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        RunStore(tmp_path / "file" / "run")


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes anywhere")
def test_a_folder_without_write_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(ConfigError, match="cannot be written"):
        RunStore(tmp_path)


def test_a_folder_that_holds_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no run here"):
        load(tmp_path)


def test_a_full_disk_is_one_error_and_loses_nothing_earlier(tmp_path: Path) -> None:
    filled(tmp_path)
    script = textwrap.dedent(f"""
        import resource, sys
        from pathlib import Path
        from tests.making import record
        from kbench.errors import ConfigError
        from kbench.store import RunStore
        store = RunStore(Path({str(tmp_path)!r}))
        size = (store.folder / "attempts.jsonl").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))  # a part of a line fits
        try:
            store.append(record(sample=5))
        except ConfigError as error:
            sys.exit(str(error))
    """)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "no space left" in done.stderr
    assert load(tmp_path).records == tuple(THREE)
    assert len(whole_lines(tmp_path)) == 3
