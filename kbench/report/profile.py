"""What ncu says of one call, as a table, and where the call stands under the device's roofline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kbench import roofline
from kbench.inert import one_line
from kbench.profiling import Kernel
from kbench.words import format_time

NAME_CHARS = 60


def profile_parts(
    kernels: Sequence[Kernel], flops: float | None, measured: dict[str, float], precision: str
) -> Iterator[RenderableType]:
    """`flops` of the problem's call, where they are known; `measured`: kbench.rates of the device."""
    table = Table(title="one call under Nsight Compute, cold", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("kernel", no_wrap=True)
    for column in ("time", "moved", "achieved", "occupancy", "memory", "arithmetic"):
        table.add_column(column, justify="right")
    for kernel in kernels:
        table.add_row(
            one_line(kernel.name, NAME_CHARS), format_time(kernel.time_ns / 1e3), f"{kernel.moved_bytes / 1e6:.4g} MB",
            _rate(kernel.moved_bytes, kernel.time_ns), f"{kernel.occupancy_percent:.0f} %", f"{kernel.memory_percent:.0f} %",
            f"{kernel.compute_percent:.0f} %",
        )  # fmt: skip
    yield table
    moved, time_ns = sum(k.moved_bytes for k in kernels), sum(k.time_ns for k in kernels)
    launches = f"{len(kernels)} launches, {format_time(time_ns / 1e3)} in kernels"
    yield Text(f"  {launches}, {moved / 1e6:.4g} MB of device memory, {_rate(moved, time_ns)}")
    found = roofline.roof(flops or 0.0, moved, measured, precision)
    if found is None:
        yield Text("  no roofline: this device's rates are not known; kbench doctor measures them", style="dim")
    elif flops is None:
        yield Text(
            "  the problem's operations are not known (kbench problems list --costs), so this is of its bytes alone",
            style="dim",
        )
        yield Text(
            f"  roofline: {format_time(found.memory_us)} for the bytes: {found.memory_us * 1e3 / time_ns:.0%} of it reached"
        )
    else:
        yield Text(f"  roofline: {roofline.told(found)}: {found.least_us * 1e3 / time_ns:.0%} of it reached")


def _rate(moved_bytes: float, time_ns: float) -> str:
    return f"{moved_bytes / time_ns / 1e3:.3g} TB/s" if time_ns else "-"
