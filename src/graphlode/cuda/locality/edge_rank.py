"""Edge-centric PageRank on a CUDA device: passes of progressive.cu add up, pagerank_tiles.cu updates the values."""

from __future__ import annotations

from typing import Any

from graphlode.common.control import Control
from graphlode.cuda.analytics.pagerank_tiles import FixedValues
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.locality.progressive import SOURCE, run_pass, send
from graphlode.types import FloatArray, Int64Array


class Ranker:
    """The list of edges and the values of all vertices, on the device."""

    def __init__(
        self,
        device: KernelDevice,
        edges: Int64Array,
        out_degrees: Int64Array,
        damping: float,
        *,
        by_destination: bool,
    ) -> None:
        self._device, self._by_destination = device, by_destination
        device.load(SOURCE)  # compiled before the first iteration, which is timed
        self._edges: Any = device.asarray(edges.copy())
        self._state = FixedValues(device, device.asarray(out_degrees), damping)

    @property
    def edges(self) -> Int64Array:
        found: Int64Array = self._device.get(self._edges)
        return found

    @property
    def values(self) -> FloatArray:
        found: FloatArray = self._device.get(self._state.values)
        return found

    def iterate(self, *, lanes: int, level: int, control: Control) -> float:
        """One iteration, with reordering unless `lanes` is 0; returns the sum of the absolute changes of the values."""
        along = (self._by_destination, self._state.sent, self._state.sums)
        if not len(self._edges):
            control.check()
        elif lanes:
            run_pass(self._device, self._edges, lanes, level, control, along)
        else:
            send(self._device, self._edges, control, along)
        self._state.finish()
        return self._state.change()

    def window(self, begin: int, end: int) -> Int64Array:
        """A part of the edges in the order of the list."""
        found: Int64Array = self._device.get(self._edges[begin:end])
        return found
