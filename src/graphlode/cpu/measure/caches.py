"""Simulated caches; see native/src/measure/caches.cpp."""

from __future__ import annotations

from collections.abc import Sequence

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.types import Int64Array

Counts = tuple[int, int, int, int]
"""Hits and misses of vertex data, then hits and misses of the edge list."""


class Caches:
    """Simulated levels, given as (bytes, ways, bytes of a line); empty at first."""

    def __init__(
        self,
        levels: Sequence[tuple[int, int, int]],
        num_edges: int,
        *,
        edge_bytes: int,
        vertex_bytes: int,
        bypass: bool,
    ) -> None:
        self._native = _native.CacheSimulation(list(levels), num_edges, edge_bytes, vertex_bytes, bypass)

    def run_pass(
        self, edges: Int64Array, *, by_destination: bool, lanes: int, level: int, control: Control
    ) -> list[Counts]:
        """Counts of a pass over packed edges on each level: in the order of the list if `lanes` is 0, else in steps."""
        return list(self._native.run_pass(edges, by_destination, lanes, level, control.words))
