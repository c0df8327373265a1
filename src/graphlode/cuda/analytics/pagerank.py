"""PageRank on a CUDA device: rows by pagerank_chunks.cu, the pages of a store by pagerank.cu, tiles by pagerank_tiles.cu."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.analytics.pagerank_tiles import TileRanking
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.walks.pagerank_chunks import ChunkRanking
from graphlode.cuda.walks.pagerank_pages import PageRanking
from graphlode.types import FloatArray, Task

OPERATION = "analytics.pagerank"
# Rows would be read a little faster than pages, but writing them takes memory for a second copy of the graph.
ITERATIONS_ON_PAGES = math.inf
TILE_ROW_BITS = 13  # sums of so many destinations take 64 KiB of shared memory: three blocks on a multiprocessor

_MOST_UNDER_WAY = 16  # iterations that are started before the host looks whether to stop
_ITERATIONS_WORTH_LINKING = 8


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    damping: float,
    tolerance: float,
    max_iter: int,
    restart: FloatArray | None,
    weights: FloatArray | None,
) -> dict[str, Any] | None:
    """The value of every vertex; the one task is the whole graph."""
    task = next(iter(tasks), None)
    if task is None:
        return None
    num_vertices = view["num_rows"] if "num_rows" in view else len(view["offsets"]) - 1
    iterations, converged, told = 0, num_vertices == 0, 0
    if num_vertices == 0:
        return {"values": np.zeros(0), "iterations": iterations, "converged": converged}
    ranking = _ranking(device, view, damping, max_iter, restart, weights)
    while iterations < max_iter and not converged:
        control.check()
        ranking.start()
        iterations += 1
        if tolerance > 0 or iterations % _MOST_UNDER_WAY == 0:
            converged = ranking.moved() < tolerance
        done = num_vertices * iterations // max_iter
        control.advance(done - told)
        told = done
    control.advance(num_vertices - told)
    return {"values": device.get(ranking.values), "iterations": iterations, "converged": converged}


class _Ranking(Protocol):
    """Values between iterations."""

    @property
    def values(self) -> Any: ...
    def start(self) -> None: ...  # an iteration, which may be under way afterwards
    def moved(self) -> float: ...  # how far the values moved in it, all together


def _ranking(
    device: KernelDevice,
    view: Mapping[str, Any],
    damping: float,
    max_iter: int,
    restart: FloatArray | None,
    weights: FloatArray | None,
) -> _Ranking:
    if "edges" in view:
        return TileRanking(device, view, damping, restart)
    if "pages" in view:
        return PageRanking(device, view, damping, restart)
    if weights is not None:  # whoever is in a row leads to it
        there = device.asarray(weights)
        leaving = device.xp.bincount(view["neighbors"], there, len(view["offsets"]) - 1)
        return ChunkRanking(device, view, leaving, damping, restart=restart, weights=there)
    leaving = view["out_degrees"] if "out_degrees" in view else device.xp.diff(view["offsets"])
    if restart is None and max_iter >= _ITERATIONS_WORTH_LINKING:
        return _LinkedRanking(device, view, leaving, damping)
    return ChunkRanking(device, view, leaving, damping, restart=restart)


class _LinkedRanking:
    """The iteration on those vertices alone that an edge touches, where the others are many.

    They are numbered anew, which takes about as long as an iteration; what is read at random is that much smaller.
    """

    def __init__(self, device: KernelDevice, view: Mapping[str, Any], leaving: Any, damping: float) -> None:
        xp, n = device.xp, len(leaving)
        touched = (xp.diff(view["offsets"]) > 0) | (leaving > 0)
        linked = xp.flatnonzero(touched)
        self._device, self._num_vertices, self._linked = device, n, None
        rows: Mapping[str, Any] = view
        if 0 < len(linked) <= n - n // 8 < n:
            neighbors = view["neighbors"]
            numbers = xp.cumsum(touched, dtype=neighbors.dtype) - 1
            ends = xp.concatenate([view["offsets"][:1], view["offsets"][1:][linked]])
            rows = {"offsets": ends, "neighbors": numbers[neighbors]}
            leaving, self._linked = leaving[linked], linked
        self._inner = ChunkRanking(device, rows, leaving, damping, isolated=n - len(leaving))
        self.start, self.moved = self._inner.start, self._inner.moved

    @property
    def values(self) -> Any:
        if self._linked is None:
            return self._inner.values
        values = self._device.xp.full(self._num_vertices, self._inner.value_of_isolated())
        values[self._linked] = self._inner.values
        return values


def memory(device: KernelDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes beside the view: value, share, what is sent now and next, restart, and on the way the ends of rows; rows of
    the vertices that an edge touches, and what chunks have of rows.

    On pages also a sum per row and leaf; leaves have at least 13 entries in the mean.
    """
    n, m = shape["num_vertices"], shape["num_entries"]
    return 10 * 8 * n + (shape["vertex_bytes"] + 1) * m
