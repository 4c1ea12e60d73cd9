"""Words that several messages share."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """ "1 attempt", "2 attempts"; `many` where that is not `one` with an s."""
    return f"{count} {one}" if count == 1 else f"{count} {many or one + 's'}"
