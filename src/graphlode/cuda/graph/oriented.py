"""Drives graph/oriented.cu: every edge once, from its lower-ranked to its higher-ranked end, in rank space."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.analytics.cores import peel
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape, raise_fault, vertex_define
from graphlode.errors import UnsupportedError
from graphlode.types import MAX_NARROW_VERTICES

OPERATION = "graph.oriented"
SOURCE = KernelSource(
    "graph/oriented",
    ("orient_count", "orient_keys", "approximate_choose", "approximate_remove"),
    {"VERTEX_T": ("int", "long long")},
)

# Words of approximate_state in oriented.cu, followed by the two status words.
_REMAINING, _DEGREE_SUM, _STATE_WORDS = 3, 4, 9
_ROUNDS_PER_CHECK = 4


def build(device: KernelDevice, base: Mapping[str, Any], view: Any, *, control: Control) -> dict[str, Any]:
    """Offsets, neighbors (ranks, ascending in each row) and the vertex of each rank, in the order `view.by`."""
    xp, offsets, neighbors = device.xp, base["offsets"], base["neighbors"]
    num_vertices = len(offsets) - 1
    if num_vertices > MAX_NARROW_VERTICES:
        raise UnsupportedError(
            f"oriented views on CUDA devices have up to {MAX_NARROW_VERTICES} vertices, this one has {num_vertices}; "
            "devices='cpu' has no such limit"
        )
    if num_vertices == 0:
        return {"offsets": device.zeros(1, np.int64), "neighbors": neighbors, "vertices": neighbors}
    vertices = order_vertices(device, _primary_key(device, base, view.by, control), neighbors.dtype)
    control.check()
    rank = device.empty(num_vertices, neighbors.dtype)
    rank[vertices] = xp.arange(num_vertices, dtype=neighbors.dtype)

    kernels = device.load(SOURCE, VERTEX_T=vertex_define(neighbors.dtype))
    grid, block = launch_shape(device, 32 * num_vertices)
    status = device.status()
    oriented = device.zeros(num_vertices + 1, np.int64)
    count = np.int64(num_vertices)
    kernels.launch("orient_count", grid, block, (offsets, neighbors, rank, count, oriented, status))
    device.raise_status(status, OPERATION)
    xp.cumsum(oriented, out=oriented)
    bits = rank_bits(num_vertices)
    keys = device.empty(int(oriented[-1]), np.int64)
    kernels.launch("orient_keys", grid, block, (offsets, neighbors, rank, oriented, count, np.int32(bits), keys))
    keys.sort()
    keys &= (1 << bits) - 1
    found = {"offsets": oriented, "neighbors": keys.astype(neighbors.dtype), "vertices": vertices}
    device.synchronize()
    return found


def _primary_key(device: KernelDevice, base: Mapping[str, Any], by: str, control: Control) -> Any:
    """The first key of the order; the second is the vertex."""
    if by == "degree":
        return device.xp.diff(base["offsets"])
    if by == "degeneracy":
        return peel(device, base, control=control)[1]
    if by == "approximate":
        return _approximate_rounds(device, base, control)
    raise UnsupportedError(f"vertices can be ordered by degree, degeneracy or approximate, not by {by!r}")


def order_vertices(device: KernelDevice, primary: Any, dtype: Any) -> Any:
    """The vertices by ascending (primary, index), with one sort of combined keys: CuPy sorts integers by radix."""
    num_vertices = len(primary)
    bits = rank_bits(num_vertices)
    keys = primary.astype(np.int64)
    keys <<= bits
    keys |= device.xp.arange(num_vertices, dtype=np.int64)
    keys.sort()
    keys &= (1 << bits) - 1
    return keys.astype(dtype)


def rank_bits(num_vertices: int) -> int:
    """Bits of a rank in a sort key."""
    return max(1, (num_vertices - 1).bit_length())


def _approximate_rounds(device: KernelDevice, base: Mapping[str, Any], control: Control) -> Any:
    """The round of each vertex in the approximate core order."""
    xp, offsets, neighbors = device.xp, base["offsets"], base["neighbors"]
    num_vertices = len(offsets) - 1
    degree = xp.diff(offsets).astype(np.int32)
    rounds = device.empty(num_vertices, np.int32)
    rounds.fill(-1)
    queue = device.empty(num_vertices, neighbors.dtype)
    start = np.zeros(_STATE_WORDS + 2, np.int64)
    start[_REMAINING] = num_vertices
    start[_DEGREE_SUM] = len(neighbors)
    words = device.asarray(start)
    state, status = words[:_STATE_WORDS], words[_STATE_WORDS:]

    kernels = device.load(SOURCE, VERTEX_T=vertex_define(neighbors.dtype))
    grid, block = launch_shape(device, num_vertices)
    wide_grid, _ = launch_shape(device, 32 * num_vertices)
    count = np.int64(num_vertices)
    while True:
        control.check()
        for _ in range(_ROUNDS_PER_CHECK):
            kernels.launch("approximate_choose", grid, block, (offsets, count, degree, rounds, queue, state))
            removal = (offsets, neighbors, count, degree, rounds, queue, state, status)
            kernels.launch("approximate_remove", wide_grid, block, removal)
        now = device.get(words)
        raise_fault(now[_STATE_WORDS:], OPERATION, device.name)
        if now[_REMAINING] == 0:
            return rounds


def memory(device: KernelDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: the view itself; temporarily a rank and a sort key per vertex, and two keys per edge."""
    n, m, width = shape["num_vertices"], shape["num_edges"], shape["vertex_bytes"]
    return 8 * (n + 1) + width * (2 * n + m) + 16 * n + 16 * m
