"""The transposed view on a CUDA device: one sort of the reversed entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.interface import KernelDevice
from graphlode.errors import UnsupportedError
from graphlode.types import MAX_NARROW_VERTICES


def build(device: KernelDevice, base: Mapping[str, Any], view: Any, *, control: Control) -> dict[str, Any]:
    xp, offsets, neighbors = device.xp, base["offsets"], base["neighbors"]
    num_vertices = len(offsets) - 1
    if num_vertices > MAX_NARROW_VERTICES:
        raise UnsupportedError(
            f"transposed views on CUDA devices have up to {MAX_NARROW_VERTICES} vertices, this one has {num_vertices}; "
            "devices='cpu' has no such limit"
        )
    # One sort of combined keys: CuPy sorts plain integers by radix.
    bits = max(1, (num_vertices - 1).bit_length()) if num_vertices else 1
    keys = neighbors.astype(np.int64)
    counts = xp.bincount(keys, minlength=num_vertices) if len(keys) else xp.zeros(num_vertices, np.int64)
    control.check()
    keys <<= bits
    # The tail of entry i is the last row that begins at or before it.
    keys |= xp.searchsorted(offsets, xp.arange(len(keys), dtype=np.int64), side="right") - 1
    keys.sort()
    keys &= (1 << bits) - 1
    transposed_offsets = device.zeros(num_vertices + 1, np.int64)
    transposed_offsets[1:] = xp.cumsum(counts[:num_vertices])
    arrays = {"offsets": transposed_offsets, "neighbors": keys.astype(neighbors.dtype), "out_degrees": xp.diff(offsets)}
    device.synchronize()
    return arrays


def memory(device: KernelDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: the view itself; temporarily two sort keys and the tail of each entry."""
    return 40 * (shape["num_vertices"] + 1) + (shape["vertex_bytes"] + 24) * shape["num_entries"]
