"""Drives analytics/pagerank.cu: one or two launches and one look per iteration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape, vertex_define
from graphlode.types import FloatArray, Task

OPERATION = "analytics.pagerank"
SOURCE = KernelSource("analytics/pagerank", ("pagerank_rows", "pagerank_long_rows"), {"VERTEX_T": ("int", "long long")})

# The longest row that one warp sums; longer ones get a block each.
_LONGEST = 2048


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
    num_vertices = len(view["offsets"]) - 1
    iterations, converged, told = 0, num_vertices == 0, 0
    if num_vertices == 0:
        return {"values": np.zeros(0), "iterations": iterations, "converged": converged}
    ranking = _Ranking(device, view, damping, restart, weights)
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
        view: Mapping[str, Any],
        damping: float,
        restart: FloatArray | None,
        weights: FloatArray | None,
    ) -> None:
        xp, self._offsets, self._neighbors = device.xp, view["offsets"], view["neighbors"]
        self._device, self._damping = device, damping
        self._num_vertices = n = len(self._offsets) - 1
        lengths = xp.diff(self._offsets)
        if weights is None:
            self._weights = device.empty(1, np.float64)  # not looked at
            leaving = view.get("out_degrees", lengths)  # the rows of an undirected graph lead both ways
        else:
            self._weights = device.asarray(weights)
            leaving = xp.bincount(self._neighbors, self._weights, n) if len(weights) else lengths
        self._weighted = np.int32(weights is not None)
        self._share = xp.where(leaving > 0, 1.0 / xp.where(leaving > 0, leaving, 1), 0.0)
        self.values = device.empty(n, np.float64)
        self.values.fill(1.0 / n)
        self._sent, self._next_sent = self.values * self._share, device.empty(n, np.float64)
        self._stuck = float((self._share == 0).sum()) / n
        self._restart = xp.full(n, 1.0 / n) if restart is None else device.asarray(restart)
        self._long_rows = xp.flatnonzero(lengths > _LONGEST).astype(np.int64)
        self._grid, self._block = launch_shape(device, n)
        self._long_grid, _ = launch_shape(device, len(self._long_rows), per_block=1)
        self._warps = self._grid * self._block // WARP
        num_parts = self._warps + (self._long_grid if len(self._long_rows) else 0)
        self._parts = device.empty((num_parts, 2), np.float64)
        self._kernels = device.load(SOURCE, VERTEX_T=vertex_define(self._neighbors.dtype))

    def iterate(self) -> float:
        """One iteration; how far the values moved, all together."""
        spread = self._damping * self._stuck + (1.0 - self._damping)
        inputs = (self._offsets, self._neighbors, self._weights, self._sent, self._restart, self._share)
        common = (*inputs, self._weighted, np.float64(self._damping), np.float64(spread), self.values, self._next_sent)
        rows = (np.int64(self._num_vertices), np.int64(_LONGEST))
        self._kernels.launch("pagerank_rows", self._grid, self._block, (*common, self._parts, *rows))
        if len(self._long_rows):
            listed = (self._long_rows, np.int64(len(self._long_rows)))
            parts = self._parts[self._warps :]
            self._kernels.launch("pagerank_long_rows", self._long_grid, self._block, (*common, parts, *listed))
        moved, self._stuck = self._device.get(self._parts.sum(axis=0)).tolist()
        self._sent, self._next_sent = self._next_sent, self._sent
        return float(moved)


def memory(device: KernelDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes beside the view: value, share, what is sent now and next, lengths, restart, and what leads to them."""
    return 8 * 8 * shape["num_vertices"]
