"""An NVIDIA GPU as a device: plain device memory exported by CUDA IPC, mappings of a worker's allocator segments as hands.

A frozen process cannot launch anything, but what it launched before goes on: a canary kernel of the lane's own, whose duration
on an idle device is known, shows whether something else still runs.
"""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from kbench import rates
from kbench.candidate import driver
from kbench.devices import CHECKED_AT_ONCE, Area, measuring
from kbench.devices.ipc import DeviceArea, IpcHands
from kbench.errors import ConfigError

FLUSH_FACTOR = 3  # times the L2
SLOT_SHARE = 0.6  # of the device's memory: staging and two regions hold the inputs, three sides the outputs
ANSWER_SHARE = 0.08
SPARE_SHARE = 0.08  # of the device's memory, freed, that the lane may keep
CANARY_ELEMENTS = 1 << 24
CANARY_LAUNCHES = 4
CANARY_LIMIT = 1.5  # times what it usually takes: 350 us on an H200, 415 at the most of 300
CANARY_SURE_US = 1_500.0  # and no less than this while little is known of what is usual
CALIBRATION_LAUNCHES = 64
# What bringing inputs in may take more, and a vigil. Without others' work it was up to 127 us and 25 us, 200 and 100 times on an H200.
HELD_SHARE, HELD_US = 0.03, 150.0
LATE_SHARE, LATE_US = 0.005, 80.0
HOST_COPY_US, FLUSH_US = 15.0, 90.0  # one copy's launch at the most, and a flush at the least
IDLE_LIMIT_S = 10.0
RATE_BYTES, RATE_SIDE = 2 << 30, 8192
RATE_DTYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
THROTTLED = 0xE8  # NVML's bits for hardware slowdown, thermal slowdown (software, hardware) and power brake


class Vigil:
    """Canary kernels in a row. Kernels of two processes take turns on a GPU: what another one runs shows as delay."""

    def __init__(self, device: Cuda, least_us: float) -> None:
        self.probe_us = device.probe_us()
        launches = math.ceil(least_us / device.canary_us)
        self.alone_us = launches * device.canary_us
        self.begin, self.end = _event(), _event()
        self.begin.record()
        for _ in range(launches):
            device.sheet.add_(1)
        self.end.record()

    def has_ended(self) -> bool:
        return bool(self.end.query())

    def late_us(self) -> float:
        self.end.synchronize()
        return float(self.begin.elapsed_time(self.end)) * 1e3 - self.alone_us

    def was_held_up(self) -> bool:
        return self.late_us() > LATE_US + LATE_SHARE * self.alone_us


class Cuda:
    """The Device of one GPU, "cuda:N"."""

    goes_on = True
    spins, least_calls = True, 1
    decoy_bytes = 8 << 30
    block_us = 16_000.0  # jitter of the host is 60 to 90 us a block

    def __init__(self, name: str) -> None:
        if not torch.cuda.is_available():
            raise ConfigError(f"--device {name}: torch {torch.__version__} sees no GPU here; use --device cpu")
        index = int(name.partition(":")[2] or 0)
        if index >= torch.cuda.device_count():
            raise ConfigError(f"--device {name}: this machine has {torch.cuda.device_count()} GPU(s), counted from 0")
        self.name = f"cuda:{index}"
        torch.cuda.set_device(index)
        driver.library()
        self.properties = torch.cuda.get_device_properties(index)
        self.buffer = torch.zeros(FLUSH_FACTOR * self.properties.L2_cache_size // 4, dtype=torch.int32, device="cuda")
        self.sheet = torch.zeros(CANARY_ELEMENTS, device="cuda")
        self.nvml = _nvml(index)
        for _ in range(20):
            self.probe_us()
        self.canary_us = 1.0  # of one launch among many: a vigil of so many us then has as many launches
        vigils = [self.vigil(CALIBRATION_LAUNCHES) for _ in range(9)]
        self.canary_us = statistics.median(1 + vigil.late_us() / CALIBRATION_LAUNCHES for vigil in vigils)
        self.cache_bytes = int(self.properties.L2_cache_size)
        self.rates = measuring.bytes_per_s(RATE_BYTES, "cuda", seconds)  # for the floor
        self.idle_us = statistics.median(self.probe_us() for _ in range(20))

    @property
    def peak_bytes_per_s(self) -> float | None:
        return max(self.rates[name] for name in rates.BYTES)

    def measure_rates(self) -> dict[str, float]:
        flags = torch.backends.cuda.matmul
        before, found = flags.allow_tf32, measuring.bytes_per_s(RATE_BYTES, "cuda", seconds)
        try:
            for name, dtype in RATE_DTYPES.items():
                flags.allow_tf32 = name == "tf32"
                found[name] = measuring.flops_per_s(RATE_SIDE, "cuda", dtype, seconds)
        finally:
            flags.allow_tf32 = before
        return found

    def area(self, name: str) -> DeviceArea:
        return DeviceArea(name)

    def hands(self, pid: int, region: Area) -> IpcHands:
        return IpcHands(region)

    def settle(self) -> None:
        torch.cuda.synchronize()
        if torch.cuda.memory_reserved() > self.properties.total_memory * SPARE_SHARE:
            torch.cuda.empty_cache()

    def flush(self) -> None:
        driver.forget_persisting_lines()
        self.buffer.add_(1)
        torch.cuda.synchronize()

    def bring(self, copies: Callable[[], None], calls: int) -> float:
        """The time on the device from the first copy to the end of the flush, without a pause: the flushes before give the
        host time to get ahead."""
        driver.forget_persisting_lines()
        for _ in range(1 + int(calls * HOST_COPY_US / FLUSH_US)):
            self.buffer.add_(1)

        def bring() -> None:
            copies()
            self.buffer.add_(1)

        return seconds(bring) * 1e6

    def was_held_up(self, took_us: float, alone_us: float) -> bool:
        return took_us > alone_us * (1 + HELD_SHARE) + HELD_US

    def vigil(self, least_us: float) -> Vigil:
        return Vigil(self, least_us)

    def marks(self, conditions: dict[str, float]) -> tuple[str, ...]:
        slowed = int(conditions.get("throttle_mask", 0)) & THROTTLED
        return (*(("throttled",) if slowed else ()), *(("shared",) if conditions.get("others") else ()))

    def probe_us(self) -> float:
        torch.cuda.synchronize()
        started = time.perf_counter_ns()
        for _ in range(CANARY_LAUNCHES):
            self.sheet.add_(1)
        torch.cuda.synchronize()
        return (time.perf_counter_ns() - started) / 1e3

    def is_late(self, probe_us: float, usual_us: Sequence[float]) -> bool:
        """`usual_us`: the canary after blocks of reference workers, which wait for all of their work."""
        if len(usual_us) < 4:
            return probe_us > max(CANARY_SURE_US, CANARY_LIMIT * self.idle_us)
        return probe_us > CANARY_LIMIT * statistics.median(usual_us)

    def wait_idle(self) -> None:
        deadline = time.monotonic() + IDLE_LIMIT_S
        while self.probe_us() > 2 * self.idle_us and time.monotonic() < deadline:
            time.sleep(0.01)

    def calls_that_fit(self, input_bytes: int, output_bytes: int) -> int:
        """Three areas hold a slot a call and two decoys; three sides hold an output a call."""
        room = int(self.properties.total_memory * SLOT_SHARE) - 6 * input_bytes
        return max(0, room) // max(3 * input_bytes + 3 * output_bytes, 1)

    def checked_calls(self, answer_bytes: int) -> int:
        return max(1, min(CHECKED_AT_ONCE, int(self.properties.total_memory * ANSWER_SHARE) // max(answer_bytes, 1)))

    def conditions(self) -> dict[str, float]:
        """Clocks in MHz, temperature in degrees Celsius, throttle reasons as NVML's bit mask, how many processes of others
        have the GPU open; none of it where NVML does not tell."""
        if self.nvml is None:
            return {}
        import pynvml

        others = strangers([found.pid for found in pynvml.nvmlDeviceGetComputeRunningProcesses(self.nvml)])
        return {
            **({"others": float(others)} if others is not None else {}),
            "sm_mhz": float(pynvml.nvmlDeviceGetClockInfo(self.nvml, pynvml.NVML_CLOCK_SM)),
            "memory_mhz": float(pynvml.nvmlDeviceGetClockInfo(self.nvml, pynvml.NVML_CLOCK_MEM)),
            "temperature_c": float(pynvml.nvmlDeviceGetTemperature(self.nvml, pynvml.NVML_TEMPERATURE_GPU)),
            "throttle_mask": float(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(self.nvml)),
        }


def seconds(action: Callable[[], object]) -> float:
    begin, end = _event(), _event()
    begin.record()
    action()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1e3


def strangers(pids: Sequence[int]) -> int | None:
    """How many of these processes are neither this lane nor come from the process that started it. None where the lane
    itself, which has the GPU open, is not among them: NVML's numbers are then those of another PID namespace."""
    if os.getpid() not in pids:
        return None
    return sum(not _descends(pid, os.getppid()) for pid in pids)


def _descends(pid: int, ancestor: int) -> bool:
    while pid > 1 and pid != ancestor:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return True  # it has ended since
        pid = int(stat.rpartition(")")[2].split()[1])
    return pid == ancestor


def _event() -> Any:
    return torch.cuda.Event(enable_timing=True)


def _nvml(index: int) -> Any:
    """The device's NVML handle, or None where NVML is not there."""
    try:
        import pynvml

        pynvml.nvmlInit()
        uuid = str(torch.cuda.get_device_properties(index).uuid)
        return pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid}")
    except Exception:  # no module, no library, no permission: figures are then unknown, which a record can say
        return None
