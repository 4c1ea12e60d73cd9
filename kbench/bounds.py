"""Whether a problem's shapes have the sizes they stand for: bytes from the meta device, a call's time as measured.

full    one 80 GB GPU, 1 to 100 ms      medium   24 GB
small   1 to 50 ms on two CPU cores     odd      no bound: prime sizes, tails
"""

from __future__ import annotations

from collections.abc import Iterator

from kbench.findings import Finding, Standing

FITS_BYTES = {"full": 80e9, "medium": 24e9}
TIMES_MS = {("full", "cuda"): (1.0, 100.0), ("small", "cpu"): (1.0, 50.0)}
DOUBTED, REFUSED = 2.0, 4.0  # factors by which a time may lie outside before it is a doubt, a fault: machines differ


def size_finding(shape: str, sizes: dict[str, int] | None, needed_bytes: int) -> Finding:
    """Whether judging a shape of FITS_BYTES, which takes `needed_bytes`, finds room; `sizes` are those of one call."""
    check = f"{shape} fits {FITS_BYTES[shape] / 1e9:.0f} GB"
    if sizes is None:
        return Finding(check, Standing.UNKNOWN, "its size cannot be told on the meta device")
    call = sizes["inputs"] + sizes["outputs"]
    told = f"judging takes {needed_bytes / 1e9:.3g} GB: {call / 1e9:.3g} GB a call, {sizes['weights'] / 1e9:.3g} GB of weights"
    return Finding(check, Standing.OK if needed_bytes <= FITS_BYTES[shape] else Standing.FAULT, told)


def time_findings(shape: str, device: str, call_us: float) -> Iterator[Finding]:
    """One finding on the eager call's time, where shape and device have a bound."""
    bounds = TIMES_MS.get((shape, device.partition(":")[0]))
    if bounds is None:
        return
    low, high = bounds
    call_ms = call_us / 1e3
    outside = max(low / call_ms, call_ms / high)
    standing = Standing.OK if outside <= DOUBTED else Standing.DOUBT if outside <= REFUSED else Standing.FAULT
    yield Finding(f"{shape} takes {low:.0f} to {high:.0f} ms", standing, f"eager takes {call_ms:.2f} ms on {device}")
