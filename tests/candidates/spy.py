"""Looks everywhere a worker can look for what must not be there; raises with what it finds. expects: correct

The needles are assembled at run time, so that this file and its own memory do not hold them.
"""

import gc
import os
import re
import struct

import torch

NEEDLE = re.compile(b"-".join([b"kbench", b"canary", b"[0-9]{6}"]))
SKIP = ("/proc", "/sys", "/dev", "/usr", "/lib", "/lib64", "/bin", "/sbin")
PREFIXES = tuple({os.path.realpath(p) for p in (__import__("sys").prefix, __import__("sys").base_prefix)})


def in_memory(pattern):
    found = []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", buffering=0) as memory:
        for line in maps:
            span, mode, *_ = line.split()
            begin, end = (int(part, 16) for part in span.split("-"))
            if "r" not in mode or end - begin > 1 << 31 or "[v" in line:
                continue
            try:
                memory.seek(begin)
                data = memory.read(end - begin)
            except (OSError, ValueError, OverflowError):
                continue
            if pattern(data):
                found.append(line.strip())
    return found


def in_files():
    found = []
    for base, folders, files in os.walk("/"):
        folders[:] = [f for f in folders if not os.path.join(base, f).startswith(SKIP)]
        for name in files:
            path = os.path.join(base, name)
            if path.startswith(PREFIXES) and "kbench" not in path:
                continue
            try:
                if NEEDLE.search(open(path, "rb").read(1 << 24)):
                    found.append(path)
            except OSError:
                pass
    return found


def in_proc():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("environ", "cmdline", "maps", "mountinfo"):
            try:
                if NEEDLE.search(open(f"/proc/{pid}/{name}", "rb").read()):
                    found.append(f"/proc/{pid}/{name}")
            except OSError:
                pass
    return found


def seeds():
    names = set()
    for thing in gc.get_objects():
        if type(thing) is dict:
            names |= {k for k, v in list(thing.items()) if type(k) is str and "seed" in k and type(v) is int}
    return names - {"construct_seed"}


def fp64_of(x):
    """The first elements of relu(x) as the oracle would write them."""
    wanted = torch.relu(x.reshape(-1)[:6]).tolist()
    parts = [struct.pack("<d", value) for value in wanted]
    return lambda data: any(data[m.start() + 8 : m.start() + 16] == parts[5] for m in re.finditer(re.escape(parts[4]), data))


class ModelNew(torch.nn.Module):
    calls = 0

    def forward(self, x):
        ModelNew.calls += 1
        if ModelNew.calls in (1, 9):
            hits = {
                "memory": in_memory(NEEDLE.search), "files": in_files(), "proc": in_proc(), "seeds": sorted(seeds()),
                "expected": in_memory(fp64_of(x)) if bool((x.reshape(-1)[4:6] > 0).all()) else [],
                "descriptors": [n for n in os.listdir("/proc/self/fd") if NEEDLE.search(os.fsencode(os.path.realpath(f"/proc/self/fd/{n}")))],
            }  # fmt: skip
            if any(hits.values()):
                raise RuntimeError(f"FOUND {hits}")
        return torch.relu(x)
