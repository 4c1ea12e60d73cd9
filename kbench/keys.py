"""The providers' keys: they stand in the user's variables, and leave this process's environment before it starts another one.

Without namespaces a candidate runs under the user's own uid, and may read /proc/PID/environ of whoever started it. So a value
is overwritten where it lies, too.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping

NAMES = (
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "LOCAL_API_KEY",
)  # fmt: skip
_known: set[str] = set()


def hide() -> None:
    """Take the keys out of this process's environment, so that no child gets them. An opened model keeps its own."""
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    for name in NAMES:
        secret = os.environ.get(name, "")
        if secret:
            _known.add(secret)
            place = libc.getenv(name.encode())
            if place:
                ctypes.memset(place, ord("*"), len(os.fsencode(secret)))
        os.environ.pop(name, None)


def without(text: str) -> str:
    """`text` with every known key's value replaced: some servers repeat what they were sent."""
    for secret in sorted(_known | {os.environ.get(name, "") for name in NAMES}, key=len, reverse=True):
        if len(secret) >= 6:  # shorter ones are words
            text = text.replace(secret, "[key]")
    return text


def left_out(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a process of ours may be started with."""
    return {name: value for name, value in environment.items() if name not in NAMES}
