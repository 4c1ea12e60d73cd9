"""What a result was measured on and with, stamped on every record; and where kbench keeps its caches."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kbench import __version__
from kbench.errors import ConfigError

PACKAGES = ("torch", "triton", "numpy")
CORES_EACH = {(7, 0): 64, (7, 5): 64, (8, 0): 64}  # fp32 cores of a multiprocessor; 128 from compute capability 8.6 on


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
    return {**versions(), **device_facts(device)}


def versions() -> dict[str, object]:
    return {
        "kbench": __version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        **{name: package_version(name) for name in PACKAGES},
    }


def device_facts(device: str) -> dict[str, object]:
    if device == "cpu":
        from kbench.devices import cpu

        return cpu.facts()
    return gpu_facts(device)


def gpu_facts(device: str) -> dict[str, object]:
    """What NVML says of a GPU, without a context on it. ConfigError where there is none of that number."""
    gpu = _gpu(device)
    import pynvml

    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(gpu)
    memory = pynvml.nvmlDeviceGetMemoryInfo(gpu)
    return {
        "device": device,
        "model": pynvml.nvmlDeviceGetName(gpu),
        "compute_capability": f"{major}.{minor}",
        "memory_bytes": int(memory.total),
        "multiprocessors": pynvml.nvmlDeviceGetNumGpuCores(gpu) // CORES_EACH.get((major, minor), 128),
        "driver": pynvml.nvmlSystemGetDriverVersion(),
        "cuda": ".".join(str(part) for part in divmod(pynvml.nvmlSystemGetCudaDriverVersion() // 10, 100)),
        "power_limit_w": pynvml.nvmlDeviceGetEnforcedPowerLimit(gpu) / 1000,
        "cpu": cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
    }


def gpu_free_bytes(device: str) -> int:
    gpu = _gpu(device)
    import pynvml

    return int(pynvml.nvmlDeviceGetMemoryInfo(gpu).free)


def _gpu(device: str) -> Any:
    """The NVML handle of "cuda:N"."""
    kind, _, number = device.partition(":")
    if kind != "cuda" or not (number or "0").isdigit():
        raise ConfigError(f"--device {device}: give cpu, cuda or cuda:N")
    try:
        import pynvml

        pynvml.nvmlInit()
        count = pynvml.nvmlDeviceGetCount()
    except Exception as error:
        raise ConfigError(f"--device {device}: no NVIDIA driver answers here ({error}); use --device cpu") from error
    if int(number or 0) >= count:
        raise ConfigError(f"--device {device}: this machine has {count} GPU(s), counted from 0")
    return pynvml.nvmlDeviceGetHandleByIndex(int(number or 0))


def build_environment(device: str) -> tuple[tuple[str, str], ...]:
    """Variables that a build and the workers that use it must share, or ninja builds again."""
    if device == "cpu":
        return ()
    major, _, minor = str(gpu_facts(device)["compute_capability"]).partition(".")
    suffix = "a" if int(major) >= 9 else ""  # with the instructions of this generation alone, as wgmma
    return (("TORCH_CUDA_ARCH_LIST", f"{major}.{minor}{suffix}"),)


def best_device() -> str:
    """The first GPU, or the CPU where no driver answers."""
    try:
        _gpu("cuda:0")
    except ConfigError:
        return "cpu"
    return "cuda:0"


def device_key(device: str) -> str:
    """What A/A runs are pooled over: results under different keys are never mixed."""
    if device != "cpu":
        facts = gpu_facts(device)
        return f"{facts['model']}|driver {facts['driver']}|torch {package_version('torch')}"
    return f"cpu|{cpu_model()}|{len(os.sched_getaffinity(0))} cores|torch {package_version('torch')}"
