"""Sums over all vertices in an iteration of PageRank, on the device; see include/pagerank_totals.cuh."""

from __future__ import annotations

import numpy as np

from graphlode.cuda.interface import KernelDevice


class RankTotals:
    """Three numbers of this iteration and of the next: what is spread, what was spread before, and the change of
    values.

    Before the first iteration all vertices have equal values that sum to 1. `dangling` is the part of the vertices
    without outgoing edges.
    """

    def __init__(self, device: KernelDevice, damping: float, dangling: float) -> None:
        self._device = device
        self.state = device.asarray(np.array([damping * dangling + (1.0 - damping), 1.0, 0.0]))
        self.next_state = device.empty(3, np.float64)
        self.tickets = device.zeros(1, np.uint32)

    def swap(self) -> None:
        """Makes the next iteration the current one."""
        self.state, self.next_state = self.next_state, self.state

    def change(self) -> float:
        """The sum of the absolute changes in the last iteration; waits for it."""
        return float(self._device.get(self.state)[2])

    def spread_before(self) -> float:
        """The value that the last iteration spread."""
        return float(self._device.get(self.state)[1])
