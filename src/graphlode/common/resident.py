"""Arrays of other libraries that are on a device already, and may still be being written.

CuPy, PyTorch, Numba and others describe such arrays by the CUDA array interface.
"""

from __future__ import annotations

import sys
from typing import Any

from graphlode.errors import InputError

_WIDTHS = {"<i4": 4, "<i8": 8}  # bytes
_DEFAULT_STREAM = 1  # if the description of the array names no stream, as older ones


def ids_on_device(src: Any, dst: Any) -> tuple[int, int | None] | None:
    """The length of two arrays on a device and the stream that may still write them; None: read them on the host.

    Both must be int32 or both int64, of one dimension, without gaps, and of one stream.
    """
    tails = getattr(src, "__cuda_array_interface__", None)
    heads = None if tails is None else getattr(dst, "__cuda_array_interface__", None)
    if tails is None or heads is None or tails["typestr"] != heads["typestr"]:
        return None
    width, shape, other = _WIDTHS.get(tails["typestr"]), tails["shape"], heads["shape"]
    if width is None or len(shape) != 1 or len(other) != 1:
        return None
    for strides in (tails.get("strides"), heads.get("strides")):
        if strides is not None and tuple(strides) != (width,):
            return None
    if shape != other:
        raise InputError(f"src and dst must have the same length, got {shape[0]} and {other[0]}")
    stream: int | None = tails.get("stream", _DEFAULT_STREAM)
    return (int(shape[0]), stream) if heads.get("stream", _DEFAULT_STREAM) == stream else None


def wait_for_stream(xp: Any, stream: int | None) -> None:
    """Wait for all work of a stream, as the CUDA array interface names it; None: there is nothing to wait for.

    `xp` is CuPy, or NumPy where there are no streams.
    """
    if stream is not None and hasattr(xp, "cuda"):
        xp.cuda.runtime.streamSynchronize(stream)


def wait_until_written(ids: Any, stream: int | None, cupy: Any = None) -> None:
    """Wait for all work of the stream that may still write `ids`, before they are read.

    A copy to the host or to another device waits only for the current stream, but another stream may be writing the
    array. A default stream is that of the device that has the array. Without `cupy` this looks for it among the
    imported modules: libraries that work without CuPy copy their own arrays, and wait themselves.
    """
    cupy = cupy or sys.modules.get("cupy")
    if stream is None or not hasattr(cupy, "cuda"):  # as on an emulated device
        return
    address, _ = ids.__cuda_array_interface__["data"]
    if address:  # an empty array has none, and there is nothing to wait for
        with cupy.cuda.Device(cupy.cuda.runtime.pointerGetAttributes(address).device):
            wait_for_stream(cupy, stream)
