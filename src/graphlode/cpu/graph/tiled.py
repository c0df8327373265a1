"""The tiled view on the CPU; see native/src/graph/tiled.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import AnyArray


def build(device: CpuDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, Any]:
    offsets, neighbors = base["offsets"], base["neighbors"]
    tile_offsets, edges = _native.graph_tile_rows(offsets, neighbors, view.row_bits, device.threads, control.words)
    arrays = {"tile_offsets": tile_offsets, "edges": edges, "out_degrees": np.diff(offsets)}
    for array in arrays.values():
        array.flags.writeable = False  # the snapshot keeps them for everyone
    return {**arrays, "num_rows": offsets.size - 1, "row_bits": view.row_bits}


def memory(device: CpuDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: edges, tiles, degrees; on the way counts for each piece of a column of tiles."""
    n, m, ranges = shape["num_vertices"], shape["num_entries"], -(-shape["num_vertices"] >> 16)
    pieces = ranges + 8 * device.threads + (m >> 23)
    return 4 * m + 8 * n + 8 * ranges * (ranges + pieces)
