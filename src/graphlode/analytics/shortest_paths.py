"""Shortest paths: the distance of every vertex from a source along weighted edges, and the neighbor before it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphlode.analytics.bfs import bfs
from graphlode.common.numbers import real
from graphlode.common.wait import Progress
from graphlode.errors import InputError
from graphlode.execute.devices import Devices
from graphlode.execute.operation import Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import run
from graphlode.graph.accept import as_graph
from graphlode.graph.arrays import as_values
from graphlode.graph.graph import Graph
from graphlode.graph.store.pages import shards_of
from graphlode.graph.store.snapshot import Snapshot
from graphlode.graph.tables import table
from graphlode.graph.views import Weighted
from graphlode.types import AnyArray, FloatArray

if TYPE_CHECKING:
    import pandas


def _only(partials: Sequence[Any]) -> Any:
    return partials[0]


SHORTEST_PATHS = Operation(name="analytics.shortest_paths", view=Weighted(), unit="vertex", combine=_only, splits=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class ShortestPaths:
    """Distances and parents, one entry per vertex in the order of `Graph.ids`.

    `distances` are sums of edge lengths from the source; infinite for vertices that are not reached. `parents` holds
    the previous vertex on a shortest path, the lowest of those nearer to the source; -1 for the source and for vertices
    that are not reached.
    """

    source: int
    distances: FloatArray
    parents: AnyArray
    reached: int
    provenance: Provenance
    indices: bool = field(repr=False)  # whether source and parents are positions
    graph: Graph = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.distances, self.parents):
            array.flags.writeable = False

    @property
    def farthest(self) -> float:
        """The largest distance of a reached vertex."""
        return float(self.distances[np.isfinite(self.distances)].max())

    def path_to(self, vertex: int) -> list[int]:
        """The vertices of a shortest path from the source to a vertex, both included.

        Vertices are ids or positions, as the source was. Raises InputError for a vertex that is unknown or not reached.
        """
        at = self.graph._position(vertex, self.indices)
        if not math.isfinite(self.distances[at]):
            raise InputError(f"there is no path from {self.source} to {vertex}")
        path = [int(vertex)]
        while path[-1] != self.source:
            path.append(int(self.parents[at]))
            at = self.graph._position(path[-1], self.indices)
        return path[::-1]

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON; the distance of a vertex that is not reached is None."""
        return {
            "source": self.source,
            "reached": self.reached,
            "distances": [distance if math.isfinite(distance) else None for distance in self.distances.tolist()],
            "parents": self.parents.tolist(),
            "provenance": self.provenance.to_dict(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per vertex."""
        return table({"vertex": self.graph.ids, "distance": self.distances, "parent": self.parents})


def shortest_paths(
    graph: Any,
    source: int,
    *,
    weights: Any = "auto",
    indices: bool = False,
    delta: float | None = None,
    devices: Devices = "auto",
    progress: Progress | None = None,
) -> ShortestPaths:
    """Distances from a source to every vertex along edges of non-negative length, and a tree of shortest paths.

    Parameters
    ----------
    graph
        A Graph, a store, a scipy sparse matrix or a networkx graph. Edges of a directed graph are followed in their
        direction.
    source
        Where paths begin: an original id.
    weights
        The lengths of the edges: "weights" or "times" of the graph, or an array with one per edge in the order of
        `Graph.edges()`. None: every edge has length 1. "auto": the weights if there are any, else length 1.
    indices
        Whether `source` and `parents` are positions instead of original ids.
    delta
        Width of the range of distances that is processed at once, positive; None: chosen from the lengths and degrees.
        It affects the time, never the answer.
    devices
        Where to run: one device. "auto" runs on the device of a store with one shard. The rows of several shards are
        merged.
    progress
        Called as progress(done, total) from time to time.

    Raises InputError for a source that is not in the graph, for lengths that are negative or NaN, and if the requested
    lengths do not exist. Cost: usually a few passes over all edges. Memory: eight bytes per edge and direction for
    lengths, a few words per vertex.

    >>> import graphlode as gl
    >>> ways = gl.shortest_paths(gl.from_edges([0, 0, 1], [1, 2, 2], weights=[1.0, 5.0, 2.5]), 0)
    >>> ways.distances.tolist(), ways.path_to(2)
    ([0.0, 1.0, 3.5], [0, 1, 2])
    """
    if delta is not None and not 0 < real("delta", delta) < math.inf:
        raise InputError(f"delta must be a positive number, got {delta!r}")
    given = as_graph(graph, weights=weights is not None)
    start = given._position(source, indices)
    measured = _with_lengths(given, weights)
    if measured is None:
        return _by_steps(given, source, indices, devices, progress)
    shards = shards_of(measured, devices)
    found = run(
        replace(SHORTEST_PATHS, view=Weighted(measured.directed, lambda: measured.weights)),
        measured,
        shards[0].device.name if len(shards) == 1 else devices,
        progress=progress,
        label="delta stepping",
        source=start,
        symmetric=not measured.directed,
        delta=None if delta is None else float(delta),
    )
    parents = found.value["parents"]
    return ShortestPaths(
        source=int(source),
        distances=found.value["distances"],
        parents=parents if indices else given.names(parents),
        reached=int(found.value["reached"]),
        provenance=found.provenance,
        indices=indices,
        graph=given,
    )


def _with_lengths(graph: Graph, weights: Any) -> Graph | None:
    """The graph with lengths as its weights; None if every edge has length 1."""
    if weights is None:
        return None
    if isinstance(weights, str):
        if weights not in ("auto", "weights", "times"):
            raise InputError(f'weights must be "auto", "weights", "times", None or an array, got {weights!r}')
        if weights == "times":
            values: AnyArray | None = graph.times
        elif graph._weighted if isinstance(graph, Snapshot) else graph.weights is not None:  # does not build rows
            return graph
        else:
            values = None
        if values is None:
            if weights == "auto":
                return None
            raise InputError(f"the graph has no {weights}; weights=None counts steps")
    else:
        values = weights
    lengths = as_values(values, "weights", np.float64, graph.num_edges)
    return graph._with(weights=lengths, times=None)


def _by_steps(graph: Graph, source: int, indices: bool, devices: Devices, progress: Progress | None) -> ShortestPaths:
    """With edges of length 1, a breadth-first search finds the same distances and the same parents."""
    found = bfs(graph, source, indices=indices, devices=devices, progress=progress)
    return ShortestPaths(
        source=found.source,
        distances=np.where(found.levels >= 0, found.levels, math.inf),
        parents=found.parents,
        reached=found.reached,
        provenance=found.provenance,
        indices=indices,
        graph=graph,
    )
