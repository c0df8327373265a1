"""Drives motifs/twins.cu: finds classes of hubs with the same neighbors, which are then walked once."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.motifs.graph import ROW_LIMIT, MotifGraph

SOURCE = KernelSource("motifs/twins", ("motif_twin_keys", "motif_twins"))

WORTH_TWINS = 1 << 29  # wedges
HUB_DEGREE = 256
_MOST_HUBS = 1 << 20
_MOST_COMMON = 1 << 16  # common neighbors of a pair; multiplied by the members of a class they must fit in 32 bits


def twin_hubs(device: KernelDevice, graph: MotifGraph, wedges: int) -> tuple[Any, Any, Any]:
    """The first hub, and leaders and sizes of the classes by hub (motifs/twins.cuh); none if not worth it."""
    xp, first = device.xp, graph.num_vertices
    most_twins = graph.most_common + 1  # twins are neighbors of each other
    fits = most_twins < _MOST_COMMON and graph.row_bound * most_twins < ROW_LIMIT
    if wedges >= WORTH_TWINS and fits:
        first = int(xp.searchsorted(graph.degrees, xp.asarray([HUB_DEGREE], dtype=np.int32))[0])
    number = graph.num_vertices - first
    if number < 2 or number > _MOST_HUBS:
        return np.int32(graph.num_vertices), device.empty(1, np.int32), device.empty(1, np.int32)
    kernels, keys = device.load(SOURCE), device.empty(number, np.uint64)
    grid, block = launch_shape(device, 32 * number)
    rows = (graph.offsets, graph.neighbors)
    kernels.launch("motif_twin_keys", grid, block, (*rows, np.int32(graph.num_vertices), np.int32(first), keys))
    order = xp.argsort(keys).astype(np.int64)
    leaders, sizes = device.empty(number, np.int32), device.zeros(number, np.int32)
    found = (np.int32(number), np.int32(first), keys[order], order, leaders, sizes)
    kernels.launch("motif_twins", grid, block, (*rows, *found))
    return np.int32(first), leaders, sizes
