"""Clustering coefficients: the fraction of pairs of a vertex's neighbors that are neighbors themselves.

There is no separate kernel: the coefficients follow from degrees and the number of triangles at each vertex.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from graphlode.analytics.triangles import count_triangles
from graphlode.common.wait import Progress
from graphlode.execute.devices import Devices
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import Shares
from graphlode.graph.tables import table
from graphlode.types import FloatArray, Int64Array

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, kw_only=True)
class Clustering:
    """Clustering coefficients: one per vertex in the order of `Graph.ids`, and two for the whole graph.

    `values` are the triangles at a vertex divided by the pairs of its neighbors; 0 for a vertex of degree below 2.
    `average` is their mean. `transitivity` is three times the number of triangles divided by the number of all pairs.
    """

    values: FloatArray
    average: float
    transitivity: float
    triangles: int
    provenance: Provenance
    ids: Int64Array = field(repr=False)

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "average": self.average,
            "transitivity": self.transitivity,
            "triangles": self.triangles,
            "values": self.values.tolist(),
            "provenance": self.provenance.to_dict(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per vertex."""
        return table({"vertex": self.ids, "clustering": self.values})


def clustering(
    graph: Any, *, devices: Devices = "auto", shares: Shares = "auto", progress: Progress | None = None
) -> Clustering:
    """Clustering coefficient of every vertex and of the whole graph.

    Parameters
    ----------
    graph
        A Graph, a store, a scipy sparse matrix or a networkx graph. A directed graph is used in its undirected form.
        Weights are ignored.
    devices, shares, progress
        As for `count_triangles`.

    Cost and memory are those of counting triangles at each vertex.

    >>> import graphlode as gl
    >>> found = gl.clustering(gl.from_edges([0, 1, 2, 2], [1, 2, 0, 3]))
    >>> found.values.round(3).tolist(), found.transitivity
    ([1.0, 1.0, 0.333, 0.0], 0.6)
    """
    counted = count_triangles(graph, by="vertex", devices=devices, shares=shares, progress=progress)
    degrees = counted.graph.degrees()
    pairs = degrees * (degrees - 1) // 2
    values = np.divide(np.asarray(counted.by_vertex), pairs, out=np.zeros(pairs.size), where=pairs > 0)
    all_pairs = int(pairs.sum())
    return Clustering(
        values=values,
        average=float(values.mean()) if values.size else 0.0,
        transitivity=3 * counted.total / all_pairs if all_pairs else 0.0,
        triangles=counted.total,
        provenance=counted.provenance,
        ids=counted.graph.ids,
    )
