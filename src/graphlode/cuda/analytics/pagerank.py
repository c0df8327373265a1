"""Drives analytics/pagerank.cu, or on tiles pagerank_tiles.cu: one to three launches and one look per iteration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cuda.analytics.pagerank_sums import ArrivingSums
from graphlode.cuda.analytics.pagerank_tiles import TileRanking
from graphlode.cuda.graph.rows import KernelRows, kernel_rows
from graphlode.cuda.interface import KernelDevice
from graphlode.types import FloatArray, Task

OPERATION = "analytics.pagerank"
READS_PAGES = True
# An iteration is bound by reading what is sent at random, beside which the wider keys of pages go unnoticed.
ITERATIONS_ON_PAGES = math.inf
TILE_ROW_BITS = 13  # sums of so many destinations take 64 KiB of shared memory: three blocks on a multiprocessor


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
    ranking: TileRanking | _Ranking
    if "edges" in view:
        ranking = TileRanking(device, view, damping, restart)
    else:
        ranking = _Ranking(device, kernel_rows(view), view, damping, restart, weights)
    while iterations < max_iter and not converged:
        control.check()
        converged = ranking.iterate() < tolerance
        iterations += 1
        done = num_vertices * iterations // max_iter
        control.advance(done - told)
        told = done
    control.advance(num_vertices - told)
    return {"values": device.get(ranking.values), "iterations": iterations, "converged": converged}


class _Ranking:
    def __init__(
        self,
        device: KernelDevice,
        rows: KernelRows,
        view: Mapping[str, Any],
        damping: float,
        restart: FloatArray | None,
        weights: FloatArray | None,
    ) -> None:
        xp, n = device.xp, rows.num_rows
        self._device, self._damping = device, damping
        there = None if weights is None else device.asarray(weights)
        self._sums = ArrivingSums(device, view, there)
        leaving = _leaving(device, rows, view, self._sums, there)
        self._share = xp.where(leaving > 0, 1.0 / xp.where(leaving > 0, leaving, 1), 0.0)
        self.values = device.empty(n, np.float64)
        self.values.fill(1.0 / n)
        self._sent, self._next_sent = self.values * self._share, device.empty(n, np.float64)
        self._stuck = float((self._share == 0).sum()) / n
        self._restart = xp.full(n, 1.0 / n) if restart is None else device.asarray(restart)
        self._parts = device.empty((self._sums.num_parts, 2), np.float64)

    def iterate(self) -> float:
        """One iteration; how far the values moved, all together."""
        spread = self._damping * self._stuck + (1.0 - self._damping)
        settings = (self._restart, self._share, np.float64(self._damping), np.float64(spread))
        arguments = (*settings, self.values, self._next_sent)
        self._sums.run(self._sent, "pagerank_rows", "pagerank_long_rows", arguments, self._parts)
        moved, self._stuck = self._device.get(self._parts.sum(axis=0)).tolist()
        self._sent, self._next_sent = self._next_sent, self._sent
        return float(moved)


def _leaving(device: KernelDevice, rows: KernelRows, view: Mapping[str, Any], sums: ArrivingSums, weights: Any) -> Any:
    """The weight of all edges that leave each vertex, or their number."""
    if weights is not None and len(weights):  # whoever is in a row leads to it
        return device.xp.bincount(view["neighbors"], weights, rows.num_rows)
    if "out_degrees" in view:
        return view["out_degrees"]
    # The rows of an undirected graph lead both ways: their lengths are what arrives if everybody sends 1.
    return sums.alone(device.xp.ones(rows.num_rows)) if "pages" in view else device.xp.diff(view["offsets"])


def memory(device: KernelDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes beside the view: value, share, what is sent now and next, lengths, restart, and what leads to them.

    On pages also a sum per row and leaf; leaves have at least 13 entries in the mean.
    """
    return 9 * 8 * shape["num_vertices"] + 8 * (shape["num_entries"] // 13)
