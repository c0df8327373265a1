"""Shortest paths on the CPU; see native/src/analytics/shortest_paths.cpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.common.weights import bucket_width
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import Task


def launch(
    device: CpuDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    source: int,
    symmetric: bool,
    delta: float | None,
) -> dict[str, Any]:
    offsets, neighbors, weights = view["offsets"], view["neighbors"], view["weights"]
    width = delta or bucket_width(view["mean_weight"], neighbors.size / (offsets.size - 1))
    for _ in tasks:  # one task: the whole graph
        distances, parents, reached = _native.analytics_shortest_paths(
            offsets, neighbors, weights, source, width, symmetric, device.threads, control.words
        )
    return {"distances": distances, "parents": parents, "reached": reached}


def memory(device: CpuDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes in addition to the view: distance, parent and about two queue entries per vertex."""
    return (8 + shape["vertex_bytes"] + 2 * 16) * shape["num_vertices"]
