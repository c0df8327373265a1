"""The tiled view on the CPU; see native/src/graph/tiled.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import AnyArray

COLUMN_BITS = 16
MOST_ROW_BITS = 16
LEAST_ROW_BITS = 12  # what sources send is read anew for every row: many short ones take longer all together


def row_bits_for(num_vertices: int, threads: int, most: int = MOST_ROW_BITS) -> int:
    """The most bits for destinations within a row of tiles with which every thread has a row, as far as that goes."""
    bits = most
    while bits > LEAST_ROW_BITS and num_ranges(num_vertices, bits) < threads:
        bits -= 1
    return bits


def num_ranges(num_vertices: int, bits: int) -> int:
    """How many ranges of 2^bits vertices there are."""
    return -(-num_vertices >> bits)


def build(device: CpuDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, Any]:
    offsets, neighbors = base["offsets"], base["neighbors"]
    beside: dict[str, Any] = {}
    if view.linked:
        rows = _native.graph_link_rows(offsets, neighbors, not view.directed, device.threads, control.words)
        if view.worth_linking(rows[2].size, offsets.size - 1):
            beside = {"linked": rows[2], "num_vertices": offsets.size - 1}
            offsets, neighbors = rows[:2]
        del rows
    num_vertices, row_bits = offsets.size - 1, view.row_bits
    if view.for_threads:
        row_bits = row_bits_for(num_vertices, device.threads, row_bits)
    tile_offsets, edges = _native.graph_tile_rows(offsets, neighbors, row_bits, device.threads, control.words)
    arrays = {"tile_offsets": tile_offsets, "edges": edges, "out_degrees": np.diff(offsets)}
    for array in arrays.values():
        array.flags.writeable = False  # the snapshot keeps them for everyone
    return {**arrays, **beside, "num_rows": num_vertices, "row_bits": row_bits}


def memory(device: CpuDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: edges, tiles, degrees; on the way rows of who is linked, and counts for each piece of a
    column of tiles."""
    n, m = shape["num_vertices"], shape["num_entries"]
    rows, columns = num_ranges(n, row_bits_for(n, device.threads)), num_ranges(n, COLUMN_BITS)
    pieces = columns + 8 * device.threads + (m >> 23)
    return (4 + shape["vertex_bytes"]) * m + (8 + 8 + 2 * shape["vertex_bytes"]) * n + 8 * rows * (columns + pieces)
