"""The page's plots, as documents that the Bokeh script beside the page draws. Colours of text and grid are set there, by theme."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from bokeh.embed import json_item
from bokeh.models import ColumnDataSource, HoverTool
from bokeh.models.annotations import Legend, LegendItem, Span, Whisker
from bokeh.plotting import figure
from bokeh.util.paths import bokehjs_path

from kbench.leaderboard import METRIC, Row, estimate
from kbench.report.page.digest import Bounds, PageRun, fast_share

# Paul Tol's bright scheme: told apart by readers with colour blindness, and seen on white and on black.
COLOURS = ("#4477AA", "#EE6677", "#228833", "#CCBB44", "#66CCEE", "#AA3377")
REST = "#8a8f98"
P_GRID = tuple(float(p) for p in np.geomspace(0.25, 8, 81))
HEIGHT = 340


def script() -> bytes:
    """BokehJS as it ships in its Python package: core only, which all plots here keep to."""
    return (Path(bokehjs_path()) / "js" / "bokeh.min.js").read_bytes()


def label(text: str, width: int = 40) -> str:
    """Fit for a legend: capped, and never taken for mathematics."""
    plain = re.sub(r"\$+|\\[(\[]", " ", text)
    return plain if len(plain) <= width else plain[: width - 1] + "…"


def _figure(title: str, x: str, y: str, **more: Any) -> Any:
    plot: Any = figure(
        title=title, x_axis_label=x, y_axis_label=y, height=HEIGHT, sizing_mode="stretch_width",
        tools="pan,wheel_zoom,box_zoom,reset,save", active_scroll=None, toolbar_location="right",
        background_fill_alpha=0, border_fill_alpha=0, outline_line_color=None, **more,
    )  # fmt: skip
    plot.toolbar.logo = None
    plot.toolbar.autohide = True
    plot.title.text_font_size = "13px"
    plot.grid.grid_line_alpha = 0.25
    return plot


def _legend(plot: Any, glyph: Any, names: Sequence[str]) -> None:
    """One entry for each of the first rows of the glyph's source."""
    if names:
        entries = [LegendItem(label={"value": label(name)}, renderers=[glyph], index=i) for i, name in enumerate(names)]
        legend = Legend(items=entries, background_fill_alpha=0, border_line_alpha=0, label_text_font_size="11px", ncols=2,
                        label_text_baseline="middle", glyph_height=12)  # fmt: skip
        legend.spacing = 0
        plot.add_layout(legend, "below")


def _colours(count: int) -> list[str]:
    """The best rows in colour, the others in grey."""
    return [COLOURS[i] if i < len(COLOURS) else REST for i in range(count)]


def _strength(count: int, strong: float, weak: float) -> list[float]:
    return [strong if i < len(COLOURS) else weak for i in range(count)]


def _lines(plot: Any, xs: list[Any], ys: list[Any], models: list[str], tooltips: list[tuple[str, str]]) -> None:
    """A line a model in one glyph: a figure of forty renderers takes a second to write and long to draw."""
    count = len(models)
    source = ColumnDataSource({"xs": xs, "ys": ys, "who": models, "colour": _colours(count),
                               "width": _strength(count, 2.2, 1.0), "alpha": _strength(count, 1.0, 0.35)})  # fmt: skip
    lines = plot.multi_line("xs", "ys", source=source, line_color="colour", line_width="width", line_alpha="alpha",
                            hover_line_width=4, hover_line_alpha=1, hover_line_color="colour")  # fmt: skip
    plot.add_tools(HoverTool(renderers=[lines], tooltips=[("model", "@who"), *tooltips], line_policy="nearest"))
    _legend(plot, lines, models[: len(COLOURS)])


def fast_p(runs: Sequence[PageRun], baseline: str) -> Any:
    """Share of attempts that are correct and more than p times as fast as the baseline. The best runs in colour."""
    plot = _figure(
        f"fast_p against {baseline}", f"p (times {baseline})", "share of attempts", x_axis_type="log", y_range=(0, 1.02)
    )
    plot.add_layout(Span(location=1, dimension="height", line_dash="dashed", line_color=REST))
    shares = [np.array(fast_share(run, baseline, P_GRID)) for run in runs]
    _lines(
        plot,
        [np.array(P_GRID)] * len(runs),
        shares,
        [run.row.model for run in runs],
        [("p", "$x{0.00}"), ("share", "$y{0.0%}")],
    )
    plot.xaxis.ticker = [0.25, 0.5, 1, 1.5, 2, 4, 8]
    return json_item(plot)


def distribution(runs: Sequence[PageRun], baseline: str) -> Any:
    """Quantiles of the speed-ups of correct solutions, one line a run: 5, 25, 50, 75, 95 %."""
    timed = [(run, run.log_speedups(baseline)) for run in runs]
    rows = [
        (run.row, np.exp(np.quantile(logs, [0.05, 0.25, 0.5, 0.75, 0.95])), len(logs)) for run, logs in timed if logs
    ][:24]
    names = [f"{i + 1}. {label(row.model, 28)}" for i, (row, _, _) in enumerate(rows)]
    plot = _figure(
        f"speed-ups over {baseline}, correct solutions", f"times {baseline}", "", x_axis_type="log", y_range=names[::-1]
    )
    plot.height = max(140, 90 + 26 * len(rows))
    plot.add_layout(Span(location=1, dimension="height", line_dash="dashed", line_color=REST))
    q = np.array([quantiles for _, quantiles, _ in rows]).T if rows else np.zeros((5, 0))
    source = ColumnDataSource({"name": names, "who": [row.model for row, _, _ in rows], "n": [n for _, _, n in rows],
                               **{f"q{i}": q[i] for i in range(5)}})  # fmt: skip
    plot.segment("q0", "name", "q4", "name", source=source, line_color=REST, line_width=1.5)
    box = plot.hbar(
        y="name", left="q1", right="q3", height=0.5, source=source, fill_color=COLOURS[0], line_alpha=0, fill_alpha=0.75
    )
    plot.scatter("q2", "name", source=source, size=8, fill_color="#ffffff", line_color="#222222")
    plot.add_tools(HoverTool(renderers=[box], tooltips=[("model", "@who"), ("solutions", "@n"), ("median", "@q2{0.00}x"),
                                                        ("middle half", "@q1{0.00}x to @q3{0.00}x")]))  # fmt: skip
    return json_item(plot)


def pass_against_cost(rows: Sequence[Row]) -> Any | None:
    """Pass rate against the cost of a solved problem; None where no run has a cost."""
    known = [(row, cost, row.summary.overall.pass_rate) for row in rows if (cost := row.cost_per_solved_usd)]
    if not known:
        return None
    plot = _figure(
        "pass rate against cost", "US dollars a solved problem", "pass rate", x_axis_type="log", y_range=(0, 1.02)
    )
    models = [row.model for row, _, _ in known]
    source = ColumnDataSource({
        "x": [cost for _, cost, _ in known], "y": [e.value for _, _, e in known], "who": models, "colour": _colours(len(known)),
        "low": [e.interval.low if e.interval else e.value for _, _, e in known],
        "high": [e.interval.high if e.interval else e.value for _, _, e in known],
    })  # fmt: skip
    plot.segment("x", "low", "x", "high", source=source, line_color="colour", line_alpha=0.6)
    dots = plot.scatter("x", "y", source=source, size=10, color="colour")
    plot.add_tools(
        HoverTool(renderers=[dots], tooltips=[("model", "@who"), ("pass rate", "@y{0.0%}"), ("cost", "$@x{0.0000}")])
    )
    _legend(plot, dots, models[: len(COLOURS)])
    return json_item(plot)


def best_of_k(rows: Sequence[Row], baseline: str) -> Any | None:
    """The best so far after k attempts: expected, so that the order of the samples plays no part; failures at 1.0."""
    curves = []
    for row in rows:
        best = row.summary.overall.baselines[baseline].best_at_k
        points = [(int(k), found.value, found.interval) for k, found in best.items() if found.value is not None]
        if len(points) > 1:
            curves.append((row.model, points))
    if not curves:
        return None
    plot = _figure(f"best so far against attempts, over {baseline}", "attempts", f"times {baseline}, failures at 1.0")
    for colour, (_, points) in zip(COLOURS, curves, strict=False):
        band = {"x": [k for k, _, _ in points], "low": [b.low if b else v for _, v, b in points],
                "high": [b.high if b else v for _, v, b in points]}  # fmt: skip
        plot.varea("x", "low", "high", source=ColumnDataSource(band), fill_color=colour, fill_alpha=0.1)
    xs, ys = [[k for k, _, _ in points] for _, points in curves], [[v for _, v, _ in points] for _, points in curves]
    _lines(plot, xs, ys, [model for model, _ in curves], [("attempts", "$x{0}"), ("best", "$y{0.00}x")])
    return json_item(plot)


def history(rows: Sequence[Row], metric: str) -> Any:
    """A metric over checkpoints, with its 95 % interval."""
    chosen = METRIC[metric]
    found = [(row, estimate(row, chosen, None)) for row in rows]
    known = [(i, row, e) for i, (row, e) in enumerate(found) if e is not None and e.value is not None]
    names = [f"{i + 1}. {label(row.run_id, 24)}" for i, row in enumerate(rows)]
    plot = _figure(f"{chosen.title} over checkpoints", "", chosen.title, x_range=names)
    source = ColumnDataSource({
        "x": [names[i] for i, _, _ in known], "y": [e.value for _, _, e in known], "who": [row.run_id for _, row, _ in known],
        "low": [e.interval.low if e.interval else e.value for _, _, e in known],
        "high": [e.interval.high if e.interval else e.value for _, _, e in known],
    })  # fmt: skip
    plot.line("x", "y", source=source, line_color=COLOURS[0], line_width=2)
    dots = plot.scatter("x", "y", source=source, size=8, color=COLOURS[0])
    plot.add_layout(Whisker(base="x", upper="high", lower="low", source=source, line_color=COLOURS[0], line_alpha=0.7))
    shown = "@y{0.0%}" if chosen.rate else "@y{0.00}x"
    plot.add_tools(HoverTool(renderers=[dots], tooltips=[("run", "@who"), (chosen.title, shown)]))
    plot.xaxis.major_label_orientation = 0.7
    return json_item(plot)


@lru_cache(maxsize=1)
def _by_problem() -> Any:
    plot = _figure(
        "speed-up by problem, best attempt", "problems, by speed-up", "times the baseline", y_axis_type="log"
    )
    plot.add_layout(Span(location=1, dimension="width", line_dash="dashed", line_color=REST))
    entries = []
    for name, colour in (("eager", COLOURS[0]), ("compile", COLOURS[1])):
        source = ColumnDataSource({"x": [], "y": [], "low": [], "high": [], "who": []}, name=name)
        plot.segment("x", "low", "x", "high", source=source, line_color=colour, line_alpha=0.5)
        dots = plot.scatter("x", "y", source=source, size=7, color=colour, alpha=0.85)
        plot.add_tools(HoverTool(renderers=[dots], tooltips=[("problem", "@who"), (f"times {name}", "@y{0.00}x")]))
        entries.append(LegendItem(label={"value": f"over {name}"}, renderers=[dots]))
    plot.add_layout(
        Legend(
            items=entries, background_fill_alpha=0, border_line_alpha=0, orientation="horizontal", click_policy="hide"
        ),
        "below",
    )
    return json_item(plot)


def by_problem(run: PageRun) -> Any | None:
    """A run's best correct attempt at each problem, slowest first, with its interval; over both baselines."""
    data: dict[str, dict[str, list[Any]]] = {}
    for index, name in enumerate(("eager", "compile")):
        best: dict[str, Bounds] = {}
        for a in run.attempts:
            bounds = a.speedups[index]
            if bounds is not None and (a.problem not in best or bounds[0] > best[a.problem][0]):
                best[a.problem] = bounds
        ordered = sorted(best.items(), key=lambda item: item[1][0])
        data[name] = {
            "x": list(range(1, len(ordered) + 1)), "y": [b[0] for _, b in ordered], "who": [p for p, _ in ordered],
            "low": [b[1] if b[1] is not None else b[0] for _, b in ordered],
            "high": [b[2] if b[2] is not None else b[0] for _, b in ordered],
        }  # fmt: skip
    return _filled(_by_problem(), data) if any(columns["x"] for columns in data.values()) else None


@lru_cache(maxsize=4)
def _histogram(baseline: str) -> Any:
    plot = _figure(
        f"distribution of speed-ups over {baseline}", f"times {baseline}", "correct solutions", x_axis_type="log"
    )
    source = ColumnDataSource({"left": [], "right": [], "top": []}, name="bars")
    bars = plot.quad(left="left", right="right", top="top", bottom=0, source=source, fill_color=COLOURS[0],
                     line_color="#ffffff", line_alpha=0.4)  # fmt: skip
    plot.add_layout(Span(location=1, dimension="height", line_dash="dashed", line_color=REST))
    plot.add_tools(
        HoverTool(renderers=[bars], tooltips=[("from", "@left{0.00}x"), ("to", "@right{0.00}x"), ("solutions", "@top")])
    )
    plot.y_range.start = 0
    return json_item(plot)


def histogram(run: PageRun, baseline: str) -> Any | None:
    """How a run's speed-ups are distributed, in steps of a quarter octave."""
    logs = np.array(run.log_speedups(baseline)) / math.log(2)
    if not len(logs):
        return None
    low, high = math.floor(logs.min() * 4) / 4, math.ceil(logs.max() * 4 + 1e-9) / 4
    counts, edges = np.histogram(logs, np.arange(low, max(high, low + 0.25) + 0.125, 0.25))
    bars = {"left": list(2 ** edges[:-1]), "right": list(2 ** edges[1:]), "top": [int(count) for count in counts]}
    return _filled(_histogram(baseline), {"bars": bars})


def _filled(item: Any, data: dict[str, dict[str, list[Any]]]) -> Any:
    """A plot's document with these columns in its named sources: building a document takes fifty times as long."""
    if isinstance(item, list):
        return [_filled(part, data) for part in item]
    if not isinstance(item, dict):
        return item
    attributes = item.get("attributes", {})
    if item.get("name") == "ColumnDataSource" and attributes.get("name") in data:
        columns = {"type": "map", "entries": [[key, values] for key, values in data[attributes["name"]].items()]}
        return {**item, "attributes": {**attributes, "data": columns}}
    return {key: _filled(part, data) for key, part in item.items()}
