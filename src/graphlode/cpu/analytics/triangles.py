"""Triangles on the CPU; see native/src/analytics/triangles.cpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.control import Control
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
    """Bytes beside the view: a mark or a place per vertex and thread, and the counts."""
    per_thread = shape["num_vertices"] * (1 if by is None else shape["vertex_bytes"])
    counts = {None: 0, "vertex": shape["num_vertices"], "edge": shape["num_edges"]}[by]
    return device.threads * per_thread + 8 * counts
