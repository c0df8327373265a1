"""Drives mining/supports.cu: the whole graph in rank space, with edge ids and the triangles of every edge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.analytics import triangles
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph.oriented import order_vertices, rank_bits
from graphlode.cuda.interface import KernelDevice, launch_shape, vertex_define
from graphlode.cuda.motifs.graph import running_offsets
from graphlode.errors import UnsupportedError
from graphlode.types import Task

OPERATION = "mining.supports"
SOURCE = KernelSource(
    "mining/supports",
    ("supports_keys", "supports_lower", "supports_edges", "supports_triangles"),
    {"VERTEX_T": ("int", "long long")},
)
_MAX_INDEX = 2**31 - 1  # edge ids, triangles at an edge and positions in a row are 32-bit


def build(device: KernelDevice, base: Mapping[str, Any], view: Any, *, control: Control) -> dict[str, Any]:
    """The arrays of `graphlode.mining.supports.Supported`."""
    xp, dtype = device.xp, base["neighbors"].dtype
    num_vertices, num_entries = len(base["offsets"]) - 1, len(base["neighbors"])
    if num_vertices > _MAX_INDEX or num_entries // 2 > _MAX_INDEX:
        raise UnsupportedError(
            f"motifs on CUDA devices take up to {_MAX_INDEX} vertices and edges, this graph has {num_vertices} and "
            f"{num_entries // 2}"
        )
    if num_entries == 0:
        return _without_edges(device, num_vertices, dtype)
    degrees = xp.diff(base["offsets"])
    vertices = order_vertices(device, degrees, dtype)
    rank = device.empty(num_vertices, dtype)
    rank[vertices] = xp.arange(num_vertices, dtype=dtype)
    offsets = running_offsets(device, degrees[vertices])

    kernels = device.load(SOURCE, VERTEX_T=vertex_define(dtype))
    status, bits = device.status(), np.int32(rank_bits(num_vertices))
    keys = device.empty(num_entries, np.int64)
    grid, block = launch_shape(device, 32 * num_vertices)
    inputs = (base["offsets"], base["neighbors"], rank, np.int64(num_vertices), bits)
    kernels.launch("supports_keys", grid, block, (*inputs, keys, status))
    device.raise_status(status, OPERATION)
    control.check()
    keys.sort()
    neighbors = (keys & ((1 << int(bits)) - 1)).astype(dtype)

    lower = device.empty(num_vertices, np.int32)
    grid, block = launch_shape(device, num_vertices)
    kernels.launch("supports_lower", grid, block, (offsets, neighbors, np.int64(num_vertices), lower))
    lower_offsets = running_offsets(device, lower)
    edges = device.empty(num_entries, np.int32)
    oriented = device.empty(num_entries // 2, dtype)
    grid, block = launch_shape(device, num_entries)
    entries = (keys, bits, np.int64(num_entries))
    kernels.launch("supports_edges", grid, block, (offsets, neighbors, lower, lower_offsets, *entries, edges, oriented))
    upper = {"offsets": offsets - lower_offsets, "neighbors": oriented}
    whole = iter([Task(0, num_vertices)])
    _, counts = triangles.count(device, upper, whole, control=control.beside(), by="edge")
    supports = device.empty(num_entries // 2, np.int32)
    kernels.launch(
        "supports_triangles", grid, block, (lower, lower_offsets, neighbors, *entries, edges, counts, supports)
    )
    device.synchronize()
    return {
        "offsets": offsets,
        "neighbors": neighbors,
        "lower": lower,
        "edges": edges,
        "triangles": supports,
        "vertices": vertices,
    }


def _without_edges(device: KernelDevice, num_vertices: int, dtype: Any) -> dict[str, Any]:
    return {
        "offsets": device.zeros(num_vertices + 1, np.int64),
        "neighbors": device.zeros(0, dtype),
        "lower": device.zeros(num_vertices, np.int32),
        "edges": device.zeros(0, np.int32),
        "triangles": device.zeros(0, np.int32),
        "vertices": device.xp.arange(num_vertices, dtype=dtype),
    }


def memory(device: KernelDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: the view itself; temporarily two sort keys per entry, an oriented graph, its counts."""
    n, m, width = shape["num_vertices"], shape["num_edges"], shape["vertex_bytes"]
    view = 8 * (n + 1) + (width + 4) * n + (2 * width + 12) * m
    return view + 32 * n + (32 + width + 8) * m
