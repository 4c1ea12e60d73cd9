"""What a worker does for one run: read it, leave its details, and write its page."""

from __future__ import annotations

from kbench.report.page import charts, views
from kbench.report.page.digest import Order, PageRun, digest
from kbench.report.page.rendering import render, write_plot

PROBLEMS = "Each dot is a problem's best correct attempt, with its interval; above the line is faster."
SPREAD = "Speed-ups over compile of all correct attempts."


def run_page(order: Order) -> PageRun:
    run = digest(order)
    items = (("problems", charts.by_problem(run), PROBLEMS), ("hist", charts.histogram(run, "compile"), SPREAD))
    plots = [
        write_plot(order.target, f"m-{run.slug}-{key}", item, caption)
        for key, item, caption in items
        if item is not None
    ]
    context = views.model_page(run, order.problem_slugs)
    render(order.target, f"model/{run.slug}.html", "model.html", "../", **context, plots=plots)
    return run
