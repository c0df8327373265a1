"""Arrays that users give and that lie on a device already, told by their description alone.

The CUDA array interface is what CuPy, PyTorch, Numba and others describe such arrays by.
"""

from __future__ import annotations

from typing import Any

from graphlode.errors import InputError


def ids_on_device(src: Any, dst: Any) -> tuple[int, int | None] | None:
    """The length of two arrays on a device and the stream that may still write them; None: read them on the host.

    Both must be int32 or both int64, of one dimension, without gaps.
    """
    described = _described(src), _described(dst)
    if described[0] is None or described[1] is None:
        return None
    kinds = {(d["typestr"], len(d["shape"]), _has_gaps(d)) for d in described}
    if kinds not in ({("<i4", 1, False)}, {("<i8", 1, False)}):
        return None
    lengths = [int(d["shape"][0]) for d in described]
    if lengths[0] != lengths[1]:
        raise InputError(f"src and dst must have the same length, got {lengths[0]} and {lengths[1]}")
    return lengths[0], described[0].get("stream")


def _described(values: Any) -> Any:
    return getattr(values, "__cuda_array_interface__", None)


def _has_gaps(described: Any) -> bool:
    strides = described.get("strides")
    return strides is not None and tuple(strides) != (int(described["typestr"][2:]),)
