"""The build process: imports and constructs the candidate with no device visible, so that whatever it compiles is compiled.

Its messages are the candidate's own words. What counts is the folder that it leaves.
"""

from __future__ import annotations

import socket
import traceback
import types
from pathlib import Path
from typing import Any

import torch

from kbench.candidate import modules, protocol
from kbench.candidate.worker import build_tree

MAX_TEXT = 400_000
# What torch and Triton say where a GPU is wanted and none is there; the worker, which has one, constructs again.
NO_GPU = (
    "Found no NVIDIA driver", "No CUDA GPUs are available", "Torch not compiled with CUDA", "0 active drivers",
    "CUDA driver", "no CUDA-capable device", "libcuda",
)  # fmt: skip


def build(order: dict[str, Any]) -> None:
    """Imports and constructs; raises what the candidate raises, but not that there is no GPU here to run it on."""
    try:
        import_and_construct(order)
    except Exception as error:
        if not order["gpu"] or not any(mark in str(error) for mark in NO_GPU):
            raise
        traceback.print_exc()


def import_and_construct(order: dict[str, Any]) -> None:
    leaves = [torch.zeros(spec["shape"], dtype=getattr(torch, spec["dtype"])) for spec in order["init_leaves"]]
    cls = modules.load_class(Path(order["path"]), order["class_name"])
    modules.construct(cls, build_tree(order["init"], leaves), order)


def pretend_gpu(facts: dict[str, Any]) -> None:
    """Facts of the GPU that the code is for, where it asks torch before it compiles. There is none in this sandbox."""
    major, minor = (int(part) for part in facts["compute_capability"].split("."))
    properties = types.SimpleNamespace(
        name=facts["model"], major=major, minor=minor, total_memory=facts["memory_bytes"], warp_size=32,
        multi_processor_count=facts["multiprocessors"],
    )  # fmt: skip
    stubs: dict[str, Any] = {
        "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0,
        "get_device_capability": lambda device=None: (major, minor), "get_device_name": lambda device=None: facts["model"],
        "get_device_properties": lambda device=None: properties,
    }  # fmt: skip
    for name, stub in stubs.items():
        setattr(torch.cuda, name, stub)


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
        if order["gpu"]:
            pretend_gpu(order["gpu"])
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
