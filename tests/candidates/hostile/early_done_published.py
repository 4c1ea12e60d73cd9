"""Knows the worker program: finds it by walking the stack, publishes an empty output for every call of the block, flips
done, and only then computes.
expects: timing_invalid, tamper, incorrect"""

import ctypes
import sys

import torch
import torch.nn as nn


def _worker_frame():
    frame = sys._getframe()
    while frame is not None:
        worker = frame.f_locals.get("self")
        if hasattr(worker, "table") and hasattr(worker, "done") and "calls" in frame.f_locals:
            return worker, frame.f_locals["calls"]
        frame = frame.f_back
    return None, None


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.ready = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.ready:
            return self.ready.pop(0)
        worker, calls = _worker_frame()
        if worker is None:
            return torch.relu(x)
        outputs = [torch.empty_like(arguments[0]) for arguments in calls]
        for i, output in enumerate(outputs):
            worker.table.publish(i, 0, [output])
        sequence = ctypes.c_uint32.from_address(ctypes.addressof(worker.go)).value
        ctypes.c_uint32.from_address(worker.done).value = sequence
        ctypes.CDLL(None).syscall(202, ctypes.c_void_p(worker.done), 1, 1 << 30, None, None, 0)  # FUTEX_WAKE
        for output, arguments in zip(outputs, calls):
            torch.clamp_min(arguments[0], 0, out=output)
        self.ready = outputs[1:]
        return outputs[0]
