"""Arrays that others make on CUDA devices, and may still be making."""

from __future__ import annotations

import sys
from typing import Any


def wait_for_stream(xp: Any, stream: int | None) -> None:
    """Until all is done that was started in a stream, as the CUDA array interface names it; None: nothing was. `xp` is CuPy,
    or what stands for it where there are no streams."""
    if stream is not None and hasattr(xp, "cuda"):
        xp.cuda.runtime.streamSynchronize(stream)


def wait_until_written(ids: Any, stream: int | None, cupy: Any = None) -> None:
    """Wait until the stream has done all that it was told to, before `ids` is read, which it may still write.

    Who copies an array to the host, or to another device, waits for the stream that is current then, and that may not be
    the one in which the array is made. A default stream is meant on the device that has the array. Without `cupy` it is
    looked for among what is imported: arrays of libraries that do without it are copied by these, and wait themselves.
    """
    cupy = cupy or sys.modules.get("cupy")
    if stream is None or not hasattr(cupy, "cuda"):  # as on an emulated device
        return
    address, _ = ids.__cuda_array_interface__["data"]
    if address:  # of an empty array there is nothing to wait for
        with cupy.cuda.Device(cupy.cuda.runtime.pointerGetAttributes(address).device):
            wait_for_stream(cupy, stream)
