"""PageRank on the pages of a store with one shard, by analytics/pagerank.cu: two or three launches per iteration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.walks.pagerank_sums import ArrivingSums
from graphlode.types import FloatArray


class PageRanking:
    """The iteration on pages of an undirected graph, whose rows are also its incoming edges."""

    def __init__(
        self, device: KernelDevice, view: Mapping[str, Any], damping: float, restart: FloatArray | None
    ) -> None:
        xp, n = device.xp, int(view["num_rows"])
        self._device, self._damping = device, damping
        self._sums = ArrivingSums(device, view)
        out_weights = self._sums.sums(xp.ones(n))  # if every vertex sends 1, the sums are the lengths of the rows
        self._share = xp.where(out_weights > 0, 1.0 / xp.where(out_weights > 0, out_weights, 1), 0.0)
        self.values = device.empty(n, np.float64)
        self.values.fill(1.0 / n)
        self._sent, self._next_sent = self.values * self._share, device.empty(n, np.float64)
        self._dangling = float((self._share == 0).sum()) / n
        self._restart = xp.full(n, 1.0 / n) if restart is None else device.asarray(restart)
        self._parts = device.empty((self._sums.num_parts, 2), np.float64)

    def start(self) -> None:
        """Performs one iteration."""
        spread = self._damping * self._dangling + (1.0 - self._damping)
        settings = (self._restart, self._share, np.float64(self._damping), np.float64(spread))
        arguments = (*settings, self.values, self._next_sent)
        self._sums.run(self._sent, "pagerank_rows", "pagerank_long_rows", arguments, self._parts)
        self._change, self._dangling = self._device.get(self._parts.sum(axis=0)).tolist()
        self._sent, self._next_sent = self._next_sent, self._sent

    def change(self) -> float:
        """The sum of the absolute changes in the last iteration."""
        return float(self._change)
