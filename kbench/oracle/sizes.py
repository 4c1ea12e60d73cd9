"""What a problem is built with and how large it is, found on the meta device: no memory is touched, however large it is."""

from __future__ import annotations

import signal
import socket
import traceback
from typing import Any, NoReturn

import torch

from kbench.candidate import protocol
from kbench.candidate.worker import flatten
from kbench.oracle import draws
from kbench.oracle.program import load_problem, spec_of, tree_of

# a long LSTM takes minutes on the meta device, step by step; its size is then unknown, and it is judged
SIZING_LIMIT_S = 20.0


def survey(request: dict[str, Any]) -> dict[str, Any]:
    """Constructor arguments as a tree, and bytes of inputs, outputs and weights (None where meta tensors cannot tell)."""
    module = load_problem(request["path"])
    dtype = getattr(torch, request["precision"])
    torch.manual_seed(0)
    init = list(draws.cast(module.get_init_inputs(**request["shape"]), dtype))
    leaves: list[torch.Tensor] = []
    tree = tree_of(init, leaves)
    return {
        "init": tree,
        "init_leaves": [spec_of(leaf) for leaf in leaves],
        "bytes": sizes(module, request, init, dtype),
    }


def sizes(module: Any, request: dict[str, Any], init: list[Any], dtype: torch.dtype) -> dict[str, int] | None:
    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, SIZING_LIMIT_S)
    try:
        with torch.device("meta"), torch.no_grad():
            arguments = draws.cast(module.get_inputs(**request["shape"]), dtype)
            model = module.Model(*init).to(dtype)
            outputs = flatten(model(*arguments))[1]
    except Exception:
        traceback.print_exc()
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    held = [*model.parameters(), *model.buffers()]
    return {
        "inputs": size_bytes(draws.leaves_of(list(arguments))),
        "outputs": size_bytes([leaf for leaf in outputs if isinstance(leaf, torch.Tensor)]),
        "weights": size_bytes(held),
    }


def too_long(_signal: int, _frame: object) -> NoReturn:
    raise TimeoutError("sizing it up takes too long")


def size_bytes(tensors: list[torch.Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def main(fds: list[int]) -> None:
    channel = socket.socket(fileno=fds[0])
    request = protocol.receive(channel)
    assert request is not None
    try:
        answer = survey(request)
    except BaseException as error:
        answer = {"failed": f"{type(error).__name__}: {error}"[:2000]}
    protocol.send(channel, answer)
