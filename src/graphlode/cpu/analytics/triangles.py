"""Triangles on the CPU; see native/src/analytics/triangles.cpp."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import AnyArray, Task


def launch(
    device: CpuDevice, view: Mapping[str, AnyArray], tasks: Iterator[Task], *, control: Control, by: str | None
) -> dict[str, Any]:
    offsets, neighbors = view["offsets"], view["neighbors"]
    size = {None: 0, "vertex": offsets.size - 1, "edge": neighbors.size}[by]
    counts = np.zeros(size, np.int64)
    total = 0
    for task in tasks:
        total += _native.analytics_triangles(
            offsets, neighbors, task.begin, task.end, by or "total", counts, device.threads, control.words
        )
    return {"total": total, "counts": None if by is None else counts}


def memory(device: CpuDevice, shape: Mapping[str, int], *, by: str | None) -> int:
    """Bytes in addition to the view: a mark or position per vertex and thread, the bit rows of hubs, and the counts."""
    n, m = shape["num_vertices"], shape["num_edges"]
    hub_words = -(-min(n, _most_hubs(m)) // 64)
    bit_rows = (12 if by == "edge" else 8) * 64 * hub_words * (hub_words + 1) // 2 + 8 * (64 * hub_words + 1)
    if by is None:
        per_thread = n + 8 * hub_words
    else:
        per_thread = n * shape["vertex_bytes"] + 8 * (65 * hub_words + math.isqrt(2 * m) + 1)
    counts = {None: 0, "vertex": n, "edge": m}[by]
    return device.threads * per_thread + bit_rows + 8 * counts


def _most_hubs(num_edges: int) -> int:
    """The same rule as in native/src/analytics/hub_rows.hpp. A test compares the estimate with actual allocations."""
    return 1024 if num_edges < 2**16 else 4096 if num_edges < 2**22 else 8192
