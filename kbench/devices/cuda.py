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
from itertools import pairwise
from typing import Any

import torch

from kbench.candidate import driver, memory
from kbench.devices import CHECKED_AT_ONCE, Area
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
HELD_SHARE, HELD_US = (
    0.03,
    150.0,
)  # more of what bringing inputs in takes; without others' work it took up to 127 us more
LATE_SHARE, LATE_US = (
    0.005,
    80.0,
)  # that a vigil takes longer; without others' work it took up to 25 us longer on an H200, of 100 vigils
HOST_COPY_US, FLUSH_US = 15.0, 90.0  # one copy's launch at the most, and a flush at the least
IDLE_LIMIT_S = 10.0
PEAK_BYTES = 2 << 30


class DeviceArea:
    """Plain device memory that the lane owns. `fd` is an empty file: on a GPU the ticket alone says where it is."""

    def __init__(self, name: str) -> None:
        self.name, self.address, self.size_bytes = name, 0, 0
        self.fd = os.memfd_create(f"kbench-{name}", os.MFD_CLOEXEC)

    def allocate(self, size_bytes: int) -> None:
        self.size_bytes = max(size_bytes, 1)
        self.address = driver.allocate(self.size_bytes)
        self.flat = memory.device_bytes(self.address, self.size_bytes)

    def ticket(self) -> dict[str, Any]:
        return {"bytes": self.size_bytes, "handle": driver.export(self.address)}

    def close(self) -> None:
        os.close(self.fd)
        if self.address:
            torch.cuda.synchronize()
            driver.free(self.address)
            self.address = 0


class Segment:
    """A worker's allocation, mapped here."""

    def __init__(self, begin: int, handle: str) -> None:
        self.begin, self.handle = begin, handle
        self.address = driver.attach(handle)
        self.size_bytes = driver.allocation_of(self.address)[1]  # the driver's word, not the worker's
        self.flat = memory.device_bytes(self.address, self.size_bytes)

    @property
    def end(self) -> int:
        return self.begin + self.size_bytes


class IpcHands:
    """Reads and writes a worker's outputs through mappings of its allocator's segments.

    What the worker says of a segment is only which memory it calls by which address. Two segments that share memory or
    addresses are refused, so that outputs which overlap in fact overlap in address.
    """

    told = True

    def __init__(self, region: Area) -> None:
        self.region, self.segments = region, list[Segment]()
        self.region_begin: int | None = None  # where the worker says its inputs lie; names a fault, decides nothing

    def learn(self, segments: Any) -> bool:
        """`segments`: [[address, handle], ...] and the region's own address, well-formed. ValueError where they cannot be."""
        before = {segment.handle for segment in self.segments}
        self.region_begin = segments["region"]
        current = {handle for _, handle in segments["held"]}
        for segment in [s for s in self.segments if s.handle not in current]:
            self.segments.remove(segment)
            driver.detach(segment.address)
        known = {segment.handle: segment.begin for segment in self.segments}
        for begin, handle in segments["held"]:
            if known.get(handle, begin) != begin:
                raise ValueError("one memory under two addresses")
            if handle not in known:
                self.segments.append(Segment(begin, handle))
                known[handle] = begin
        ordered = sorted(self.segments, key=lambda segment: segment.begin)
        if any(first.end > second.begin for first, second in pairwise(ordered)):
            raise ValueError("two memories under one address")
        return before != current

    def find(self, address: int, size_bytes: int) -> torch.Tensor | None:
        for segment in self.segments:
            if segment.begin <= address and address + size_bytes <= segment.end:
                return segment.flat[address - segment.begin :][:size_bytes]
        if self.region_begin is not None:
            offset = address - self.region_begin
            if offset >= 0 and offset + size_bytes <= self.region.size_bytes:
                return self.region.flat[offset : offset + size_bytes]
        return None

    def holds(self, spans: Sequence[tuple[int, int]]) -> bool:
        return all(self.find(address, size) is not None for address, size in spans if size)

    def read(self, address: int, size_bytes: int) -> torch.Tensor | None:
        found = self.find(address, size_bytes)
        return found.clone() if found is not None else None

    def write(self, address: int, data: torch.Tensor) -> bool:
        found = self.find(address, data.numel())
        if found is None:
            return False
        found.copy_(data)
        return True

    def in_inputs(self, spans: Sequence[tuple[int, int]]) -> list[bool]:
        begin = self.region_begin
        if begin is None:
            return [False] * len(spans)
        return [begin < at + size and at < begin + self.region.size_bytes for at, size in spans]

    def close(self) -> None:
        for segment in self.segments:
            driver.detach(segment.address)
        self.segments = []


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
        self.peaks = measured_peaks()
        self.peak_bytes_per_s: float | None = max(self.peaks.values())
        self.idle_us = statistics.median(self.probe_us() for _ in range(20))

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
        begin, end = _event(), _event()
        begin.record()
        copies()
        self.buffer.add_(1)
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) * 1e3

    def was_held_up(self, took_us: float, alone_us: float) -> bool:
        return took_us > alone_us * (1 + HELD_SHARE) + HELD_US

    def vigil(self, least_us: float) -> Vigil:
        return Vigil(self, least_us)

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
        """Clocks in MHz, temperature in degrees Celsius, throttle reasons as NVML's bit mask, processes on the GPU."""
        if self.nvml is None:
            return {}
        import pynvml

        return {
            "sm_mhz": float(pynvml.nvmlDeviceGetClockInfo(self.nvml, pynvml.NVML_CLOCK_SM)),
            "memory_mhz": float(pynvml.nvmlDeviceGetClockInfo(self.nvml, pynvml.NVML_CLOCK_MEM)),
            "temperature_c": float(pynvml.nvmlDeviceGetTemperature(self.nvml, pynvml.NVML_TEMPERATURE_GPU)),
            "throttle_mask": float(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(self.nvml)),
        }


def measured_peaks() -> dict[str, float]:
    """Bytes per second of reading, writing and copying PEAK_BYTES of device memory, each the best of a few."""
    source = torch.ones(PEAK_BYTES // 4, device="cuda")
    target = torch.empty_like(source)
    kinds: dict[str, tuple[Callable[[], object], int]] = {
        "read": (lambda: source.sum(), PEAK_BYTES),
        "write": (lambda: target.fill_(2.0), PEAK_BYTES),
        "copy": (lambda: target.copy_(source), 2 * PEAK_BYTES),
    }
    found = {}
    for name, (action, moved) in kinds.items():
        times_ms = []
        for _ in range(6):
            begin, end = _event(), _event()
            begin.record()
            action()
            end.record()
            end.synchronize()
            times_ms.append(begin.elapsed_time(end))
        found[name] = moved / (min(times_ms) / 1e3)
    return found


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
