"""kbench: the referee for machine-written GPU kernels.

From Python: `kbench.load(run)` gives a run as a DataFrame, `kbench.judge(problem, source)` a Verdict, `kbench.close()` ends the
referee that judging keeps open (kbench/api.py says more). Importing this loads neither torch nor pandas.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbench.api import close, judge, load

__version__ = "0.1.0"
__all__ = ["__version__", "close", "judge", "load"]


def __getattr__(name: str) -> Any:
    if name in ("close", "judge", "load"):
        return getattr(importlib.import_module("kbench.api"), name)
    raise AttributeError(f"module 'kbench' has no attribute {name!r}")
