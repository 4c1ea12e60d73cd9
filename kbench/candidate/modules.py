"""Loads a candidate as a module that is a file, constructs it, and puts the referee's weights into it."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import torch

DTYPES = {name: getattr(torch, name) for name in ("float32", "float16", "bfloat16")}
MODULE_NAME = "kbench_candidate"


def set_tf32(allowed: bool) -> None:
    """TF32 in matrix products and convolutions: everywhere or nowhere. A CPU has none."""
    torch.backends.cuda.matmul.allow_tf32 = allowed
    torch.backends.cudnn.allow_tf32 = allowed


class _SourceAlone(SourceFileLoader):
    """Compiles the file that is there; a cached .pyc beside it could be of any other source."""

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.get_data(self.path), self.path)


def check_source(path: Path, sha256: str) -> None:
    """That the file is still the one that was handed in. RuntimeError where a build or an earlier worker exchanged it."""
    if hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
        raise RuntimeError(f"{path.name} was changed after it was handed in")


def load_class(path: Path, class_name: str) -> type:
    """The class `class_name` of the module at path: a real file and an entry of sys.modules, as inspect, pickle,
    dataclasses and jit decorators want it; `__name__` is not "__main__". Raises whatever the import raises, or
    AttributeError where the class is not there.
    """
    specification = importlib.util.spec_from_file_location(
        MODULE_NAME, path, loader=_SourceAlone(MODULE_NAME, str(path))
    )
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[MODULE_NAME] = module
    sys.path.insert(0, str(path.parent))
    specification.loader.exec_module(module)
    found = getattr(module, class_name, None)
    if found is None:
        raise AttributeError(f"the solution defines no class {class_name}")
    return found  # type: ignore[no-any-return]


def construct(cls: type, init: Sequence[Any], settings: dict[str, Any]) -> Any:
    """cls(*init) on the declared device, in the declared mode and precision; floating parameters only are cast."""
    torch.manual_seed(settings["construct_seed"])
    with torch.device(settings["device"]):
        module = cls(*init)
    if isinstance(module, torch.nn.Module):
        if settings["mode"] == "eval":
            module.eval()
        elif settings["mode"] == "train":
            module.train()
        if settings["precision"] != "float32":
            module.to(DTYPES[settings["precision"]])
    return module


def tensors_of(module: Any) -> dict[str, torch.Tensor]:
    return dict(module.state_dict(keep_vars=True)) if isinstance(module, torch.nn.Module) else {}


def match_state(module: Any, wanted: Sequence[tuple[str, tuple[int, ...], str]]) -> tuple[str, dict[str, str]]:
    """How the reference's state (name, shape, kind) maps onto the candidate's: a word for the record, and names.

    By name where every name is there with its shape; else in order within each kind (parameter, buffer) where the
    shapes agree one to one; else "by_seed": both sides are constructed from one seed, and what has the reference's name and
    shape gets its values beside that.
    """
    if not wanted:
        return "stateless", {}
    own = tensors_of(module)
    named = {name: name for name, shape, _ in wanted if name in own and tuple(own[name].shape) == shape}
    if len(named) == len(wanted):
        return "by_name", named
    parameters = {name for name, _ in module.named_parameters()} if isinstance(module, torch.nn.Module) else set()
    pairs: dict[str, str] = {}
    for kind in ("parameter", "buffer"):
        theirs = [(name, shape) for name, shape, its_kind in wanted if its_kind == kind]
        mine = [(n, tuple(t.shape)) for n, t in own.items() if (n in parameters) == (kind == "parameter")]
        if [shape for _, shape in theirs] != [shape for _, shape in mine]:
            return "by_seed", named
        pairs |= {name: own_name for (name, _), (own_name, _) in zip(theirs, mine, strict=True)}
    return "by_order", pairs


def load_weights(module: Any, values: dict[str, torch.Tensor]) -> None:
    """Through load_state_dict, so that a candidate that packs its weights there, or watches _version, sees the change."""
    with torch.no_grad():
        module.load_state_dict(values, strict=False)
