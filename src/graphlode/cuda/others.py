"""Arrays that others make on CUDA devices, and may still be making."""

from __future__ import annotations

import sys
from typing import Any


def wait_until_written(ids: Any, stream: int | None, cupy: Any = None) -> None:
    """Wait until the stream has done all that it was told to, before `ids` is read, which it may still write.

    Who copies an array to the host, or to another device, waits for the stream that is current then, and that may not be
    the one in which the array is made. A default stream is meant on the device that has the array. Without `cupy` it is
    looked for among what is imported: arrays of libraries that do without it are copied by these, and wait themselves.
    """
    cupy = cupy or sys.modules.get("cupy")
    if stream is None or not hasattr(cupy, "cuda"):  # NumPy stands for it on an emulated device, which has no streams
        return
    runtime = cupy.cuda.runtime
    address, _ = ids.__cuda_array_interface__["data"]
    if address:  # of an empty array there is nothing to wait for
        with cupy.cuda.Device(runtime.pointerGetAttributes(address).device):
            runtime.streamSynchronize(stream)
