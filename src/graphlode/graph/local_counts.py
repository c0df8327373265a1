"""Counts in total, at each vertex or at each edge: the result type of several operations, and its order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from graphlode.execute.provenance import Provenance
from graphlode.graph.graph import Graph
from graphlode.graph.tables import table
from graphlode.types import MAX_NARROW_VERTICES, AnyArray

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, kw_only=True)
class LocalCount:
    """The number of triangles, cliques or similar in a graph; `int(result)` is the total.

    `by_vertex` follows `Graph.ids`, `by_edge` follows `Graph.edges()` of the undirected form; None unless requested.
    """

    total: int
    by_vertex: AnyArray | None
    by_edge: AnyArray | None
    provenance: Provenance
    graph: Graph = field(repr=False)  # the undirected graph that was counted

    things: ClassVar[str]  # what is counted: the name of the column in tables

    def __post_init__(self) -> None:
        for array in (self.by_vertex, self.by_edge):
            if array is not None:
                array.flags.writeable = False

    def __int__(self) -> int:
        return self.total

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        arrays = {"by_vertex": self.by_vertex, "by_edge": self.by_edge}
        given = {name: array.tolist() for name, array in arrays.items() if array is not None}
        return {"total": self.total, **given, "provenance": self.provenance.to_dict()}

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per vertex or edge, whichever was counted; otherwise one row with the total."""
        if self.by_vertex is not None:
            return table({"vertex": self.graph.ids, self.things: self.by_vertex})
        if self.by_edge is not None:
            edges = self.graph.edges()
            return table({"source": edges[:, 0], "target": edges[:, 1], self.things: self.by_edge})
        return table({self.things: [self.total]})


def in_graph_order(counts: AnyArray, fetch: Callable[[str], AnyArray], by: str) -> AnyArray:
    """Rows of `counts` in the order of `Graph.ids` (by "vertex") or of `Graph.edges()` (by "edge").

    `fetch` returns an array of the oriented view by name.
    """
    vertices = fetch("vertices")
    if by == "vertex":
        ordered = np.empty_like(counts)
        ordered[vertices] = counts
        return ordered
    tails = np.repeat(vertices, np.diff(fetch("offsets")))
    heads = vertices[fetch("neighbors")]
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    if vertices.size <= MAX_NARROW_VERTICES:  # sorting combined keys once takes a third of the time
        # Both operands have one type: NumPy crashes if it has to cast during the operation and runs out of memory.
        return counts[np.argsort(low.astype(np.int64) << 32 | high.astype(np.int64))]
    return counts[np.lexsort((high, low))]
