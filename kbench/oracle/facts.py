"""What a problem costs, derived from one forward on the meta device: no memory is touched, however large it is.

flops    those of products and convolutions as torch.utils.flop_counter counts them, and one an element of what any other
         operator makes
moved    bytes of inputs, weights and outputs, each once: the least that any kernel moves
traffic  bytes that eager's operators read and write, one after another
peak     bytes of the largest tensor on the way
"""

from __future__ import annotations

import signal
import socket
import traceback
from collections import Counter
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode, flop_registry

from kbench.candidate import protocol
from kbench.candidate.worker import flatten
from kbench.oracle import draws
from kbench.oracle.program import load_problem
from kbench.oracle.sizes import SIZING_LIMIT_S, size_bytes, too_long

NO_ARITHMETIC = {
    "empty", "empty_like", "empty_strided", "clone", "copy_", "_to_copy", "contiguous", "fill_", "zero_", "cat", "stack",
}  # fmt: skip


class Costs(TorchDispatchMode):  # type: ignore[misc]
    """Counts operators, the elements they make and the bytes they touch; views touch none."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: Counter[str] = Counter()
        self.elements = self.traffic = self.peak = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func.is_view:
            return result
        name = func.overloadpacket.__name__
        made, read = draws.leaves_of(result), draws.leaves_of([args, kwargs or {}])
        self.operators[name] += 1
        self.traffic += size_bytes(made) + size_bytes(read)
        self.peak = max([self.peak, *(size_bytes([tensor]) for tensor in made)])
        if name not in NO_ARITHMETIC and func.overloadpacket not in flop_registry:
            self.elements += sum(tensor.numel() for tensor in made)
        return result


def facts_of(request: dict[str, Any]) -> dict[str, Any]:
    """{"failed": why} where the forward cannot be followed on the meta device."""
    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, SIZING_LIMIT_S)
    try:
        return followed(request)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def followed(request: dict[str, Any]) -> dict[str, Any]:
    module = load_problem(request["path"])
    dtype, costs = getattr(torch, request["precision"]), Costs()
    with torch.device("meta"), torch.no_grad():
        arguments = draws.cast(module.get_inputs(**request["shape"]), dtype)
        model = module.Model(*draws.cast(module.get_init_inputs(**request["shape"]), dtype)).to(dtype)
        with FlopCounterMode(display=False) as counted, costs:
            outputs = flatten(model(*arguments))[1]
    inputs, state = draws.leaves_of(list(arguments)), [*model.parameters(), *model.buffers()]
    made = [leaf for leaf in outputs if isinstance(leaf, torch.Tensor)]
    moved = size_bytes([*inputs, *state, *made])
    return {
        "flops": counted.get_total_flops() + costs.elements,
        "inputs_bytes": size_bytes(inputs),
        "outputs_bytes": size_bytes(made),
        "weights_bytes": size_bytes(state),
        "moved_bytes": moved,
        "traffic_bytes": costs.traffic,
        "peak_bytes": costs.peak,
        "parameters": sum(value.numel() for value in model.parameters()),
        "operators": dict(costs.operators),
    }


def main(fds: list[int]) -> None:
    channel = socket.socket(fileno=fds[0])
    request = protocol.receive(channel)
    assert request is not None
    try:
        answer = facts_of(request)
    except BaseException as error:
        traceback.print_exc()
        answer = {"failed": f"{type(error).__name__}: {error}"[:2000]}
    protocol.send(channel, answer)
