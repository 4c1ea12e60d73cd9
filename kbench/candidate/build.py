"""The build process: imports and constructs the candidate with no device visible, so that whatever it compiles is compiled.

Its messages are the candidate's own words. What counts is the folder that it leaves.
"""

from __future__ import annotations

import socket
import traceback
from pathlib import Path
from typing import Any

import torch

from kbench.candidate import modules, protocol
from kbench.candidate.worker import build_tree

MAX_TEXT = 400_000


def build(order: dict[str, Any]) -> None:
    """Imports and constructs; raises what the candidate raises."""
    leaves = [torch.zeros(spec["shape"], dtype=getattr(torch, spec["dtype"])) for spec in order["init_leaves"]]
    cls = modules.load_class(Path(order["path"]), order["class_name"])
    modules.construct(cls, build_tree(order["init"], leaves), order)


def tolerate_any_encoding() -> None:
    """torch decodes what the compiler prints as strict UTF-8, and would raise UnicodeDecodeError in place of its error."""
    from torch.utils import cpp_extension

    if hasattr(cpp_extension, "SUBPROCESS_DECODE_ARGS"):
        cpp_extension.SUBPROCESS_DECODE_ARGS = ("utf-8", "replace")


def main(fds: list[int]) -> None:
    channel = socket.socket(fileno=fds[0])
    order = protocol.receive(channel)
    assert order is not None
    answer = {"say": "built"}
    try:
        tolerate_any_encoding()
        build(order)
    except BaseException as error:
        text = "".join(traceback.format_exception(error))
        text = text.encode("utf-8", "replace").decode()
        answer = {"say": "error", "text": capped(text), "last": f"{type(error).__name__}: {error}"[:2000]}
    protocol.send(channel, answer)


def capped(text: str) -> str:
    if len(text) <= MAX_TEXT:
        return text
    half = MAX_TEXT // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters cut ...]\n{text[-half:]}"
