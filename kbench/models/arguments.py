"""The arguments of a tool call: text that a model wrote."""

from __future__ import annotations

import json


def arguments_object(text: str) -> dict[str, object]:
    """As an object, for providers that take nothing else back. What is no object stands in one, as it was."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {"malformed": text}
    return value if isinstance(value, dict) else {"malformed": text}
