"""kbench doctor: what this machine offers, what would be slow or unsafe, and how to mend it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import click

MENDS = {
    "c++": "install a C++ compiler (Debian: apt install g++); without one C++ solutions and torch.compile fail",
    "ninja": "pip install ninja",
    "nvcc": "only for CUDA C++ solutions: install the CUDA toolkit of torch's CUDA version and put its bin on PATH",
    "bwrap": "optional: apt install bubblewrap",
}


@click.command(name="doctor")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, or cuda:N")
@click.option(
    "--calibrate", "do_calibrate", is_flag=True, help="run A/A judgings (some minutes) so that intervals can be shown"
)
@click.option("--json", "as_json", is_flag=True)
def command(device: str, do_calibrate: bool, as_json: bool) -> int:
    """Device, toolchain, sandbox level, keys (names only), calibration."""
    from kbench.cli.options import device_from

    device = device_from(device)
    if do_calibrate:
        from kbench.calibrate import calibrate
        from kbench.evaluate import Settings

        calibrate(Settings(device), lambda line: click.echo(line, err=True))
    facts = examine(device)
    if as_json:
        click.echo(json.dumps(facts, indent=1))
        return 0
    for section, rows in facts.items():
        click.echo(section)
        for name, value in rows.items():
            click.echo(f"  {name:<22} {value}")
    return 0


def probe_lane(rung: str, cache: Path, device: str) -> dict[str, str]:
    """What a lane can do on the device, by doing it."""
    from kbench.errors import KBenchError
    from kbench.rates import told
    from kbench.referee.client import LaneReferee

    try:
        with LaneReferee(rung, cache) as referee:
            found = referee.probe(device)
    except KBenchError as error:
        return {"lane": f"does not work: {error}"}
    shared = "works" if found["shared"] else "does not work: outputs could not be read"
    measured = {f"measured {name}": told(name, rate) for name, rate in found["rates"].items()}
    canary = {"idle canary": f"{found['canary_us']:.0f} us"} if found["canary_us"] else {}
    return {"memory shared into a sandbox": shared, **measured, **canary}


def examine(device: str) -> dict[str, dict[str, Any]]:
    from kbench import calibration, environment, freezer, keys, sandbox

    cache = environment.cache_folder()
    tools = {name: shutil.which(name) or f"missing: {mend}" for name, mend in MENDS.items()}
    rungs = {rung: sandbox.probe(rung) or "works" for rung in sandbox.RUNGS}
    hold = freezer.create(f"kbench-doctor-{os.getpid()}", None)
    kind = hold.kind
    hold.close()
    stored = calibration.load(cache, environment.device_key(device))
    spread = {
        kind: f"pairs of identical workers differ by {sd:.1%} (sd of {stored.df[kind]} A/A pairs)"
        for kind, sd in stored.sd.items()
    }
    rung = sandbox.choose()
    return {
        "device": environment.describe(device),
        "referee": probe_lane(rung, cache, device),
        "toolchain": tools,
        "sandbox": {**rungs, "in force": rung, "idle workers stopped by": kind},
        "keys": {name: "set" if os.environ.get(name) else "not set" for name in keys.NAMES},
        "calibration": spread or {"none": "no intervals will be shown; run kbench doctor --calibrate"},
        "cache": {"folder": str(cache)},
    }
