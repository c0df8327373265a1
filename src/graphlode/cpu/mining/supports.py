"""The supported view on the CPU; see native/src/mining/supports.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.errors import UnsupportedError
from graphlode.types import AnyArray

_MAX_INDEX = 2**31 - 1  # ranks, edge ids and triangles at an edge are 32-bit
_MOST_PARTS = 8  # the same number as in the native code


def build(device: CpuDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, AnyArray]:
    """The arrays of `graphlode.mining.supports.Supported`."""
    num_vertices, num_edges = base["offsets"].size - 1, base["neighbors"].size // 2
    if num_vertices > _MAX_INDEX or num_edges > _MAX_INDEX:
        raise UnsupportedError(
            f"motifs take up to {_MAX_INDEX} vertices and edges, this graph has {num_vertices} and {num_edges}"
        )
    neighbors = base["neighbors"].astype(np.int32, copy=False)
    built = _native.mining_supports(base["offsets"], neighbors, device.threads, control.words)
    names = ("offsets", "neighbors", "lower", "edges", "triangles", "vertices")
    arrays = dict(zip(names, built, strict=True))
    for array in arrays.values():
        array.flags.writeable = False  # all users of the snapshot share them
    return arrays


def memory(device: CpuDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: the view itself; temporarily the oriented graph, its counts, and the new positions."""
    n, m = shape["num_vertices"], shape["num_edges"]
    parts = min(device.threads, _MOST_PARTS)
    hubs = min(n, 8192)
    bit_rows = 12 * hubs * (hubs // 64 + 1) // 2 + 8 * hubs
    return (24 + 24 + 4 * parts) * n + (20 + 12) * m + bit_rows + device.threads * (4 * n + 8 * hubs)
