"""PageRank, one sum per vertex and iteration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.tiled import ends_of
from graphlode.types import FloatArray, Task

TILE_ROW_BITS = 16


def launch(
    device: ReferenceDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    damping: float,
    tolerance: float,
    max_iter: int,
    restart: FloatArray | None,
    weights: FloatArray | None,
) -> dict[str, Any]:
    in_rows = _in_rows(view, weights)
    n = len(in_rows)
    out_weights = [0.0] * n
    for row in in_rows:
        for u, weight in row:  # each entry of a row is the source of an edge
            out_weights[u] += weight
    restarts = [1 / max(n, 1)] * n if restart is None else restart.tolist()
    values, iterations, converged = [1 / max(n, 1)] * n, 0, n == 0
    for _ in tasks:
        while iterations < max_iter and not converged:
            control.check()
            dangling = sum(value for value, weight in zip(values, out_weights, strict=True) if weight == 0)
            previous = values
            values = [
                damping
                * (sum(previous[u] * weight / out_weights[u] for u, weight in row if weight) + dangling * restart_at)
                + (1 - damping) * restart_at
                for row, restart_at in zip(in_rows, restarts, strict=True)
            ]
            iterations += 1
            converged = sum(abs(a - b) for a, b in zip(values, previous, strict=True)) < tolerance
        control.advance(n)
    return {"values": np.array(values, np.float64), "iterations": iterations, "converged": converged}


def _in_rows(view: Mapping[str, Any], weights: FloatArray | None) -> list[list[tuple[int, float]]]:
    """The sources of the edges to each vertex, with their weights."""
    if "edges" in view:
        rows_of_tiles: list[list[tuple[int, float]]] = [[] for _ in range(view.get("num_vertices", view["num_rows"]))]
        vertices = view.get("linked", np.arange(view["num_rows"])).tolist()
        for u, v in ends_of(view):
            rows_of_tiles[vertices[v]].append((vertices[u], 1.0))
        return rows_of_tiles
    offsets, neighbors = view["offsets"].tolist(), view["neighbors"].tolist()
    entry_weights = [1.0] * len(neighbors) if weights is None else weights.tolist()
    return [list(zip(neighbors[a:b], entry_weights[a:b], strict=True)) for a, b in pairwise(offsets)]


def memory(device: ReferenceDevice, shape: Mapping[str, int], **options: Any) -> int:
    return 0
