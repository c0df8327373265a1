"""PageRank on CUDA devices: rows by pagerank_chunks.cu, pages of a store by pagerank.cu, tiles by pagerank_tiles.cu."""

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
TILE_ROW_BITS = 13  # sums of 2^13 destinations take 64 KiB of shared memory: three blocks per multiprocessor

_MAX_QUEUED_ITERATIONS = 16  # iterations that are started before the host waits for their result
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
    """The value of every vertex; the only task is the whole graph."""
    task = next(iter(tasks), None)
    if task is None:
        return None
    num_vertices = view["num_rows"] if "num_rows" in view else len(view["offsets"]) - 1
    iterations, converged, reported = 0, num_vertices == 0, 0
    if num_vertices == 0:
        return {"values": np.zeros(0), "iterations": iterations, "converged": converged}
    ranking = _ranking(device, view, damping, max_iter, restart, weights)
    while iterations < max_iter and not converged:
        control.check()
        ranking.start()
        iterations += 1
        if tolerance > 0 or iterations % _MAX_QUEUED_ITERATIONS == 0:
            converged = ranking.change() < tolerance
        done = num_vertices * iterations // max_iter
        control.advance(done - reported)
        reported = done
    control.advance(num_vertices - reported)
    return {"values": device.get(ranking.values), "iterations": iterations, "converged": converged}


class _Ranking(Protocol):
    """The values of all vertices between iterations."""

    @property
    def values(self) -> Any: ...
    def start(self) -> None: ...  # starts an iteration; it may still run when this returns
    def change(self) -> float: ...  # the sum of the absolute changes of the values in the last iteration


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
    if weights is not None:  # each entry of a row is the source of an edge
        device_weights = device.asarray(weights)
        out_weights = device.xp.bincount(view["neighbors"], device_weights, len(view["offsets"]) - 1)
        return ChunkRanking(device, view, out_weights, damping, restart=restart, weights=device_weights)
    out_weights = view["out_degrees"] if "out_degrees" in view else device.xp.diff(view["offsets"])
    if restart is None and max_iter >= _ITERATIONS_WORTH_LINKING:
        return _LinkedRanking(device, view, out_weights, damping)
    return ChunkRanking(device, view, out_weights, damping, restart=restart)


class _LinkedRanking:
    """The iteration on vertices with edges alone, if many vertices have none.

    Renumbering them takes about as long as an iteration. In return there are fewer values to read at random.
    """

    def __init__(self, device: KernelDevice, view: Mapping[str, Any], out_weights: Any, damping: float) -> None:
        xp, n = device.xp, len(out_weights)
        touched = (xp.diff(view["offsets"]) > 0) | (out_weights > 0)
        linked = xp.flatnonzero(touched)
        self._device, self._num_vertices, self._linked = device, n, None
        rows: Mapping[str, Any] = view
        if 0 < len(linked) <= n - n // 8 < n:
            neighbors = view["neighbors"]
            numbers = xp.cumsum(touched, dtype=neighbors.dtype) - 1
            ends = xp.concatenate([view["offsets"][:1], view["offsets"][1:][linked]])
            rows = {"offsets": ends, "neighbors": numbers[neighbors]}
            out_weights, self._linked = out_weights[linked], linked
        self._inner = ChunkRanking(device, rows, out_weights, damping, isolated=n - len(out_weights))
        self.start, self.change = self._inner.start, self._inner.change

    @property
    def values(self) -> Any:
        if self._linked is None:
            return self._inner.values
        values = self._device.xp.full(self._num_vertices, self._inner.value_of_isolated())
        values[self._linked] = self._inner.values
        return values


def memory(device: KernelDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes in addition to the view: value, share, what is sent now and next, restart, and temporary ends of rows; rows
    of the vertices with edges, and the arrays of chunks.

    On pages also a sum per row and leaf; leaves have at least 13 entries on average.
    """
    n, m = shape["num_vertices"], shape["num_entries"]
    return 10 * 8 * n + (shape["vertex_bytes"] + 1) * m
