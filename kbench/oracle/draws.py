"""Fresh inputs at the speed of a copy, and randomised weights. Only torch is imported: `--repro` embeds this file whole.

On a GPU every draw is made for real: there it is as fast as a copy.

A problem's get_inputs() draws random numbers and then does something deterministic with them. Drawing is slow on a CPU (50 ms
for 16 MB, where relu takes 1.5 ms), so each draw is made MASTERS times for real; after that each element of an independent
identically distributed draw is mixed of one of a master and one of another, both turned by a random offset, so that it follows
the same distribution: two normal numbers by a rotation of a random angle, two uniform ones by their sum where it wraps round,
two permutations one after the other, a shift between them. No run of a master is there to be found again, and whatever
structure the problem puts on top (a mask, a sort, a softmax) is put on top by the problem's own code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

MASTERS = 3
SMALL_DRAW = 4096  # elements; below this a draw is simply made
AT_ONCE = 1 << 17  # elements that are mixed at once, so that they stay in the cache
LARGEST_SPAN = 1 << 30  # of integers whose sum is taken
NEGATIVE = 0.25  # of a norm's weights
MANY = 32  # values that do not have one sign by chance
PATCHES = 3  # elements that tell a near-duplicate from its original

Mix = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], Any]  # two draws, and where their mixture goes


def mixture(name: str, args: Sequence[Any], kwargs: dict[str, Any], drawn: torch.Tensor) -> Mix | None:
    """How two draws that the operator `name` made become a third that is as good; None where it draws something else."""
    numbers = [a for a in args if isinstance(a, (bool, int, float))]

    def given(position: int, word: str, default: float) -> Any:
        return numbers[position] if position < len(numbers) else kwargs.get(word, default)

    if name in ("randn", "randn_like", "normal_"):
        mean = given(0, "mean", 0.0) if name == "normal_" else 0.0
        angle = (0.1 + 0.8 * float(torch.rand(()))) * math.pi / 2
        return partial(rotated, mean, math.cos(angle), math.sin(angle))
    if name in ("rand", "rand_like"):
        return partial(wrapped, 0.0, 1.0)
    if name == "uniform_":
        return partial(wrapped, given(0, "from", 0.0), given(1, "to", 1.0))
    if name == "exponential_":
        return lambda a, b, out: torch.minimum(a, b, out=out).mul_(2)
    if name in ("randint", "randint_like", "random_"):
        bounds = [0, *numbers][-2:]
        fits = drawn.dtype in (torch.int32, torch.int64, torch.float32, torch.float64)
        if len(bounds) == 2 and fits and all(abs(bound) <= LARGEST_SPAN // 2 for bound in bounds):
            return partial(counted_on, int(bounds[0]), int(bounds[1]))
    return None


def rotated(mean: float, cosine: float, sine: float, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    torch.mul(a, cosine, out=out).add_(b, alpha=sine)
    if mean:
        out.add_(mean * (1 - cosine - sine))


def wrapped(low: float, high: float, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    torch.add(a, b, out=out)
    if (low, high) == (0.0, 1.0):
        out.frac_()
        return
    out.sub_(low)
    out.sub_((out >= high).to(out.dtype), alpha=high - low).clamp_(min=low)


def counted_on(low: int, high: int, a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
    torch.add(a, b, out=out)
    out.sub_(2 * low).remainder_(high - low).add_(low)


RANDOM = {
    "rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "uniform_", "normal_", "random_", "exponential_",
    "randperm",
}  # fmt: skip


def leaves_of(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves_of(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves_of(item)]
    return []


def cast(value: Any, dtype: torch.dtype) -> Any:
    """Floating tensors in dtype; integers, booleans and everything that is no tensor as they are."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.is_floating_point() else value
    if isinstance(value, (list, tuple)):
        return type(value)(cast(item, dtype) for item in value)
    if isinstance(value, dict):
        return {key: cast(item, dtype) for key, item in value.items()}
    return value


class Draws(TorchDispatchMode):  # type: ignore[misc]
    """Records the random draws of one get_inputs() call, or replays mixtures of recorded ones."""

    def __init__(self, masters: list[list[torch.Tensor]], record: bool, patch_seed: int | None) -> None:
        super().__init__()
        self.masters, self.record, self.index = masters, record, 0
        self.patches = None if patch_seed is None else torch.Generator().manual_seed(patch_seed)
        if record:
            self.masters.append([])

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        if name not in RANDOM:
            return func(*args, **(kwargs or {}))
        if self.record:
            drawn = func(*args, **(kwargs or {}))
            self.masters[-1].append(drawn.detach().clone())
            return drawn
        drawn = self.recombined(func, name, args, kwargs or {})
        self.index += 1
        if self.patches is not None and drawn.numel() > 1:
            self.patch(drawn, name == "randperm")
        return drawn

    def recombined(self, func: Any, name: str, args: Any, kwargs: Any) -> torch.Tensor:
        """The draw mixed of two masters'; made anew where it is small, or where nothing says how it can be mixed."""
        recorded = [master[self.index] for master in self.masters if self.index < len(master)]
        first = recorded[0] if recorded else torch.empty(0)
        if name == "randperm" and first.numel() >= SMALL_DRAW:
            one, other = two_of(recorded)
            size = len(one)
            return one.index_select(0, other.add(torch.randint(size, ())).remainder_(size))
        own = args[1:] if name.endswith(("_", "_like")) else args
        mix = mixture(name, own, kwargs, first) if first.numel() >= SMALL_DRAW else None
        if mix is None:
            drawn: torch.Tensor = func(*args, **kwargs)
            return drawn
        target: torch.Tensor = args[0] if name.endswith("_") else torch.empty_like(first)
        flat = target.view(-1) if target.is_contiguous() else first.new_empty(first.numel())
        compose(flat, [master.reshape(-1) for master in recorded], mix)
        if not target.is_contiguous():
            target.copy_(flat.view(target.shape))
        return target

    def patch(self, drawn: torch.Tensor, permutation: bool) -> None:
        """A few elements exchanged for others of the same draw; both are still draws of the same distribution."""
        flat = drawn.reshape(-1)
        for _ in range(PATCHES):
            i, j = torch.randint(flat.numel(), (2,), generator=self.patches).tolist()
            if permutation:
                flat[[i, j]] = flat[[j, i]]
            else:
                flat[i] = flat[j]


def two_of(sources: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    return [sources[i] for i in torch.randperm(len(sources))[:2].tolist()]


def compose(target: torch.Tensor, sources: Sequence[torch.Tensor], mix: Mix) -> None:
    """Fills target (flat) with the mixture of two of the sources, each turned by a random offset."""
    n = target.numel()
    first, second = two_of(sources)
    offsets = torch.randint(n, (2,)).tolist()
    turns = {n - offset for offset in offsets}
    bounds = sorted({*range(0, n, AT_ONCE), *turns, n})
    for begin, end in pairwise(bounds):
        a, b = ((begin + offset) % n for offset in offsets)
        mix(first[a : a + end - begin], second[b : b + end - begin], target[begin:end])


class InputMaker:
    """Makes get_inputs() calls from seeds. The same (master_seed, seed, near_seed) gives the same bits."""

    def __init__(self, get_inputs: Callable[..., Any], device: str, dtype: torch.dtype) -> None:
        self.get_inputs, self.device, self.dtype = get_inputs, device, dtype
        self.masters: dict[tuple[str, int], list[list[torch.Tensor]]] = {}

    def make(self, master_seed: int, seed: int, family: str = "default", near_seed: int | None = None) -> list[Any]:
        """Arguments of one call: the list get_inputs() returns, floating tensors cast to the precision."""
        masters = self.masters.get((family, master_seed))
        if masters is None:
            masters = self.draw_masters(family, master_seed) if self.device == "cpu" else [[]]
        torch.manual_seed(seed)
        with torch.device(self.device), Draws(masters, False, near_seed):
            return list(cast(self.call(family), self.dtype))

    def call(self, family: str) -> Any:
        return self.get_inputs() if family == "default" else self.get_inputs(family=family)

    def draw_masters(self, family: str, master_seed: int) -> list[list[torch.Tensor]]:
        stale = [key for key in self.masters if key[0] == family]
        for key in stale:
            del self.masters[key]
        masters: list[list[torch.Tensor]] = []
        for i in range(MASTERS):
            torch.manual_seed(master_seed + i)
            with torch.device(self.device), Draws(masters, True, None):
                self.call(family)
        self.masters[family, master_seed] = masters
        return masters


def constructed(cls: Any, init: Sequence[Any], seed: int, settings: dict[str, Any]) -> torch.nn.Module:
    """cls(*init) from one seed, in the declared mode and precision."""
    torch.manual_seed(seed)
    with torch.device(settings["device"]):
        module: torch.nn.Module = cls(*init)
    if settings["mode"] in ("train", "eval"):
        module.train(settings["mode"] == "train")
    if settings["precision"] != "float32":
        module.to(getattr(torch, settings["precision"]))
    return module


def varied(module: torch.nn.Module, noise_buffers: Sequence[str] = ()) -> dict[str, torch.Tensor]:
    """What `randomise` gives new values: floating parameters and running statistics, other buffers where `noise_buffers` names
    them."""
    state = dict(module.named_parameters())
    for name, buffer in module.named_buffers():
        if name in noise_buffers or name.endswith(("running_mean", "running_var")):
            state[name] = buffer
    return {name: value for name, value in state.items() if value.is_floating_point()}


def telltales(
    cls: Any, init: Sequence[Any], seed: int, settings: dict[str, Any], noise_buffers: Sequence[str]
) -> list[str]:
    """Names of what a constructor gives away: the same from two seeds, or many values of one sign, so that a kernel may rest
    on it."""
    first, second = (varied(constructed(cls, init, seed + i, settings), noise_buffers) for i in range(2))
    return [name for name, value in first.items() if torch.equal(value, second[name]) or is_one_sided(value)]


def is_one_sided(value: torch.Tensor) -> bool:
    return value.numel() >= MANY and (bool((value >= 0).all()) or bool((value <= 0).all()))


def randomise(
    module: torch.nn.Module, seed: int, noise_buffers: Sequence[str] = (), only: Sequence[str] | None = None
) -> None:
    """New values for every parameter and floating running statistic, or for those in `only`, in place; variances stay positive.

    Initialisation leaves telltales (ones in a norm's weight, zeros in its bias): each value is scaled by 1 +- 0.25, and
    what was zero becomes noise of a tenth. A quarter of a norm's weights turn negative: where all are positive, a maximum or
    any other monotone function can be taken before it.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, value in varied(module, noise_buffers).items():
            if only is not None and name not in only:
                continue
            noise = torch.randn(value.shape, generator=generator)
            factor = 1 + 0.25 * noise.clamp(-3, 3)
            fresh = torch.where(value.cpu() == 0, 0.1 * noise, value.cpu() * factor)
            if name.rpartition(".")[2] == "weight" and value.ndim == 1 and bool((value > 0).all()):
                fresh = torch.where(torch.rand(value.shape, generator=generator) < NEGATIVE, -fresh, fresh)
            value.copy_(fresh.abs() + 1e-3 if name.endswith("running_var") else fresh)
