"""Runs worked examples of the prompts beside their references: python -m tests.example_check LANGUAGE DEVICE."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import torch

from kbench.prompts import EXAMPLES, FOLDER

SIZES: tuple[dict[str, int], ...] = ({"rows": 64}, {"rows": 37})


def load(path: Path, folder: Path) -> ModuleType:
    """The text as a module in a file of its own, which Triton and load_inline want."""
    file = folder / f"{path.parent.name}_{path.name.partition('.')[0]}.py"
    file.write_text(path.read_text())
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def main(language: str, device: str) -> None:
    torch.set_default_device(device)
    with tempfile.TemporaryDirectory() as name, torch.no_grad():
        for example in EXAMPLES:
            reference = load(FOLDER / "examples" / "reference" / f"{example}.py.txt", Path(name))
            solution = load(FOLDER / "examples" / language / f"{example}.py.txt", Path(name))
            for sizes in SIZES:
                init = reference.get_init_inputs(**sizes)
                theirs, ours = reference.Model(*init), solution.ModelNew(*init)
                for parameter in theirs.parameters():
                    parameter.normal_()
                ours.load_state_dict(theirs.state_dict())
                inputs = reference.get_inputs(**sizes)
                expected, actual = theirs(*inputs), ours(*inputs)
                error = ((actual - expected).norm() / expected.norm()).item()
                print(example, sizes, f"{error:.1e}")
                assert error < 1e-6, f"{example}: relative error {error}"


if __name__ == "__main__":
    main(*sys.argv[1:3])
