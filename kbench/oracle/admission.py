"""The oracle's process where a problem itself is on trial: the same requests, and answers of wrong forwards.

outline    which wrong forwards there are: what can be altered
variant    eager's answer of one of them, into the expected area
same       whether that forward is the right one after all: in fp64, to within an ulp of the outputs' dtype
repeat     whether one call made twice gives the same bits
pace       how long an eager call takes
compiled   whether torch.compile's answer can be had, and how far it lies from eager's
"""

from __future__ import annotations

import socket
import time
import traceback
from contextlib import nullcontext
from typing import Any

import torch

from kbench.candidate.worker import build_tree, flatten
from kbench.oracle import draws, mutations
from kbench.oracle.program import Oracle, serve

EQUAL_ULP = {torch.float32: 2.0**-23, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7, torch.float64: 2.0**-52}
PACE_CALLS = 5
TIMES_OF_A_KIND = 3  # of an operator that a forward uses often, so many occurrences are altered: first, middle, last


class Trials(Oracle):
    def outline(self, request: dict[str, Any]) -> dict[str, Any]:
        """Alterations of the forward on the slot at `base`, and the state that can be drawn anew."""
        self.restore()
        traced = mutations.Traced()
        with torch.no_grad(), traced:
            self.model(*self.arguments(request["base"]))
        self.restore()
        buffers = dict(self.model.named_buffers())
        state = [name for name, value in self.model.state_dict().items() if value.is_floating_point()]
        return {
            "alterations": thinned(traced.found, traced.count),
            "idle": sorted(set(traced.idle)),
            "parameters": [name for name in state if name not in buffers],
            "buffers": [name for name in state if name in buffers],
        }

    def arguments(self, base: int, leaves_at: dict[str, int] | None = None) -> list[Any]:
        """The call on the slot at `base`; `leaves_at` takes single leaves from other slots."""
        bases = {int(leaf): at for leaf, at in (leaves_at or {}).items()}
        leaves = [self.area("staging", spec, bases.get(i, base)) for i, spec in enumerate(self.plan["leaves"])]
        arguments: list[Any] = build_tree(self.plan["arguments"], leaves)
        return arguments

    def variant(self, request: dict[str, Any]) -> dict[str, Any]:
        answer, done = self.changed(self.model, request, self.dtype)
        for target, value in zip(request["targets"], answer, strict=True):
            self.write_answer(target, value)
        return {"done": done}

    def same(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.model64 is None:
            return {"same": None}
        mine, done = self.changed(self.model64, request, torch.float64)
        right, _ = self.changed(self.model64, {"base": request["base"], "change": {"kind": "none"}}, torch.float64)
        ulp = EQUAL_ULP[self.dtype]
        return {"same": all(equal(a, b, ulp) for a, b in zip(mine, right, strict=True)) if done else None}

    def changed(self, model: torch.nn.Module, request: dict[str, Any], dtype: torch.dtype) -> tuple[list[Any], bool]:
        """Leaves of what a forward with one change returns, and whether the change came to bear."""
        change, base = request["change"], request["base"]
        kind = change["kind"]
        self.restore()
        arguments = draws.cast(self.arguments(base, change.get("leaves_at")), dtype)
        mode: Any = nullcontext()
        if kind == "tail":
            arguments = self.stale_tail(arguments, change, dtype)
        elif kind == "state":
            self.replace_state(model, change)
        elif kind == "round":
            arguments = [mapped(value, change["to"]) for value in arguments]
            self.round_state(model, change["to"])
        elif kind == "alter":
            mode = mutations.Altered(change["operator"], change["occurrence"], change["how"])
        with torch.no_grad(), mode:
            leaves = flatten(model(*arguments))[1]
        self.restore()
        return leaves, getattr(mode, "done", True)

    def stale_tail(self, arguments: list[Any], change: dict[str, Any], dtype: torch.dtype) -> list[Any]:
        """The last rows of one leaf as another call had them."""
        leaf = change["leaf"]
        leaves = [leaf.clone() for leaf in draws.leaves_of(arguments)]
        old = draws.leaves_of(draws.cast(self.arguments(change["other"]), dtype))[leaf]
        count = max(1, leaves[leaf].shape[0] // 16)
        leaves[leaf][-count:] = old[-count:]
        built: list[Any] = build_tree(self.plan["arguments"], leaves)
        return built

    def replace_state(self, model: torch.nn.Module, change: dict[str, Any]) -> None:
        """One state tensor zeroed, as it was constructed, or drawn anew. The same draw in fp32 and fp64."""
        name, how = change["name"], change["how"]
        value = self.state[name]
        if how == "zero":
            fresh = torch.zeros_like(value)
        else:
            other = draws.constructed(self.model_class, self.init, change["seed"], self.settings)
            if how == "anew":
                draws.randomise(other, change["seed"], self.settings["noise_buffers"])
            fresh = other.state_dict()[name]
            if how == "anew" and torch.equal(fresh, value):  # a table that is always the same
                generator = torch.Generator().manual_seed(change["seed"])
                noise = torch.randn(value.shape, generator=generator).to(value.device, value.dtype)
                fresh = value * (1 + 0.25 * noise) + 0.1 * noise * (value == 0)
        model.state_dict()[name].copy_(fresh)

    def round_state(self, model: torch.nn.Module, kind: str) -> None:
        for value in model.state_dict().values():
            value.copy_(mutations.rounded(value, kind))

    def repeat(self, request: dict[str, Any]) -> dict[str, Any]:
        first, _ = self.changed(self.model, {"base": request["base"], "change": {"kind": "none"}}, self.dtype)
        kept = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in first]
        second, _ = self.changed(self.model, {"base": request["base"], "change": {"kind": "none"}}, self.dtype)
        pairs = list(zip(kept, second, strict=True))
        return {"same": all(equal(a, b, 0.0) for a, b in pairs)}

    def pace(self, request: dict[str, Any]) -> dict[str, Any]:
        """Shortest of some eager calls. On a CPU a call counts its processor time where that is less than the time that
        went by: on a busy machine it waits for its turn."""
        arguments, elapsed = self.arguments(request["base"]), []
        for _ in range(PACE_CALLS):
            self.settle()
            started, worked = time.perf_counter(), time.process_time()
            with torch.no_grad():
                self.model(*arguments)
            self.settle()
            wall = time.perf_counter() - started
            elapsed.append(wall if self.settings["device"] != "cpu" else min(wall, time.process_time() - worked))
        self.restore()
        return {"call_us": min(elapsed) * 1e6}

    def compiled(self, request: dict[str, Any]) -> dict[str, Any]:
        arguments = self.arguments(request["base"])
        right, _ = self.changed(self.model, {"base": request["base"], "change": {"kind": "none"}}, self.dtype)
        right = [leaf.clone() if isinstance(leaf, torch.Tensor) else leaf for leaf in right]
        try:
            with torch.no_grad():
                mine = flatten(torch.compile(self.model)(*arguments))[1]
        except Exception as error:
            traceback.print_exc()
            return {"alike": None, "why": f"{type(error).__name__}: {str(error).strip().splitlines()[0][:200]}"}
        finally:
            self.restore()
        return {"why": "", "alike": all(equal(a, b, 1e-3) for a, b in zip(mine, right, strict=True))}


def thinned(found: list[tuple[str, int, str]], count: dict[str, int]) -> list[dict[str, Any]]:
    """Of an operator that comes by often the first, the middle and the last occurrence."""
    kept = []
    for name, occurrence, how in found:
        total = count[name]
        wanted = {1, (total + 1) // 2, total} if total > TIMES_OF_A_KIND else set(range(1, total + 1))
        if occurrence in wanted:
            kept.append({"operator": name, "occurrence": occurrence, "how": how})
    return kept


def mapped(value: Any, kind: str) -> Any:
    if isinstance(value, torch.Tensor):
        return mutations.rounded(value, kind)
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(item, kind) for item in value)
    return value


def equal(mine: Any, right: Any, ulp: float) -> bool:
    """Whether every element lies within an ulp of the larger of |right| and rms(right); non-finite ones are the same."""
    if not isinstance(right, torch.Tensor):
        return bool(mine == right)
    if not right.is_floating_point():
        return bool(torch.equal(mine, right))
    a, b = mine.double(), right.double()
    finite = b.isfinite()
    rms = b[finite].square().mean().sqrt() if bool(finite.any()) else b.new_zeros(())
    close = (a - b).abs() <= ulp * b.abs().clamp_min(rms)
    return bool((close | (a == b) | (a.isnan() & b.isnan())).all())


def main(fds: list[int]) -> None:
    wire, staging, expected = fds
    serve(socket.socket(fileno=wire), Trials(staging, expected))
