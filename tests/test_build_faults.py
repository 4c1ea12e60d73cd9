"""What a compiler prints, and what a killed build leaves behind, decide nothing that they should not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kbench import sandbox
from kbench.builder import LOG_CHARS, Builder, BuildOrder
from kbench.types import Build, Solution, Status

BROKEN = """
import pathlib, tempfile
import torch.nn as nn
from torch.utils.cpp_extension import load

folder = pathlib.Path(tempfile.mkdtemp())
(folder / "broken.cpp").write_bytes({text!r})
load(name="broken", sources=[str(folder / "broken.cpp")], build_directory=str(folder), is_python_module=False)

class ModelNew(nn.Module):
    pass
"""
SLEEPY = """
import time
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

print("MARK", flush=True)
time.sleep(6)

class ModelNew(nn.Module):
    pass
"""
PLAIN = """
import pathlib
import torch.nn as nn
from torch.utils.cpp_extension import load

folder = pathlib.Path(__file__).parent
(folder / "plain.cpp").write_text('extern "C" int plain() { return 1; }')
load(name="kbench_plain", sources=[str(folder / "plain.cpp")], is_python_module=False)

class ModelNew(nn.Module):
    pass
"""


def order(source: str) -> BuildOrder:
    return BuildOrder(Solution(source, "a.py", "cpp"), {"list": []}, (), "own", "float32", "cpu", "a problem")


def build(source: str, folder: Path) -> Build:
    folder.mkdir(exist_ok=True)
    return Builder(sandbox.choose(False), folder / "cache", folder).build(order(source))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("#error Gr\u00f6\u00dfe fehlt: \u00bd\n".encode("latin-1"), "#error Gr"),
        (b'#include "spin_lock_clock.h"\n', "spin_lock_clock.h"),
        (b"int FIRST_MISTAKE = not_declared;\n" + b"".join(b"int x%d = nowhere_%d;\n" % (i, i) for i in range(2000)), "not_declared"),
    ],
    ids=["not utf-8", "a header whose name sounds like a lost race", "thousands of errors"],
)  # fmt: skip
def test_what_the_compiler_prints_is_shown_and_decides_nothing(tmp_path: Path, text: bytes, first: str) -> None:
    found = build(BROKEN.format(text=text), tmp_path)
    assert found.status is Status.COMPILE_ERROR
    assert first in found.error
    assert first in found.log
    assert len(found.log) < LOG_CHARS + 100
    assert ("cut ..." in found.log) == (len(text) > 10_000)
    found.log.encode()  # text that a record can hold


@pytest.mark.slow
def test_a_dead_builders_lock_is_neither_waited_for_nor_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "extensions"))
    cache = tmp_path / "home" / ".cache" / "torch_extensions" / f"py{sys.version_info[0]}{sys.version_info[1]}_cpu"
    for root in (tmp_path / "extensions", cache):
        (root / "kbench_plain").mkdir(parents=True)
        (root / "kbench_plain" / "lock").touch()
    found = build(PLAIN, tmp_path / "work")
    assert found.status is None, found.log
    assert (tmp_path / "extensions" / "kbench_plain" / "lock").exists()  # none of ours to remove


@pytest.mark.slow
def test_a_builder_that_is_killed_leaves_no_process_and_no_lock(tmp_path: Path) -> None:
    script = f"""
from pathlib import Path
from tests.test_build_faults import SLEEPY, build
build(SLEEPY, Path({str(tmp_path / "work")!r}))
"""
    builder = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    scratch = tmp_path / "work"
    deadline = time.monotonic() + 120
    while not any(b"MARK" in log.read_bytes() for log in scratch.glob("build-*/build.log")):
        assert time.monotonic() < deadline
        assert builder.poll() is None
        time.sleep(0.05)
    os.kill(builder.pid, signal.SIGKILL)
    builder.wait()
    deadline = time.monotonic() + 10
    while _inside(scratch):
        assert time.monotonic() < deadline, _inside(scratch)
        time.sleep(0.1)
    assert build(SLEEPY, scratch).status is None


def _inside(folder: Path) -> list[str]:
    """Command lines of the processes that name the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in line and "tests.test_build_faults" not in line:
            found.append(line)
    return found
