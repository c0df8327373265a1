"""What an iteration of PageRank adds up over all vertices, on the device; see include/pagerank_totals.cuh."""

from __future__ import annotations

import numpy as np

from graphlode.cuda.interface import KernelDevice


class RankTotals:
    """Three numbers of this iteration and of the next: what is spread, what was spread before, how far values moved.

    Before the first iteration everybody has an equal part of 1; `stuck` is that of the vertices that lead nowhere.
    """

    def __init__(self, device: KernelDevice, damping: float, stuck: float) -> None:
        self._device = device
        self.state = device.asarray(np.array([damping * stuck + (1.0 - damping), 1.0, 0.0]))
        self.next_state = device.empty(3, np.float64)
        self.tickets = device.zeros(1, np.uint32)

    def turn(self) -> None:
        """The next iteration becomes this one."""
        self.state, self.next_state = self.next_state, self.state

    def moved(self) -> float:
        """How far the values moved in the last iteration; waits for it."""
        return float(self._device.get(self.state)[2])

    def spread_before(self) -> float:
        """What was spread in the last iteration."""
        return float(self._device.get(self.state)[1])
