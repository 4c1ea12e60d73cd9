"""Compiles one problem with torch.compile ahead of time, for Inductor's cache: as a reference worker will, and called once."""

from __future__ import annotations

import socket
import time
import traceback
from functools import partial
from pathlib import Path
from typing import Any

import torch

from kbench.candidate import modules, protocol
from kbench.oracle import draws


def compiled(request: dict[str, Any]) -> dict[str, Any]:
    """{"seconds": ...}, or {"failed": why}: an uncompilable problem is found again, and recorded, where it is judged."""
    started = time.monotonic()
    modules.set_tf32(request["tf32"])
    cls: Any = modules.load_class(Path(request["path"]), "Model")
    space, shape = cls.forward.__globals__, request["shape"]
    init = list(draws.cast(space["get_init_inputs"](**shape), modules.DTYPES[request["precision"]]))
    module = modules.construct(cls, init, {**request, "construct_seed": 0})
    maker = draws.InputMaker(
        partial(space["get_inputs"], **shape), request["device"], modules.DTYPES[request["precision"]]
    )
    arguments = maker.make(0, 0)
    with torch.no_grad():
        torch.compile(module, mode=request["compile"] or None)(*arguments)
    if request["device"] != "cpu":
        torch.cuda.synchronize()
    return {"seconds": time.monotonic() - started}


def main(fds: list[int]) -> None:
    channel = socket.socket(fileno=fds[0])
    request = protocol.receive(channel)
    assert request is not None
    try:
        answer = compiled(request)
    except BaseException as error:
        traceback.print_exc()
        answer = {"failed": f"{type(error).__name__}: {error}"[:2000]}
    protocol.send(channel, answer)
