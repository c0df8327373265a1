"""The oriented view on a CUDA device; see oriented.cu. Ranks and rows are sorted by the device-wide sort."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cuda.analytics.cores import peel
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape, vertex_define
from graphlode.types import MAX_NARROW_VERTICES

SOURCE = KernelSource(
    "graph/oriented",
    ("graph_oriented_count", "graph_oriented_write", "graph_oriented_lose"),
    {"VERTEX_T": ("int", "long long")},
)


def build(device: KernelDevice, base: Mapping[str, Any], view: Any, *, control: Control) -> dict[str, Any]:
    xp = device.xp
    offsets, neighbors = base["offsets"], base["neighbors"]
    num_vertices = int(offsets.size) - 1
    if view.by == "degree":
        keys = xp.diff(offsets)
    elif view.by == "degeneracy":
        keys = peel(device, base, control)[1]
    else:
        keys = _approximate_rounds(device, base, control)
    control.check()
    vertices = _order(device, keys, num_vertices).astype(neighbors.dtype)
    rank = device.empty(num_vertices, neighbors.dtype)
    rank[vertices] = xp.arange(num_vertices, dtype=neighbors.dtype)
    module = device.load(SOURCE, VERTEX_T=vertex_define(neighbors.dtype))
    grid, block = _warps(device, num_vertices)
    n = np.int64(num_vertices)
    oriented_offsets = device.zeros(num_vertices + 1, np.int64)
    lengths = device.empty(num_vertices, np.int64)
    module.launch("graph_oriented_count", grid, block, (offsets, neighbors, rank, n, lengths))
    xp.cumsum(lengths, out=oriented_offsets[1:])
    num_edges = int(neighbors.size) // 2
    tails, heads = device.empty(num_edges, neighbors.dtype), device.empty(num_edges, neighbors.dtype)
    module.launch("graph_oriented_write", grid, block, (offsets, neighbors, rank, oriented_offsets, n, tails, heads))
    sorted_heads = _sort_rows(device, tails, heads, num_vertices)
    device.synchronize()
    return {"offsets": oriented_offsets, "neighbors": sorted_heads, "vertices": vertices}


def _warps(device: KernelDevice, num_vertices: int) -> tuple[int, int]:
    return launch_shape(device, num_vertices, per_block=8)


def _order(device: KernelDevice, keys: Any, num_vertices: int) -> Any:
    """Vertices by ascending key, ties by vertex."""
    xp = device.xp
    vertices = xp.arange(num_vertices, dtype=np.int64)
    if num_vertices <= MAX_NARROW_VERTICES:
        return xp.sort(keys.astype(np.int64) << 32 | vertices) & 0xFFFFFFFF
    return xp.lexsort(xp.stack((vertices, keys.astype(np.int64))))


def _sort_rows(device: KernelDevice, tails: Any, heads: Any, num_vertices: int) -> Any:
    """The heads by ascending (tail, head): one sort of composed keys while both ends fit 64 bits."""
    xp = device.xp
    if num_vertices <= MAX_NARROW_VERTICES:
        keys = tails.astype(np.int64) << 32 | heads.astype(np.int64)
        keys.sort()
        return (keys & 0xFFFFFFFF).astype(heads.dtype)
    return heads[xp.lexsort(xp.stack((heads, tails)))]


def _approximate_rounds(device: KernelDevice, base: Mapping[str, Any], control: Control) -> Any:
    """Rounds of the approximate core order: all vertices of at most 3/2 of the average remaining degree go at once."""
    xp = device.xp
    offsets, neighbors = base["offsets"], base["neighbors"]
    num_vertices = int(offsets.size) - 1
    module = device.load(SOURCE, VERTEX_T=vertex_define(neighbors.dtype))
    grid, block = _warps(device, num_vertices)
    degrees = xp.diff(offsets)
    rounds = xp.full(num_vertices, -1, np.int32)
    left, degree_sum, number = num_vertices, int(neighbors.size), 0
    while left:
        control.check()
        largest = (
            3 * degree_sum // (2 * left)
        )  # Python's integers: no overflow, so every device takes the same vertices
        rounds[(rounds == -1) & (degrees <= largest)] = number
        module.launch(
            "graph_oriented_lose",
            grid,
            block,
            (offsets, neighbors, rounds, np.int32(number), np.int64(num_vertices), degrees),
        )
        waiting = rounds == -1
        left, degree_sum = (int(x) for x in device.get(xp.stack((waiting.sum(), (degrees * waiting).sum()))))
        number += 1
    return rounds
