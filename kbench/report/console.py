"""Where results are printed: as wide as the terminal, and wide enough for whole tables where there is none."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PIPED_COLUMNS = 160


def output(stderr: bool = False) -> Console:
    from rich.console import Console

    known = (sys.stderr if stderr else sys.stdout).isatty() or "COLUMNS" in os.environ
    width = None if known else PIPED_COLUMNS
    return Console(width=width, markup=False, emoji=False, stderr=stderr)  # names are text, also "[/b]"
