"""Edge-centric PageRank on one thread of the CPU; see native/src/locality/edge_rank.cpp."""

from __future__ import annotations

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import FloatArray, Int64Array


class Ranker:
    """The list of edges and the values of all vertices. An iteration may reorder the list in place."""

    def __init__(
        self, device: CpuDevice, edges: Int64Array, out_degrees: Int64Array, damping: float, *, by_destination: bool
    ) -> None:
        n = out_degrees.size
        self._damping = damping
        self.edges = edges
        self.values: FloatArray = np.full(n, 1 / n if n else 0.0)
        share = np.divide(1.0, out_degrees, out=np.zeros(n), where=out_degrees > 0)
        self._native = _native.EdgeRanker(edges, by_destination, self.values, share, self.values * share, np.zeros(n))

    def iterate(self, *, lanes: int, level: int, control: Control) -> float:
        """One iteration, with reordering unless `lanes` is 0; returns the sum of the absolute changes of the values."""
        return self._native.iterate(self._damping, lanes, level, control.words)

    def window(self, begin: int, end: int) -> Int64Array:
        """A part of the edges in the order of the list."""
        return self.edges[begin:end]
