"""The oracle's process: serves the lane's requests on one problem. Runs in the reference sandbox; knows seeds, no verdicts.

describe   load the problem, say what its inputs, outputs and state are, and how long a call takes
map        where the lane's areas lie
time       how long a call takes, once more
weights    make a set of weights from a seed, into the staging area
fill       make inputs from seeds, into slots of the staging area
expect     fp64 and eager answers for the calls the lane chose, into the expected area
rows       the same for one row of many calls, where the problem treats the rows of a batch alike and apart
places     which indices of a candidate's answer name a wrong place (ties are free)
"""

from __future__ import annotations

import importlib.util
import socket
import sys
import time
import traceback
from functools import partial
from pathlib import Path
from typing import Any

import torch

from kbench.candidate import modules, protocol
from kbench.candidate.memory import Shared
from kbench.candidate.worker import build_tree, flatten
from kbench.oracle import draws, ties

ROW_TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.bfloat16: 1e-2, torch.float16: 1e-2}
SPARE_SHARE = 0.08  # of the device's memory, freed, that this process may keep
SCORES_AT_ONCE = 1 << 26
REPEAT_TOLERANCE = 1e-3  # of rms(y): two runs of one call that differ by more are a stochastic forward


def load_problem(path: str) -> Any:
    specification = importlib.util.spec_from_file_location("kbench_problem", Path(path))
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules["kbench_problem"] = module
    specification.loader.exec_module(module)
    return module


def tree_of(value: Any, leaves: list[torch.Tensor]) -> Any:
    """A value as JSON, tensors as {"tensor": i}; the inverse of build_tree. TypeError on what JSON cannot carry."""
    if isinstance(value, torch.Tensor):
        leaves.append(value)
        return {"tensor": len(leaves) - 1}
    if isinstance(value, (list, tuple)):
        return {"tuple" if isinstance(value, tuple) else "list": [tree_of(item, leaves) for item in value]}
    if isinstance(value, dict):
        return {"dict": {str(key): tree_of(item, leaves) for key, item in value.items()}}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(
        f"a {type(value).__name__} among the arguments; tensors, numbers, strings and lists of them are understood"
    )


def spec_of(tensor: torch.Tensor) -> dict[str, Any]:
    stride = list(tensor.stride()) if is_dense(tensor) else list(torch.empty(tensor.shape, device="meta").stride())
    return {"dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape), "stride": stride}


def is_dense(tensor: torch.Tensor) -> bool:
    """Whether the elements fill one stretch of memory without overlap, in whatever order of dimensions."""
    filled = 1
    for stride, size in sorted((s, n) for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n != 1):
        if stride != filled:
            return bool(tensor.is_contiguous())
        filled *= size
    return True


def alike(first: torch.Tensor, second: torch.Tensor, tolerance: float = REPEAT_TOLERANCE) -> bool:
    if not first.is_floating_point():
        return bool(torch.equal(first, second))
    a, b = first.double(), second.double()
    scale = a.square().mean().sqrt() + 1e-30
    close = (a - b).abs() <= tolerance * scale
    return bool((close | (a == b) | (a.isnan() & b.isnan())).all())


class Oracle:
    def __init__(self, staging: int, expected: int) -> None:
        self.fds = {"staging": staging, "expected": expected}
        self.areas: dict[str, Shared] = {}
        self.has_fp64 = True
        self.told: list[str] | None = None
        self.selections: dict[tuple[int, int], tuple[ties.Selection, float]] = {}

    def map(self, request: dict[str, Any]) -> dict[str, Any]:
        for name, ticket in request["tickets"].items():
            self.areas[name] = Shared(ticket, self.fds[name])
        self.plan = request
        self.example.clear()
        return {}

    def describe(self, request: dict[str, Any]) -> dict[str, Any]:
        self.settings = request
        modules.set_tf32(request["tf32"])
        module = load_problem(request["path"])
        self.model_class, shape = module.Model, request["shape"]
        self.dtype = getattr(torch, request["precision"])
        self.inputs = draws.InputMaker(partial(module.get_inputs, **shape), request["device"], self.dtype)
        torch.manual_seed(request["seed"])
        self.init = list(draws.cast(module.get_init_inputs(**shape), self.dtype))
        arguments = self.inputs.make(request["seed"], request["seed"])
        self.example: list[Any] = arguments
        return self.description(arguments)

    def time(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"call_us": self.call_us(self.example)}

    def description(self, arguments: list[Any]) -> dict[str, Any]:
        leaves: list[torch.Tensor] = []
        init_leaves: list[torch.Tensor] = []
        tree, init = tree_of(arguments, leaves), tree_of(self.init, init_leaves)
        self.init_values = init_leaves
        self.set_weights(self.settings["seed"], "all")
        self.probe_fp64(arguments)
        outputs, mutated, stochastic = self.observe(arguments)
        structure, results = flatten(outputs)
        pointers = {leaf.untyped_storage().data_ptr() for leaf in leaves}
        return {
            "call_us": self.call_us(arguments),
            "device": self.settings["device"],
            "arguments": tree,
            "leaves": [spec_of(leaf) for leaf in leaves],
            "init": init,
            "init_leaves": [spec_of(leaf) for leaf in init_leaves],
            "structure": structure,
            "outputs": [self.output_spec(leaf, pointers) for leaf in results],
            "state": self.state_spec(),
            "mutated": mutated,
            "stochastic": stochastic,
            "training": self.model.training,
            "batch": 0 if mutated or stochastic else self.batch(arguments),
        }

    def batch(self, arguments: list[Any]) -> int:
        """Size of the batch whose rows do not depend on one another, seen by computing a few alone; 0 where there is none."""
        leaves = draws.leaves_of(arguments)
        sizes = {leaf.shape[0] if leaf.ndim else 0 for leaf in leaves}
        model, dtype = (self.model64, torch.float64) if self.model64 is not None else (self.model, self.dtype)
        if len(sizes) != 1 or min(sizes) < 2:
            return 0
        size = sizes.pop()
        picked = torch.randperm(size)[:2]
        few = [leaf[picked.to(leaf.device)] for leaf in leaves]
        try:
            with torch.no_grad():
                whole = flatten(model(*draws.cast(arguments, dtype)))[1]
                alone = flatten(model(*draws.cast(build_tree(tree_of(arguments, []), few), dtype)))[1]
                pairs = [(a[picked.to(a.device)], b) for a, b in zip(whole, alone, strict=True)]
        except Exception:  # an operator that wants the batch as it is
            return 0
        finally:
            self.restore()
        floating = all(a.is_floating_point() and a.shape == b.shape for a, b in pairs)
        return size if floating and all(alike(a, b, ROW_TOLERANCE[dtype]) for a, b in pairs) else 0

    def call_us(self, arguments: list[Any]) -> float:
        """Shortest of three eager calls; it only plans how many calls a block gets."""
        elapsed = []
        with torch.no_grad():
            for _ in range(3):
                self.settle()
                started = time.perf_counter()
                self.model(*arguments)
                self.settle()
                elapsed.append(time.perf_counter() - started)
        self.restore()
        return min(elapsed) * 1e6

    def settle(self) -> None:
        """On a GPU: until all is done; and memory that is free goes back to the device, where others need it."""
        if self.settings["device"] != "cpu":
            torch.cuda.synchronize()
            spare = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
            if spare > SPARE_SHARE * torch.cuda.get_device_properties("cuda").total_memory:
                torch.cuda.empty_cache()

    def output_spec(self, leaf: Any, pointers: set[int]) -> dict[str, Any]:
        if not isinstance(leaf, torch.Tensor):
            if not isinstance(leaf, (bool, int, float)):
                raise TypeError(f"forward returns a {type(leaf).__name__}; tensors and numbers are understood")
            return {"dtype": "scalar", "shape": [], "stride": [], "aliases_input": False}
        return spec_of(leaf) | {"aliases_input": leaf.untyped_storage().data_ptr() in pointers}

    def state_spec(self) -> list[dict[str, Any]]:
        parameters = {name for name, _ in self.model.named_parameters()}
        return [
            {**spec_of(value.contiguous()), "name": name, "kind": "parameter" if name in parameters else "buffer"}
            for name, value in self.model.state_dict().items()
        ]

    def observe(self, arguments: list[Any]) -> tuple[Any, list[str], bool]:
        """Outputs of a first call, the names of state that it changes, and whether a second one gives other values."""
        before = {name: value.clone() for name, value in self.model.state_dict().items()}
        with torch.no_grad():
            torch.manual_seed(self.settings["seed"])
            first = self.model(*arguments)
            kept = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in flatten(first)[1]]
            after = self.model.state_dict()
            mutated = [name for name, value in before.items() if not torch.equal(value, after[name])]
            self.model.load_state_dict(before)
            torch.manual_seed(self.settings["seed"] + 1)
            second = flatten(self.model(*arguments))[1]
            self.model.load_state_dict(before)
        pairs = zip(kept, second, strict=True)
        stochastic = any(isinstance(a, torch.Tensor) and not alike(a, b) for a, b in pairs)
        return first, mutated, stochastic

    def set_weights(self, seed: int, randomised: str) -> None:
        """Constructed from a seed; then "all" of it is randomised, or the "telltales" alone, or "nothing"."""
        self.model = draws.constructed(self.model_class, self.init, seed, self.settings)
        if randomised != "nothing":
            only = self.telltales() if randomised == "telltales" else None
            draws.randomise(self.model, seed, self.settings["noise_buffers"], only)
        self.state = {name: value.clone() for name, value in self.model.state_dict().items()}
        if self.has_fp64:
            settings = self.settings | {"precision": "float64"}
            init = draws.cast(self.init, torch.float64)
            self.model64: torch.nn.Module | None = draws.constructed(self.model_class, init, seed, settings)
        else:
            self.model64 = None
        self.restore()

    def probe_fp64(self, arguments: list[Any]) -> None:
        """A module that insists on its own dtype has no fp64 form: then eager's answer is the expected one."""
        try:
            with torch.no_grad():
                assert self.model64 is not None
                self.model64(*draws.cast(arguments, torch.float64))
        except Exception:
            traceback.print_exc()
            self.has_fp64, self.model64 = False, None
        self.restore()

    def restore(self) -> None:
        self.model.load_state_dict(self.state)
        if self.model64 is not None:
            self.model64.load_state_dict(self.state)

    def telltales(self) -> list[str]:
        """Found on first use, from one seed whatever the weights' own: few candidates need it."""
        if self.told is None:
            settings = self.settings
            noise = settings["noise_buffers"]
            self.told = draws.telltales(self.model_class, self.init, settings["seed"], settings, noise)
        return self.told

    def weights(self, request: dict[str, Any]) -> dict[str, Any]:
        self.set_weights(request["seed"], request["randomised"])
        values = [*self.init_values, *self.state.values()]
        for spec, value in zip(request["targets"], values, strict=True):
            self.area("staging", spec, 0).copy_(value)
        return {"telltales": self.told or []}

    def area(self, name: str, spec: dict[str, Any], base: int) -> torch.Tensor:
        return self.areas[name].view(spec, base)

    def fill(self, request: dict[str, Any]) -> dict[str, Any]:
        for item in request["slots"]:
            arguments = self.inputs.make(item["master_seed"], item["seed"], item["family"], item["near_seed"])
            leaves = draws.leaves_of(arguments)
            for spec, leaf in zip(self.plan["leaves"], leaves, strict=True):
                self.area("staging", spec, item["base"]).copy_(leaf)
        return {}

    def expect(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answers for the calls at `want` of the sequence of slots at `bases`; state after the last, if asked for."""
        self.restore()
        self.selections = {}
        wanted = {position: place for place, position in enumerate(request["want"])}
        last = len(request["bases"]) if request["state"] else max(wanted, default=-1) + 1
        for position, base in enumerate(request["bases"][:last]):
            if position in wanted:
                self.answer(base, wanted[position], request["targets"][wanted[position]])
            elif request["stateful"]:
                self.answer(base, -1, [])
        if request["state"]:
            self.write_state(request["state"])
        self.restore()
        return {"selected": [list(key) for key in self.selections]}

    def rows(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answers for row `rows[i]` of the call in the slot at `bases[i]`, all as one batch."""
        self.restore()
        leaves = []
        for spec in self.plan["leaves"]:
            slots = zip(request["bases"], request["rows"], strict=True)
            leaves.append(torch.stack([self.area("staging", spec, base)[row] for base, row in slots]))
        arguments = build_tree(self.plan["arguments"], leaves)
        eager, _ = self.forward(self.model, arguments)
        exact = eager
        if self.model64 is not None:
            exact, _ = self.forward(self.model64, draws.cast(arguments, torch.float64))
        for i, target in enumerate(request["targets"]):
            self.area("expected", target["exact"], 0)[: len(leaves[0])].copy_(exact[i])
            self.area("expected", target["eager"], 0)[: len(leaves[0])].copy_(eager[i])
        return {}

    def answer(self, base: int, place: int, targets: list[dict[str, Any]]) -> None:
        leaves = [self.area("staging", spec, base) for spec in self.plan["leaves"]]
        arguments = build_tree(self.plan["arguments"], leaves)
        eager, eager_found = self.forward(self.model, arguments)
        for i, target in enumerate(targets):
            self.write_answer(target["eager"], eager[i])
        exact, exact_found = (eager, eager_found)
        if self.model64 is not None:
            del eager  # memory
            exact, exact_found = self.forward(self.model64, draws.cast(arguments, torch.float64))
        for i, target in enumerate(targets):
            self.write_answer(target["exact"], exact[i])
            chosen = ties.selection_of(exact[i], exact_found) if isinstance(exact[i], torch.Tensor) else None
            if chosen is not None:
                selection = exact_found[chosen]
                self.selections[place, i] = (selection, self.score_error(selection, eager_found[chosen]))

    def score_error(self, exact: ties.Selection, eager: ties.Selection) -> float:
        """Largest difference between the two sets of scores, where both are finite."""
        worst = 0.0
        pairs = zip(
            exact.scores.reshape(-1).split(SCORES_AT_ONCE), eager.scores.reshape(-1).split(SCORES_AT_ONCE), strict=True
        )
        for a, b in pairs:
            gap = (a.double() - b.double()).abs_()
            worst = max(worst, float(torch.where(gap.isfinite(), gap, 0.0).max())) if gap.numel() else worst
        return worst

    def forward(self, model: torch.nn.Module, arguments: list[Any]) -> tuple[list[Any], list[ties.Selection]]:
        collector = ties.Selections()
        with torch.no_grad(), collector:
            leaves = flatten(model(*arguments))[1]
        return leaves, collector.found

    def write_answer(self, spec: dict[str, Any], value: Any) -> None:
        if isinstance(value, torch.Tensor) and value.is_complex():
            value = torch.view_as_real(value)
        self.area("expected", spec, 0).copy_(torch.as_tensor(value))

    def write_state(self, targets: list[dict[str, Any]]) -> None:
        eager = self.model.state_dict()
        exact = eager if self.model64 is None else self.model64.state_dict()
        for target in targets:
            self.write_answer(target["exact"], exact[target["name"]])
            self.write_answer(target["eager"], eager[target["name"]])

    def places(self, request: dict[str, Any]) -> dict[str, Any]:
        """How many indices of the answer at `answer` name a wrong place, and where the first stands (flat)."""
        selection, score_error = self.selections[request["place"], request["leaf"]]
        chosen = self.area("expected", request["answer"], 0).reshape(selection.index.shape)
        wrong = ties.wrong_places(chosen, selection, request["k"] * score_error).reshape(-1)
        first = int(wrong.nonzero()[0]) if wrong.any() else -1
        return {"wrong": int(wrong.sum()), "first": first}


def main(fds: list[int]) -> None:
    wire, staging, expected = fds
    serve(socket.socket(fileno=wire), Oracle(staging, expected))


def serve(channel: socket.socket, oracle: Oracle) -> None:
    while (request := protocol.receive(channel)) is not None:
        try:
            answer = getattr(oracle, request["do"])(request)
            oracle.settle()
        except Exception as error:
            text = "".join(traceback.format_exception(error))[-20_000:]
            answer = {"failed": f"{type(error).__name__}: {error}"[:2000], "text": text}
        protocol.send(channel, answer)
