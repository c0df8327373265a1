"""Shortest paths with Dijkstra's algorithm; parents directly from their definition."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.types import AnyArray, Task

Rows = list[list[tuple[int, float]]]


def launch(
    device: ReferenceDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    source: int,
    symmetric: bool,
    delta: float | None,
) -> dict[str, Any]:
    entries = list(zip(view["neighbors"].tolist(), view["weights"].tolist(), strict=True))
    cuts = view["offsets"].tolist()
    rows = [entries[begin:end] for begin, end in zip(cuts, cuts[1:], strict=False)]
    distances = [math.inf] * len(rows)
    for _ in tasks:
        distances[source] = 0.0
        waiting = [(0.0, source)]
        while waiting:
            control.check()
            distance, u = heapq.heappop(waiting)
            if distance > distances[u]:
                continue
            for v, length in rows[u]:
                if distance + length < distances[v]:
                    distances[v] = distance + length
                    heapq.heappush(waiting, (distances[v], v))
        control.advance(len(rows))
    return {
        "distances": np.array(distances, np.float64),
        "parents": np.array(_parents(rows, distances, source), view["neighbors"].dtype),
        "reached": sum(distance < math.inf for distance in distances),
    }


def _parents(rows: Rows, distances: list[float], source: int) -> list[int]:
    """The lowest nearer predecessor of each vertex. If there is none: in rounds, one as near that has a parent."""
    parents = [-1] * len(rows)
    steps = [
        (u, v)
        for u, row in enumerate(rows)
        for v, length in row
        if distances[u] < math.inf and distances[u] + length == distances[v]
    ]
    for u, v in reversed(steps):  # the lowest is written last
        if distances[u] < distances[v]:
            parents[v] = u
    level = [(u, v) for u, v in steps if distances[u] == distances[v]]
    while True:
        settled = [u == source or parents[u] >= 0 for u in range(len(rows))]
        found = [(u, v) for u, v in level if settled[u] and not settled[v]]
        if not found:
            return parents
        for u, v in reversed(found):
            parents[v] = u


def memory(device: ReferenceDevice, shape: Mapping[str, int], **options: Any) -> int:
    return 0
