"""A one-shot worker: loads what was built, then runs blocks of calls on the buffers it is given.

Orders come over one socket; the answer to each is `ready` or `error`. The outputs of a block stand in the table as
addresses: the lane reads them itself, with this process frozen. There is no order that says "check" or "time".

    load      import, construct, map the state
    weights   load the state that lies in the input region
    arm       drop the last block's outputs, then wait for the go page to change, run it, publish, flip done
    trace     one untimed call under the profiler; what it reports is a claim
    segments  where the device memory lies that outputs stand in, with handles by which the lane maps it
    rest      give memory back that is not needed until the next order
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import socket
import sys
import traceback
from pathlib import Path
from typing import Any

import torch

from kbench.candidate import driver, modules, protocol
from kbench.candidate.memory import Shared

MAX_ERROR_CHARS = 20_000
TRACED_CALLS = 8
_DTYPE_CODES = {getattr(torch, name): code for code, name in enumerate(protocol.DTYPES)}


def build_tree(tree: Any, leaves: list[torch.Tensor]) -> Any:
    """The argument that a JSON tree stands for; {"tensor": i} is leaf i, lists and tuples keep their kind."""
    if not isinstance(tree, dict):
        return tree
    kind, value = next(iter(tree.items()))
    if kind == "tensor":
        return leaves[value]
    if kind in ("list", "tuple"):
        items = [build_tree(item, leaves) for item in value]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return {key: build_tree(item, leaves) for key, item in value.items()}
    return getattr(torch, value)  # {"dtype": "float32"}


def flatten(output: Any) -> tuple[int, list[Any]]:
    """Structure code and leaves of what forward returned; named tuples count as sequences, nested ones are flattened."""
    if isinstance(output, torch.Tensor):
        return 0, [output]
    if isinstance(output, (tuple, list)):
        return 1, [leaf for item in output for leaf in flatten(item)[1]]
    if isinstance(output, dict):
        return 2, [leaf for key in sorted(output, key=str) for leaf in flatten(output[key])[1]]
    return 3, [output]


class Table:
    """Writes descriptors of outputs and of state into the shared table: about a microsecond an output."""

    def __init__(self, memory: Any, calls: int, max_leaves: int) -> None:
        self.memory, self.max_leaves = memory, max_leaves
        self.row_bytes = protocol.row_bytes(max_leaves)
        self.state_offset = protocol.state_offset(calls, max_leaves)
        self.tails: dict[Any, bytes] = {}

    def publish(self, call: int, structure: int, leaves: list[Any]) -> None:
        at = protocol.TABLE_ROWS_OFFSET + call * self.row_bytes
        protocol.ROW_HEAD.pack_into(self.memory, at, len(leaves), structure)
        at += protocol.ROW_HEAD_BYTES
        for leaf in leaves[: self.max_leaves]:
            self.write_leaf(at, leaf)
            at += protocol.LEAF_BYTES

    def write_leaf(self, at: int, leaf: Any) -> None:
        if isinstance(leaf, torch.Tensor):
            key = (leaf.shape, leaf.stride(), leaf.dtype, type(leaf), leaf.is_cuda)
            tail = self.tails.get(key)
            if tail is None:
                tail = self.tails[key] = self.tail(leaf)
            protocol.LEAF_HEAD.pack_into(self.memory, at, leaf.data_ptr())
            start = at + protocol.LEAF_HEAD.size
            self.memory[start : start + len(tail)] = tail
        elif isinstance(leaf, (bool, int, float)):
            bits = int.from_bytes(ctypes.c_double(leaf), sys.byteorder)
            protocol.LEAF.pack_into(self.memory, at, bits, protocol.SCALAR, 0, 1, 0, *[0] * 16)
        else:
            protocol.LEAF.pack_into(self.memory, at, 0, protocol.NOT_A_TENSOR, 0, 0, 0, *[0] * 16)

    def tail(self, leaf: torch.Tensor) -> bytes:
        pad = [0] * (protocol.MAX_DIMS - leaf.ndim)
        plain = type(leaf) in (torch.Tensor, torch.nn.Parameter)
        code = _DTYPE_CODES.get(leaf.dtype, protocol.NOT_A_TENSOR)
        packed = protocol.LEAF.pack(0, code, leaf.ndim, plain, leaf.is_cuda, *leaf.shape, *pad, *leaf.stride(), *pad)
        return packed[protocol.LEAF_HEAD.size :]


class Worker:
    def __init__(self, channel: socket.socket, go: int, table: int, region: int) -> None:
        self.channel, self.fds = channel, {"go": go, "table": table, "region": region}
        self.held: list[Any] = []
        self.clones: dict[tuple[int, int], torch.Tensor] = {}  # where outputs are kept that cannot stay where they are
        self.names: dict[str, str] = {}

    def run(self) -> None:
        """Serves orders until the lane closes the socket or an order fails; the failure's text goes over the wire."""
        while (order := protocol.receive(self.channel)) is not None:
            stage = order["do"]
            try:
                answer = getattr(self, f"do_{stage}")(order)
            except BaseException as error:
                self.fail(order["nonce"], stage, error)
                return
            if answer is not None:
                protocol.send(self.channel, {"say": "ready", "nonce": order["nonce"], **answer})

    def fail(self, nonce: str, stage: str, error: BaseException) -> None:
        text = "".join(traceback.format_exception(error))[-MAX_ERROR_CHARS:]
        last = f"{type(error).__name__}: {error}"[:2000]
        protocol.send(self.channel, {"say": "error", "nonce": nonce, "stage": stage, "text": text, "last": last})

    def do_load(self, order: dict[str, Any]) -> dict[str, Any]:
        self.plan, self.on_cuda = order, order["device"] != "cpu"
        modules.set_tf32(order["tf32"])
        self.map_shared(order)
        if order["sha256"]:
            modules.check_source(Path(order["path"]), order["sha256"])
        self.cls = modules.load_class(Path(order["path"]), order["class_name"])
        self.init = build_tree(order["init"], self.init_tensors(order))
        self.module = modules.construct(self.cls, self.init, order)
        wanted = [(s["name"], tuple(s["shape"]), s["kind"]) for s in order["state"]]
        self.weights, self.names = modules.match_state(self.module, wanted)
        self.call = self.module
        if order["compile"] is not None:
            self.call = torch.compile(self.module, mode=order["compile"] or None)
        return {"weights": self.weights}

    def init_tensors(self, order: dict[str, Any]) -> list[torch.Tensor]:
        return [self.region.view(spec, 0).clone() for spec in order["init_leaves"]]

    def map_shared(self, order: dict[str, Any]) -> None:
        self.go = protocol.map_memory(self.fds["go"], protocol.GO_BYTES, writable=False)
        memory = protocol.map_memory(self.fds["table"], order["table_bytes"], writable=True, populate=True)
        self.done = ctypes.addressof(memory)
        self.table = Table(memoryview(memory).cast("B"), order["max_calls"], order["max_leaves"])
        self.region = Shared(order["region"], self.fds["region"])

    def do_weights(self, order: dict[str, Any]) -> dict[str, Any]:
        self.held = []
        if self.weights == "by_seed":
            self.module = self.call = modules.construct(self.cls, self.init, self.plan | order)
        if self.names:
            specs = [spec for spec in self.plan["state"] if spec["name"] in self.names]
            modules.load_weights(self.module, {self.names[s["name"]]: self.region.view(s, 0).clone() for s in specs})
        return {}

    def do_arm(self, order: dict[str, Any]) -> None:
        """Everything that can be done before the inputs exist; then sleeps until go, and runs the block. In a series one block
        follows another in the same way, until there is one of no call."""
        self.held = []
        self.region.populate()
        gc.collect(0)
        gc.disable()
        bases, specs, tree = self.plan["slots"], self.plan["leaves"], self.plan["arguments"]
        arguments = [build_tree(tree, [self.region.view(spec, base) for spec in specs]) for base in bases]
        address = ctypes.addressof(self.go)
        seen, count = protocol.load_word(address), 1
        protocol.send(self.channel, {"say": "ready", "nonce": order["nonce"]})
        while count:
            while protocol.load_word(address) == seen:
                if not order["spin"]:
                    protocol.wait_word(address, seen, None)
            seen, count = protocol.load_word(address), protocol.load_word(address + 4)
            slots = list((ctypes.c_uint32 * count).from_address(address + protocol.GO_ORDER_OFFSET))
            self.block([arguments[slot] for slot in slots], order["clone"])
            protocol.store_word(self.done, seen)
            protocol.wake_word(self.done)
            if not order["series"]:
                return None
        return None

    def block(self, calls: list[Any], clone: bool) -> None:
        call, publish, held = self.call, self.table.publish, self.held
        with torch.no_grad():
            for i, arguments in enumerate(calls):
                structure, leaves = flatten(call(*arguments))
                if clone:
                    leaves = [self.kept(i, place, leaf) for place, leaf in enumerate(leaves)]
                publish(i, structure, leaves)
                held.append(leaves)
        self.publish_state()
        if self.on_cuda:  # of this stream: work left on another is work that the caller of forward would not wait for
            torch.cuda.current_stream().synchronize()

    def kept(self, call: int, place: int, leaf: Any) -> Any:
        """A copy of an output, in memory that stays the same from block to block."""
        if not isinstance(leaf, torch.Tensor):
            return leaf
        own = self.clones.get((call, place))
        if own is None or own.shape != leaf.shape or own.dtype != leaf.dtype or own.device != leaf.device:
            own = self.clones[call, place] = torch.empty_like(leaf)
        return own.copy_(leaf)

    def publish_state(self) -> None:
        own = modules.tensors_of(self.module) if self.names else {}
        for i, spec in enumerate(self.plan["state"]):
            at = self.table.state_offset + i * protocol.LEAF_BYTES
            self.table.write_leaf(at, own.get(self.names.get(spec["name"], "")))

    def do_segments(self, order: dict[str, Any]) -> dict[str, Any]:
        """The caching allocator's segments, and the allocations that hold the addresses asked for."""
        bases = {segment["address"] for segment in torch.cuda.memory_snapshot()}
        for address in order["addresses"]:
            with contextlib.suppress(OSError):
                bases.add(driver.allocation_of(address)[0])
        held = []
        for base in sorted(bases - {self.region.address}):
            with contextlib.suppress(OSError):  # not every kind of memory can be exported
                held.append([base, driver.export(base)])
        return {"segments": {"held": held, "region": self.region.address}}

    def do_rest(self, order: dict[str, Any]) -> dict[str, Any]:
        self.held = []
        self.clones = {}
        if self.on_cuda:
            torch.cuda.empty_cache()
        return {}

    def do_trace(self, order: dict[str, Any]) -> dict[str, Any]:
        """Microseconds of one call by kind of operator, as this process's own profiler tells them.

        Of a few calls each kind's least: where something else had the processor, that would count as this kind's own.
        """
        self.held = []
        leaves = [self.region.view(spec, self.plan["slots"][0]) for spec in self.plan["leaves"]]
        arguments = build_tree(self.plan["arguments"], leaves)
        autograd = torch.autograd.profiler  # without kineto, whose start takes 2 s, and 6 s on a GPU
        timed = {"use_device": "cuda"} if self.on_cuda else {}  # by events round each operator
        figure = "self_device_time_total" if self.on_cuda else "self_cpu_time_total"
        counts: list[dict[str, float]] = []
        for _ in range(1 + TRACED_CALLS):  # the profiler's own first steps are in the first
            with (
                torch.no_grad(),
                autograd.profile(use_kineto=False, **timed) as trace,
                autograd.record_function("call"),
            ):
                self.call(*arguments)
            counts.append({e.key: float(getattr(e, figure)) for e in trace.key_averages()})
        kinds = {kind for count in counts[1:] for kind in count}
        return {"operators_us": {kind: min(count[kind] for count in counts[1:] if kind in count) for kind in kinds}}


def main(fds: list[int]) -> None:
    wire, go, table, region = fds
    torch.set_num_threads(torch.get_num_threads())
    Worker(socket.socket(fileno=wire), go, table, region).run()
