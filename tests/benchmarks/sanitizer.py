"""The lane's own code paths on a GPU, each of them once, for NVIDIA's checker to watch. Run by hand, on a GPU:

    compute-sanitizer --tool memcheck --target-processes all --error-exitcode 9 python tests/benchmarks/sanitizer.py

Two processes, as in a judging: the lane, and a worker whose allocations it maps. Prints what was done; exit code 0 where every
value is right, and 9 where the checker saw an access that may not be.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from typing import Any

import torch

from kbench import devices
from kbench.candidate import driver, memory
from kbench.devices.cuda import Cuda

SLOT_BYTES, SLOTS = 4 << 20, 6
ODD = 12_345  # an offset that no type is aligned to


def worker(ticket: dict[str, Any]) -> None:
    """Answers each line of standard input: its outputs are the inputs of a slot, plus one."""
    region = memory.Shared(ticket, -1)
    for line in sys.stdin:
        slot = int(line)
        output = region.flat[slot * SLOT_BYTES : (slot + 1) * SLOT_BYTES] + 1
        torch.cuda.synchronize()
        bases = [segment["address"] for segment in torch.cuda.memory_snapshot()]
        held = [[base, driver.export(base)] for base in bases]
        print(json.dumps({"output": output.data_ptr(), "held": held, "region": region.address}), flush=True)


def lane() -> None:
    device = Cuda("cuda:0")
    staging, region = device.area("staging"), device.area("region")
    for area in (staging, region):
        area.allocate(SLOT_BYTES * SLOTS)
    staging.flat.copy_(torch.arange(SLOT_BYTES * SLOTS, device="cuda") % 251)
    command = [sys.executable, __file__, "worker", json.dumps(region.ticket())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        hands = device.hands(child.pid, region)
        for slot in range(SLOTS):
            took_us = device.bring(partial(devices.copy, region, staging, slot * SLOT_BYTES, SLOT_BYTES), 1)
            print(slot, file=child.stdin, flush=True)
            answer = json.loads(child.stdout.readline())
            vigil = device.vigil(2000.0)
            hands.learn(answer)
            wanted = staging.flat[slot * SLOT_BYTES : (slot + 1) * SLOT_BYTES] + 1
            check(hands, answer["output"], wanted)
            assert devices.same(region, staging, slot * SLOT_BYTES, SLOT_BYTES)
            print(
                f"slot {slot}: inputs in {took_us:.0f} us, a vigil {vigil.late_us():+.0f} us late, canary {device.probe_us():.0f} us"
            )
            device.flush()
        hands.close()
        child.stdin.close()
    for area in (staging, region):
        area.close()
    device.settle()
    print(f"conditions {device.conditions()}; rates {device.rates}")


def check(hands: Any, address: int, wanted: torch.Tensor) -> None:
    """All of an output, an odd part of it, a decoy over it, and what lies beyond the allocations."""
    taken = hands.read(address, SLOT_BYTES)
    part = hands.read(address + ODD, ODD)
    assert torch.equal(taken, wanted)
    assert torch.equal(part, wanted[ODD : 2 * ODD])
    assert hands.write(address, wanted.flip(0))
    assert torch.equal(hands.read(address, SLOT_BYTES), wanted.flip(0))
    end = max(segment.end for segment in hands.segments)
    assert hands.read(end - 1, 2) is None
    assert not hands.in_inputs([(address, SLOT_BYTES)])[0]


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(json.loads(sys.argv[2]))
    else:
        lane()
