"""What a candidate or a model wrote, made fit for a terminal and for the log of a CI job: nothing in it acts."""

from __future__ import annotations

import re

# GitHub's runner takes "::name ...::" at the start of a line, and "##[name]" anywhere, for a command.
COMMAND = re.compile(r"^(\s*):(?=:)|#(?=#\[)", re.MULTILINE)


def inert(text: str) -> str:
    """Without control characters but line breaks and tabs, and without commands to a CI runner."""
    plain = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)
    return COMMAND.sub(lambda match: f"{match[1]}. :" if match[1] is not None else "# ", plain)


def unbroken(text: str) -> str:
    """The same on one line, uncut."""
    return inert(" ".join(text.splitlines()))


def one_line(text: str, width: int = 160) -> str:
    """The same without line breaks, capped."""
    plain = " ".join(inert(text).split())
    return plain if len(plain) <= width else plain[: width - 1] + "\u2026"
