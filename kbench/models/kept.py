"""A reply as a file: JSON, with the key of the request that it answers."""

from __future__ import annotations

import json
from pathlib import Path

from kbench.codec import decode
from kbench.errors import SchemaError
from kbench.files import json_text
from kbench.models import Reply


def reply_name(turn: int) -> str:
    return f"reply.{turn}.json"


def reply_entry(reply: Reply, key: str) -> str:
    return '{"key":"' + key + '","reply":' + json_text(reply) + "}\n"


def read_reply(path: Path, key: str | None = None) -> Reply | None:
    """The reply kept in `path`; None where there is none, half of one, or one to another request than that of `key`."""
    try:
        entry = json.loads(path.read_bytes())
        if key is not None and entry["key"] != key:
            return None
        return decode(Reply, entry["reply"])
    except (OSError, ValueError, KeyError, TypeError, SchemaError):
        return None
