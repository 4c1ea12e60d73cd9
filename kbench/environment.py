"""What a result was measured on and with, stamped on every record; and where kbench keeps its caches."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kbench import __version__
from kbench.errors import ConfigError

PACKAGES = ("torch", "triton", "numpy")
KEYS = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "LOCAL_API_KEY",
)  # fmt: skip


def cache_folder() -> Path:
    """$KBENCH_CACHE, else $XDG_CACHE_HOME/kbench, else ~/.cache/kbench; made if need be."""
    named = os.environ.get("KBENCH_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(named) if named else base / "kbench"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"the cache folder {folder} cannot be made ({error.strerror}); set KBENCH_CACHE to one that can"
        ) from error
    return folder


def package_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def available_bytes() -> int:
    """Memory that the kernel says can be had without swapping."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 4 << 30


def cpu_model() -> str:
    """The processor's name as the kernel tells it, or its architecture."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def describe(device: str) -> dict[str, object]:
    """Hardware and versions. Imports torch only where the device's facts need it."""
    from kbench.devices import cpu

    return {
        "kbench": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        **{name: package_version(name) for name in PACKAGES},
        **(cpu.facts() if device == "cpu" else {}),
    }


def device_key(device: str) -> str:
    """What A/A runs are pooled over: results under different keys are never mixed."""
    if device != "cpu":
        raise ConfigError(f"device {device!r} is not supported yet; use cpu")
    return f"cpu|{cpu_model()}|{len(os.sched_getaffinity(0))} cores|torch {package_version('torch')}"
