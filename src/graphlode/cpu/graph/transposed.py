"""The transposed view on the CPU: the rows are rebuilt from their reversed entries; see native/src/graph/build.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.graph.build import build as build_rows
from graphlode.types import AnyArray


def build(device: CpuDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, AnyArray]:
    offsets, neighbors = base["offsets"], base["neighbors"]
    num_vertices = offsets.size - 1
    out_degrees = np.diff(offsets)
    tails = np.repeat(np.arange(num_vertices, dtype=neighbors.dtype), out_degrees)
    rows = build_rows(neighbors, tails, num_vertices=num_vertices, directed=True, keep_positions=False, control=control)
    arrays = {"offsets": rows["offsets"], "neighbors": rows["neighbors"], "out_degrees": out_degrees}
    for array in arrays.values():
        array.flags.writeable = False  # all users of the snapshot share them
    return arrays


def memory(device: CpuDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: the view itself, the tail of each entry, and the entries during sorting."""
    n, m, width = shape["num_vertices"], shape["num_entries"], shape["vertex_bytes"]
    return 16 * (n + 1) + 4 * width * m
