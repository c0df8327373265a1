"""Arrays that users give and that lie on a device already, told by their description alone.

The CUDA array interface is what CuPy, PyTorch, Numba and others describe such arrays by.
"""

from __future__ import annotations

from typing import Any

from graphlode.errors import InputError

_WIDTHS = {"<i4": 4, "<i8": 8}  # bytes
_DEFAULT_STREAM = 1  # of arrays that do not say where they may still be written, as older descriptions


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
