"""Breadth-first search, level by level, with sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray, Task


def launch(
    device: ReferenceDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    source: int,
    symmetric: bool,
) -> dict[str, Any]:
    rows = rows_of(view)
    levels, parents = [-1] * len(rows), [-1] * len(rows)
    for _ in tasks:
        levels[source] = depth = 0
        frontier = {source}
        while frontier:
            control.check()
            control.advance(len(frontier))
            next_frontier = {v for u in frontier for v in rows[u] if levels[v] < 0}
            for v in next_frontier:
                levels[v] = depth + 1
                parents[v] = min(u for u in frontier if v in rows[u])
            depth += bool(next_frontier)
            frontier = next_frontier
    dtype = view["neighbors"].dtype
    reached = sum(level >= 0 for level in levels)
    return {
        "levels": np.array(levels, dtype),
        "parents": np.array(parents, dtype),
        "reached": reached,
        "depth": max(levels),
    }


def memory(device: ReferenceDevice, shape: Mapping[str, int], **options: Any) -> int:
    return 0
