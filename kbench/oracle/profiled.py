"""One call of a solution under Nsight Compute. What comes back is the process's own word: nothing is judged by it.

As a role of the fork server it starts `ncu` on this very module, whose output goes to the log; under ncu it makes the call.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import torch

from kbench.candidate import modules, protocol
from kbench.oracle import draws
from kbench.oracle.program import load_problem

ORDER = "/tmp/profiled.json"
WARM_UP = 3  # calls that are not profiled: autotuning, first compilation
FLUSH_BYTES = 256 << 20  # larger than any L2


def main(fds: list[int]) -> None:
    channel = socket.socket(fileno=fds[0])
    order = protocol.receive(channel)
    assert order is not None
    Path(ORDER).write_text(json.dumps(order))
    command = [*order["ncu"], sys.executable, "-s", "-m", "kbench.oracle.profiled"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False, env={**os.environ, "TMPDIR": "/tmp"})
    protocol.send(channel, {"say": "profiled", "code": done.returncode})


def call_once(order: dict[str, Any]) -> None:
    """Everything before the call happens outside the profiler's range, and the call starts with a cold L2."""
    modules.set_tf32(order["tf32"])
    problem, dtype = load_problem(order["problem"]), getattr(torch, order["precision"])
    init = list(draws.cast(problem.get_init_inputs(**order["shape"]), dtype))
    cls = modules.load_class(Path(order["path"]), order["class_name"]) if order["path"] else problem.Model
    module = modules.construct(cls, init, order)
    if order["compile"] is not None:
        module = torch.compile(module, mode=order["compile"] or None)
    inputs = draws.InputMaker(partial(problem.get_inputs, **order["shape"]), order["device"], dtype).make(0, 0)
    flush = torch.zeros(FLUSH_BYTES, dtype=torch.uint8, device=order["device"])
    with torch.no_grad():
        for _ in range(WARM_UP):
            module(*inputs)
        flush.add_(1)
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        module(*inputs)
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()


if __name__ == "__main__":
    call_once(json.loads(Path(ORDER).read_text()))
