"""One call of a solution under Nsight Compute. What comes back is the process's own word: nothing is judged by it.

As a role of the fork server it starts `ncu` on this very module, whose output goes to the log; under ncu it makes the call.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch

from kbench.candidate import modules, protocol

ORDER = "/tmp/profiled.json"
WARM_UP = 3  # calls that are not profiled: autotuning, first compilation
FLUSH_BYTES = 256 << 20  # larger than any L2


def main(fds: list[int]) -> None:
    channel = socket.socket(fileno=fds[0])
    order = protocol.receive(channel)
    assert order is not None
    Path(ORDER).write_text(json.dumps(order))
    command = [*order["ncu"], sys.executable, "-s", "-m", "kbench.candidate.profiled"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, check=False, env={**os.environ, "TMPDIR": "/tmp"})
    protocol.send(channel, {"say": "profiled", "code": done.returncode})


def call_once(order: dict[str, Any]) -> None:
    """Everything before the call happens outside the profiler's range, and the call starts with a cold L2."""
    modules.set_tf32(order["tf32"])
    torch.manual_seed(0)
    reference: dict[str, Any] = {"__name__": "problem"}
    exec(compile(order["reference"], "problem.py", "exec"), reference)
    init = [cast(value, order) for value in reference["get_init_inputs"](**order["shape"])]
    cls = modules.load_class(Path(order["path"]), order["class_name"]) if order["path"] else reference["Model"]
    module = modules.construct(cls, init, order)
    if order["compile"] is not None:
        module = torch.compile(module, mode=order["compile"] or None)
    inputs = [cast(value, order) for value in reference["get_inputs"](**order["shape"])]
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


def cast(value: Any, order: dict[str, Any]) -> Any:
    """Tensors on the device, floating ones in the run's precision."""
    if isinstance(value, torch.Tensor):
        dtype = modules.DTYPES[order["precision"]] if value.is_floating_point() else value.dtype
        return value.to(order["device"], dtype)
    if isinstance(value, (list, tuple)):
        return type(value)(cast(item, order) for item in value)
    if isinstance(value, dict):
        return {key: cast(item, order) for key, item in value.items()}
    return value


if __name__ == "__main__":
    call_once(json.loads(Path(ORDER).read_text()))
