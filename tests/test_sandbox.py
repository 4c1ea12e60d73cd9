"""What is inside a sandbox: another uid, no network, no keys, no checkout; and each rung is probed by doing it."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kbench import freezer, sandbox
from kbench.candidate import protocol
from kbench.errors import SandboxError
from kbench.processes import spawn

LOOK = """
import json, os, socket
def reach():
    try:
        socket.create_connection(("127.0.0.1", 9), 0.2)
    except ConnectionRefusedError:
        return "refused"
    except OSError as error:
        return type(error).__name__
    return "reached"
found = {
    "uid": os.getuid(),
    "environment": sorted(os.environ),
    "root": sorted(os.listdir("/")),
    "pids": len([p for p in os.listdir("/proc") if p.isdigit()]),
    "interfaces": sorted(os.listdir("/sys/class/net")) if os.path.exists("/sys/class/net") else [],
    "caps": [l for l in open("/proc/self/status") if l.startswith("CapEff")][0].split()[1],
    "kbench": [os.path.join(b, d) for b, ds, _ in os.walk("/") for d in ds if d == "kbench" and os.listdir(os.path.join(b, d))],
    "reached": reach(),
}
print("LOOK " + json.dumps(found))
class ModelNew:
    def __init__(self): pass
"""


def said(log: Path) -> str:
    """The line, which is written a moment after the channel has closed."""
    deadline = time.monotonic() + 10
    while True:
        found = [text for text in log.read_text().splitlines(keepends=True) if text.startswith("LOOK ")]
        if found and found[0].endswith("\n"):
            return found[0]
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.02)


@contextmanager
def importing(folder: Path, code: str, hold: freezer.Freezer) -> Iterator[socket.socket]:
    """The channel of a build in the strongest sandbox here that imports `code` and prints to folder/log."""
    folder.chmod(0o755)
    source = folder / "source"
    source.mkdir()
    (source / "look.py").write_text(code)
    box = sandbox.Sandbox(sandbox.choose(), sandbox.Plan(build=str(source)), folder)
    log = os.open(folder / "log", os.O_CREAT | os.O_RDWR | os.O_APPEND)
    try:
        box.wait_ready()
        with spawn(box, {"role": "build", "limits": {}}, [], log, hold).channel as channel:
            order = {
                "path": f"{box.build_path}/look.py", "class_name": "ModelNew", "init": {"list": []}, "init_leaves": [],
                "mode": "own", "precision": "float32", "device": "cpu", "construct_seed": 0, "gpu": {},
            }  # fmt: skip
            protocol.send(channel, order)
            yield channel
    finally:
        os.close(log)
        hold.close()
        box.close()


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, object]]:
    """What a module imported in the strongest sandbox here sees."""
    os.environ["OPENAI_API_KEY"] = "kbench-canary-" + "100003"
    folder = tmp_path_factory.mktemp("box")
    with importing(folder, LOOK, freezer.create(f"kbench-test-{os.getpid()}", None)) as channel:
        answer = protocol.receive(channel)
        assert protocol.receive(channel) is None  # it has ended, and what it printed is flushed
        assert answer == {"say": "built"}, answer
        yield json.loads(said(folder / "log").removeprefix("LOOK "))


needs_namespaces = pytest.mark.skipif(
    sandbox.probe("namespaces") is not None and sandbox.probe("bubblewrap") is not None,
    reason="no namespaces on this machine",
)


@needs_namespaces
def test_no_key_and_no_setting_of_the_users_is_in_the_environment(seen: dict[str, list[str]]) -> None:
    assert not [name for name in seen["environment"] if "KEY" in name or "TOKEN" in name or name.startswith("KBENCH")]


@needs_namespaces
def test_the_only_kbench_inside_is_the_candidates_half(seen: dict[str, list[str]]) -> None:
    assert seen["kbench"] == ["/kb/lib/kbench"]


@needs_namespaces
def test_the_checkout_and_the_home_folder_are_not_there(seen: dict[str, list[str]]) -> None:
    checkout = Path(__file__).parents[1]
    assert checkout.parts[1] not in seen["root"] or checkout.parts[1] in Path(os.path.realpath(os.sys.prefix)).parts


@needs_namespaces
def test_there_are_no_other_processes_no_network_and_no_rights(seen: dict[str, object]) -> None:
    assert seen["pids"] == 2  # the server and the one that looks
    assert seen["interfaces"] == []
    assert seen["reached"] != "reached"
    assert int(str(seen["caps"]), 16) == 0
    if os.getuid() == 0:
        assert seen["uid"] != 0


def test_less_than_namespaces_is_refused_where_a_sandbox_is_required(monkeypatch: pytest.MonkeyPatch) -> None:

    def only(rung: str) -> str | None:
        return None if rung == "rlimits" else "not here"

    monkeypatch.setattr(sandbox, "probe", only)
    assert sandbox.choose.__wrapped__(False) == "rlimits"
    with pytest.raises(SandboxError, match="namespaces: not here"):
        sandbox.choose.__wrapped__(True)


def test_a_frozen_process_stands_still_and_goes_on_afterwards(tmp_path: Path) -> None:
    import subprocess
    import sys
    import time

    count = tmp_path / "count"
    code = f"import time\nwhile True:\n    open({str(count)!r}, 'a').write('x')\n    time.sleep(0.002)\n"
    for make in (lambda: freezer.create(f"kbench-test-freeze-{os.getpid()}", None), freezer.Signals):
        hold = make()
        process = subprocess.Popen([sys.executable, "-c", code])
        hold.add(process.pid)
        while not count.exists() or not count.stat().st_size:
            time.sleep(0.01)
        assert hold.freeze()
        before = count.stat().st_size
        time.sleep(0.1)
        assert count.stat().st_size == before
        hold.thaw()
        time.sleep(0.1)
        assert count.stat().st_size > before
        hold.close()
        process.wait()
        count.unlink()


DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    while True:
        os.write(1, b"x")
        time.sleep(0.002)
time.sleep(60)
"""


@needs_namespaces
def test_a_daemon_that_left_its_session_stands_still_with_its_worker(tmp_path: Path) -> None:
    log = tmp_path / "log"
    hold = freezer.Signals(alone=True)
    with importing(tmp_path, DAEMON, hold):
        deadline = time.monotonic() + 20
        while not (log.exists() and log.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert hold.freeze()
        before = log.stat().st_size
        time.sleep(0.2)
        assert log.stat().st_size == before > 0
        hold.thaw()
        time.sleep(0.2)
        assert log.stat().st_size > before


def test_sandboxes_that_write_to_one_kept_folder_share_a_uid_and_no_other_has_it(tmp_path: Path) -> None:
    # Each used to take the folder for its own uid: of two commands at once, the first lost its torch.compile baseline.
    keeps, candidate = sandbox.Plan(cache=str(tmp_path)), sandbox.Plan()
    assert sandbox._uid(keeps) == sandbox._uid(keeps)
    assert (
        len({sandbox._uid(keeps), *(sandbox._uid(candidate) for _ in range(64))}) == 65
    )  # as many as a large machine builds at once


def test_a_worker_that_has_just_ended_makes_nobody_else_a_member(monkeypatch: pytest.MonkeyPatch) -> None:
    # It was read as a child of pid 0, and so was every kernel thread; other users' namespaces all read alike.
    signals = freezer.Signals()
    signals.add(os.getpid())
    monkeypatch.setattr(freezer, "_parent", lambda pid: 0)
    monkeypatch.setattr(freezer, "_session", lambda pid: 0)
    monkeypatch.setattr(freezer, "_namespace", lambda pid: freezer.UNKNOWN)
    assert signals.members() == set()
