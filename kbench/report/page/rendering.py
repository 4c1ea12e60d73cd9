"""Templates to files: one environment a process, with autoescape on."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from kbench import __version__
from kbench.report.page import views
from kbench.report.page.digest import write_script

HERE = Path(__file__).parent


@lru_cache(maxsize=1)
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # fmt: skip
    made.globals.update(version=__version__, min=min)
    return made


def render(target: Path, path: str, template: str, root: str, **context: Any) -> None:
    """`root` is the way from `path` back to `target`: "" or "../"."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    text = environment().get_template(template).render(root=root, now=now, **context)
    (target / path).write_bytes(text.encode("utf-8", "replace"))


def write_plot(target: Path, name: str, item: Any, caption: str) -> views.Plot:
    write_script(target / "data" / "plots" / f"{name}.js", "kbenchPlot", name, item)
    return views.Plot(name, caption)
