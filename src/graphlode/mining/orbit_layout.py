"""The supported view on the host, and sums along its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphlode.config import settings
from graphlode.control import Control
from graphlode.cpu.mining import row_sums as kernel
from graphlode.execute import call
from graphlode.mining.exact import product, row_sums
from graphlode.types import AnyArray, BoolArray, Int64Array


@dataclass(frozen=True)
class Layout:
    """Rows of ranks in both directions, the id of the edge at each entry, and the triangles at each edge."""

    offsets: Int64Array
    neighbors: AnyArray
    edges: AnyArray
    triangles: Int64Array

    @classmethod
    def of(cls, view: Mapping[str, AnyArray]) -> Layout:
        return cls(view["offsets"], view["neighbors"], view["edges"], view["triangles"].astype(np.int64))

    @cached_property
    def degrees(self) -> Int64Array:
        return np.diff(self.offsets)

    @cached_property
    def rows(self) -> Int64Array:
        """The row of each entry."""
        return np.repeat(np.arange(self.degrees.size), self.degrees)

    @cached_property
    def downward(self) -> BoolArray:
        """Which entries lead to a lower rank: one for each edge, in the order of edge ids."""
        return self.neighbors < self.rows

    @cached_property
    def ends(self) -> tuple[AnyArray, AnyArray]:
        """The higher and the lower end of each edge."""
        return self.rows[self.downward], self.neighbors[self.downward]

    def sums(self, of_edge: AnyArray | None, *of_neighbor: AnyArray) -> list[AnyArray]:
        """For each value of vertices, its sum over the neighbours of each vertex, times a value of the edge there."""
        arrays = [array for array in (of_edge, *of_neighbor) if array is not None]
        if any(array.dtype == object for array in arrays):
            return [self._wide_sums(of_edge, values) for values in of_neighbor]

        def work(control: Control) -> tuple[Int64Array, list[bool]]:
            return kernel.row_sums(
                self.offsets,
                self.neighbors,
                self.edges,
                of_edge,
                np.stack(of_neighbor, axis=1),
                threads=settings().threads,
                control=control,
            )

        found, overflowed = call(work)
        return [
            self._wide_sums(of_edge, values) if wide else np.ascontiguousarray(column)
            for values, column, wide in zip(of_neighbor, found.T, overflowed, strict=True)
        ]

    def _wide_sums(self, of_edge: AnyArray | None, of_neighbor: AnyArray) -> AnyArray:
        values = of_neighbor[self.neighbors]
        return row_sums(values if of_edge is None else product(of_edge[self.edges], values), self.offsets)
