"""What the fork server of a GPU's sandbox does ahead of Triton's first launch, which takes half a second a worker otherwise.

It touches no device: a process that has may not fork workers.
"""

import contextlib

import triton  # noqa: F401

with contextlib.suppress(Exception):  # where a version keeps it elsewhere, the first launch does it
    from triton.runtime.cache import triton_key

    triton_key()
with contextlib.suppress(Exception):
    from triton.backends.nvidia.driver import CudaUtils

    CudaUtils()
