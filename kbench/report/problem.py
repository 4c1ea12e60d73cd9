"""What a person wants to know of a problem beside its source: costs, where its shapes stand under the roofline, baselines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kbench import roofline
from kbench.costs import Costs, Known
from kbench.inert import one_line
from kbench.known_times import KnownTimes
from kbench.roofline import Roof
from kbench.words import format_time

COLUMNS, ROWS = 56, 9  # of the drawing


def problem_parts(
    known: Known, times: Sequence[KnownTimes], measured: dict[str, float], device: str, precision: str
) -> Iterator[RenderableType]:
    """`known`: costs by shape; `measured`: kbench.rates of `device`, in whose terms the roofline is drawn."""
    roofs = {
        shape: roofline.roof(costs.flops, costs.moved_bytes, measured, precision)
        for shape, costs in known.items()
        if costs
    }
    yield _costs_table(known, roofs, device)
    drawn = {shape: found for shape, found in roofs.items() if found is not None and found.flops and found.compute_us}
    if drawn:
        yield Text("\n".join(drawing(drawn)), no_wrap=True)
    elif not any(roofs.values()):
        yield Text(f"  {device}: its rates are not known; kbench doctor --device {device} measures them", style="dim")
    if times:
        yield _times_table(times)


def _costs_table(known: Known, roofs: dict[str, Roof | None], device: str) -> Table:
    table = Table(
        title=Text(f"a call, and the least that it takes on {device}"), title_justify="left", box=box.SIMPLE_HEAD
    )
    for column in ("shapes", "GFLOP", "moved", "weights", "FLOP/byte", "bytes take", "FLOPs take", "bound by"):
        table.add_column(column, justify="left" if column in ("shapes", "bound by") else "right")
    for shape, costs in known.items():
        table.add_row(
            shape, *(_cells(costs, roofs[shape]) if costs is not None else ["cannot be derived on the meta device"])
        )
    return table


def _cells(costs: Costs, found: Roof | None) -> list[str]:
    intensity = f"{costs.flops / costs.moved_bytes:.3g}" if costs.moved_bytes else "-"
    cells = [
        f"{costs.flops / 1e9:.3g}",
        f"{costs.moved_bytes / 1e6:.4g} MB",
        f"{costs.weights_bytes / 1e6:.3g} MB",
        intensity,
    ]
    if found is None:
        return [*cells, "-", "-", "-"]
    compute = format_time(found.compute_us) if found.compute_us is not None else "-"
    return [*cells, format_time(found.memory_us), compute, found.bound]


def drawing(roofs: dict[str, Roof]) -> Iterator[str]:
    """The roofline, both axes logarithmic, with a letter where each shape stands on it."""
    first = next(iter(roofs.values()))
    memory, peak = first.moved_bytes / first.memory_us * 1e6, first.flops / (first.compute_us or 1.0) * 1e6
    ridge = peak / memory
    places = [math.log10(found.flops / found.moved_bytes) for found in roofs.values()]
    low, high = min([*places, math.log10(ridge)]) - 0.7, max([*places, math.log10(ridge)]) + 0.7
    top, bottom = math.log10(peak), math.log10(memory) + low
    grid = [[" "] * COLUMNS for _ in range(ROWS)]

    def row(intensity: float) -> int:
        reached = min(top, math.log10(memory) + intensity)
        return round((top - reached) / (top - bottom) * (ROWS - 1))

    for column in range(COLUMNS):
        at = low + (high - low) * column / (COLUMNS - 1)
        grid[row(at)][column] = "-" if at >= math.log10(ridge) else "/"
    for shape, place in zip(roofs, places, strict=True):
        grid[row(place)][round((place - low) / (high - low) * (COLUMNS - 1))] = shape[0].upper()
    yield f"  {peak / 1e12:.3g} TFLOP/s"
    yield from (f"  |{''.join(line).rstrip()}" for line in grid)
    yield f"  +{'-' * COLUMNS}  FLOP/byte"
    ends = f"{10**low:.2g}", f"ridge {ridge:.3g}", f"{10**high:.2g}"
    yield f"   {ends[0]}{ends[1]:^{COLUMNS - len(ends[0]) - len(ends[2])}}{ends[2]}"
    yield f"   {', '.join(f'{shape[0].upper()} {shape}' for shape in roofs)}"


def _times_table(times: Sequence[KnownTimes]) -> Table:
    sides = list(dict.fromkeys(side for one in times for side in one.latency_us))
    table = Table(title="baselines in stored runs", title_justify="left", box=box.SIMPLE_HEAD)
    for column in ("run", "device", "shapes", *sides):
        table.add_column(column, justify="right" if column in sides else "left")
    for one in times:
        cells = [format_time(one.latency_us[side]) if side in one.latency_us else "-" for side in sides]
        table.add_row(one_line(one.run), one_line(one.device), one.shapes, *(cells or [one_line(one.failed, 60)]))
    return table
