"""The tiled view on the CPU; see native/src/graph/tiled.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import AnyArray


def build(device: CpuDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, Any]:
    offsets, neighbors = base["offsets"], base["neighbors"]
    linked_arrays: dict[str, Any] = {}
    if view.linked:
        rows = _native.graph_link_rows(offsets, neighbors, not view.directed, device.threads, control.words)
        if view.worth_linking(rows[2].size, offsets.size - 1):
            linked_arrays = {"linked": rows[2], "num_vertices": offsets.size - 1}
            offsets, neighbors = rows[:2]
        del rows
    tile_offsets, edges = _native.graph_tile_rows(offsets, neighbors, view.row_bits, device.threads, control.words)
    arrays = {"tile_offsets": tile_offsets, "edges": edges, "out_degrees": np.diff(offsets)}
    for array in arrays.values():
        array.flags.writeable = False  # all users of the snapshot share them
    return {**arrays, **linked_arrays, "num_rows": offsets.size - 1, "row_bits": view.row_bits}


def memory(device: CpuDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: edges, tiles and degrees; temporarily the rows of linked vertices, and counts for each
    piece of a column of tiles."""
    n, m, ranges = shape["num_vertices"], shape["num_entries"], -(-shape["num_vertices"] >> 16)
    pieces = ranges + 8 * device.threads + (m >> 23)
    return (4 + shape["vertex_bytes"]) * m + (8 + 8 + 2 * shape["vertex_bytes"]) * n + 8 * ranges * (ranges + pieces)
