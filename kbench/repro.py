"""Writes one standalone script that makes the failed call again: no kbench needed, only torch. The seeds in it are spent."""

from __future__ import annotations

import inspect
from pathlib import Path

from kbench import evaluate
from kbench.candidate import modules
from kbench.evaluate import Settings
from kbench.referee.case import TORCH_DTYPE
from kbench.types import Problem, Solution, Verdict

_TEMPLATE = '''"""{title}

Verdict: {status}. {message}
Made by kbench from the call that failed: same inputs and weights, the reference in fp64 beside it. Run: python {name}
"""

import importlib.util
import sys
import tempfile
from functools import partial
from pathlib import Path

import torch

REFERENCE = {reference!r}

SOLUTION = {solution!r}

# ---- how kbench draws inputs and weights ----
{draws}

# ---- how kbench finds where weights go ----
{matching}

# ---- the failed call ----
SETTINGS = {settings!r}
CALL = {call!r}


def load(name, source):
    path = Path(tempfile.mkdtemp()) / f"{{name}}.py"
    path.write_text(source)
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


def flat(output):
    if isinstance(output, (list, tuple)):
        return [leaf for item in output for leaf in flat(item)]
    if isinstance(output, dict):
        return [leaf for key in sorted(output, key=str) for leaf in flat(output[key])]
    return [output]


def main():
    reference, solution = load("reference", REFERENCE), load("solution", SOLUTION)
    dtype = getattr(torch, SETTINGS["precision"])
    torch.manual_seed(CALL["weight_seed"])
    init = list(cast(reference.get_init_inputs(**SETTINGS["shape"]), dtype))
    maker = InputMaker(partial(reference.get_inputs, **SETTINGS["shape"]), SETTINGS["device"], dtype)
    inputs = maker.make(CALL["master_seed"], CALL["input_seed"], CALL["family"], CALL["near_seed"])
    model = constructed(reference.Model, init, CALL["weight_seed"], SETTINGS)
    noise, seed = SETTINGS["noise_buffers"], CALL["weight_seed"]
    by_seed = SETTINGS["weights"] == "by_seed"
    randomise(model, seed, noise, telltales(reference.Model, init, seed, SETTINGS, noise) if by_seed else None)
    exact = constructed(reference.Model, cast(init, torch.float64), CALL["weight_seed"], SETTINGS | {{"precision": "float64"}})
    exact.load_state_dict(model.state_dict())
    candidate = constructed(getattr(solution, SETTINGS["class_name"]), init, CALL["weight_seed"], SETTINGS)
    if isinstance(candidate, torch.nn.Module):
        values, parameters = model.state_dict(), dict(model.named_parameters())
        kinds = {{True: "parameter", False: "buffer"}}
        _, names = match_state(candidate, [(name, tuple(v.shape), kinds[name in parameters]) for name, v in values.items()])
        candidate.load_state_dict({{own: values[name] for name, own in names.items()}}, strict=False)
    with torch.no_grad():
        expected = flat(exact(*cast(inputs, torch.float64)))
        eager = flat(model(*[i.clone() if isinstance(i, torch.Tensor) else i for i in inputs]))
        actual = flat(candidate(*inputs))
    print(f"{{len(actual)}} outputs, {{len(expected)}} expected")
    for i, (mine, theirs, right) in enumerate(zip(actual, eager, expected)):
        report(i, torch.as_tensor(mine), torch.as_tensor(theirs), torch.as_tensor(right))


def report(i, mine, theirs, right):
    if mine.shape != right.shape:
        print(f"output {{i}}: shape {{list(mine.shape)}}, expected {{list(right.shape)}}")
        return
    error, scale = (mine.double() - right).abs(), right.double().square().mean().sqrt()
    print(f"output {{i}}: {{mine.dtype}} {{list(mine.shape)}}; error / rms: candidate {{float(error.max() / scale):.3e}}, "
          f"eager {{float((theirs.double() - right).abs().max() / scale):.3e}}")
    place = int(error.reshape(-1).nan_to_num(float('inf')).argmax())
    print(f"  worst element (flat {{place}}): got {{mine.reshape(-1)[place].item()}}, fp64 {{right.reshape(-1)[place].item()}}")


if __name__ == "__main__":
    main()
'''


def script(
    problem: Problem, solution: Solution, settings: Settings, verdict: Verdict, name: str = "repro.py"
) -> str | None:
    """The script's text; None where no call failed on its values."""
    call = verdict.failed_call
    if call is None:
        return None
    from kbench import oracle

    draws = (Path(inspect.getfile(oracle)).parent / "draws.py").read_text()
    body = draws.split("from __future__ import annotations", 1)[1].strip()
    case = evaluate.problem_case(problem, settings)
    return _TEMPLATE.format(
        title=f"{problem.id} with {solution.origin}", status=verdict.status, message=verdict.message.replace('"""', "'''"),
        name=name, reference=problem.source, solution=solution.source, draws=body,
        matching="\n\n".join(inspect.getsource(one) for one in (modules.tensors_of, modules.match_state)).rstrip(),
        settings={
            "shape": case.shape, "precision": TORCH_DTYPE[case.precision], "device": case.device, "mode": case.mode,
            "noise_buffers": list(case.noise_buffers), "class_name": solution.class_name,
            "weights": verdict.weights,
        },
        call={name: getattr(call, name) for name in call.__dataclass_fields__},
    )  # fmt: skip
