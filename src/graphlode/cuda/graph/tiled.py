"""The tiled view on a CUDA device: one sort of the entries by row of tiles, source and destination."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.interface import KernelDevice
from graphlode.errors import UnsupportedError
from graphlode.types import MAX_NARROW_VERTICES

_COLUMN_BITS = 16


def build(device: KernelDevice, base: Mapping[str, Any], view: Any, *, control: Control) -> dict[str, Any]:
    xp, offsets, neighbors, row_bits = device.xp, base["offsets"], base["neighbors"], view.row_bits
    num_vertices = len(offsets) - 1
    if num_vertices > MAX_NARROW_VERTICES:
        raise UnsupportedError(f"tiled views have up to {MAX_NARROW_VERTICES} vertices, this one has {num_vertices}")
    # The source of entry i is the last row that begins at or before it.
    sources = xp.searchsorted(offsets, xp.arange(len(neighbors), dtype=np.int64), side="right") - 1
    out_degrees, linked_arrays = xp.diff(offsets), {}
    if view.linked:
        touched = out_degrees > 0
        touched[neighbors] = True
        linked = xp.flatnonzero(touched)
        if view.worth_linking(len(linked), num_vertices):
            numbers = xp.cumsum(touched, dtype=np.int64) - 1
            sources, neighbors, out_degrees = numbers[sources], numbers[neighbors], out_degrees[linked]
            linked_arrays = {"linked": linked, "num_vertices": num_vertices}
            num_vertices = len(linked)
    num_rows, num_columns = -(-num_vertices >> row_bits), -(-num_vertices >> _COLUMN_BITS)
    # Keys by row of tiles, column, source and destination: CuPy sorts plain integers by radix.
    keys = neighbors.astype(np.int64)
    inside = keys & ((1 << row_bits) - 1)
    keys >>= row_bits
    keys *= num_columns << _COLUMN_BITS
    keys += sources
    keys <<= row_bits
    keys |= inside
    del inside, sources
    control.check()
    keys.sort()
    tiles = xp.arange(num_rows * num_columns + 1, dtype=np.int64) << (_COLUMN_BITS + row_bits)
    tile_offsets = xp.searchsorted(keys, tiles).astype(np.int64)
    edges = (keys & ((1 << row_bits) - 1)).astype(np.uint32)
    keys >>= row_bits
    edges |= keys.astype(np.uint32) << np.uint32(16)
    device.synchronize()
    return {
        "tile_offsets": tile_offsets,
        "edges": edges,
        "out_degrees": out_degrees,
        "num_rows": num_vertices,
        "row_bits": row_bits,
        **linked_arrays,
    }


def memory(device: KernelDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: the view itself; temporarily two sort keys, both ends and a position per entry."""
    n, m = shape["num_vertices"], shape["num_entries"]
    return 32 * n + 16 * (-(-n >> 16)) * (-(-n >> 13)) + (4 + 48) * m
