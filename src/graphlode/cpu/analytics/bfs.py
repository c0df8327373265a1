"""Breadth-first search on the CPU; see native/src/walks/bfs_search.hpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.graph.rows import native_rows
from graphlode.types import AnyArray, Task


def launch(
    device: CpuDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    source: int,
    symmetric: bool,
) -> dict[str, Any]:
    for _ in tasks:  # one task: the whole graph
        levels, parents, reached, depth = _native.analytics_bfs(
            *native_rows(view), source, symmetric, device.threads, control.words
        )
    return {"levels": levels, "parents": parents, "reached": reached, "depth": depth}


def memory(device: CpuDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes in addition to the view: level, parent and two queues per vertex, and three bitmaps."""
    n = shape["num_vertices"]
    return 4 * shape["vertex_bytes"] * n + 3 * 8 * (n // 64 + 1)
