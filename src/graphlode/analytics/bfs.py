"""Breadth-first search: the number of steps to every vertex, and the neighbor it is reached from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphlode.analytics.sharded_bfs import search_shards
from graphlode.common.wait import Progress
from graphlode.execute.devices import Devices
from graphlode.execute.operation import COMPILED, Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import run
from graphlode.graph.accept import as_graph
from graphlode.graph.store.pages import on_pages, shards_of
from graphlode.graph.store.snapshot import Snapshot
from graphlode.graph.tables import table
from graphlode.graph.views import Csr
from graphlode.types import AnyArray, Int64Array

if TYPE_CHECKING:
    import pandas


def _only(partials: Sequence[Any]) -> Any:
    return partials[0]


BFS = Operation(name="analytics.bfs", view=Csr(), unit="vertex", combine=_only, splits=False, on_pages=COMPILED)


@dataclass(frozen=True, eq=False)
class Bfs:
    """Levels and parents of a breadth-first search, one entry per vertex in the order of `Graph.ids`.

    `levels` are steps from the source, -1 for vertices that are not reached. `parents` holds the neighbor one step
    nearer to the source, the lowest if there are several; -1 for the source and for vertices that are not reached.
    The tree does not depend on the device or the number of threads.
    """

    source: int
    levels: AnyArray
    parents: AnyArray
    reached: int
    depth: int
    provenance: Provenance
    ids: Int64Array = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.levels, self.parents):
            array.flags.writeable = False

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "source": self.source,
            "reached": self.reached,
            "depth": self.depth,
            "levels": self.levels.tolist(),
            "parents": self.parents.tolist(),
            "provenance": self.provenance.to_dict(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per vertex."""
        return table({"vertex": self.ids, "level": self.levels, "parent": self.parents})


def bfs(
    graph: Any,
    source: int,
    *,
    indices: bool = False,
    devices: Devices = "auto",
    progress: Progress | None = None,
) -> Bfs:
    """Number of steps from a source to every vertex, and a tree of shortest paths.

    Parameters
    ----------
    graph
        A Graph, a store, a scipy sparse matrix or a networkx graph. Edges of a directed graph are followed in their
        direction.
    source
        Where the search begins: an original id.
    indices
        Whether `source` and `parents` are positions instead of original ids.
    devices
        Where to run: one device, or for a store the devices of its shards. "auto" runs on the devices of the store.
    progress
        Called as progress(done, total) from time to time.

    Raises InputError for a source that is not in the graph. Cost: linear in vertices and edges at most. In undirected
    graphs it is usually far less, because large levels are found from the vertices not reached yet. Memory: a few words
    per vertex.

    >>> import graphlode as gl
    >>> gl.bfs(gl.star(3), 1).levels.tolist()
    [1, 0, 2, 2]
    """
    given = as_graph(graph, weights=False)
    start = given._position(source, indices)
    if isinstance(given, Snapshot) and len(shards_of(given, devices)) > 1:
        found = search_shards(given, start, progress=progress)
    else:
        operation, devices = on_pages(BFS, given, devices)
        label = "along the edges" if given.directed else "direction optimizing"
        symmetric = not given.directed
        found = run(operation, given, devices, progress=progress, label=label, source=start, symmetric=symmetric)
    value = found.value
    return Bfs(
        source=int(source),
        levels=value["levels"],
        parents=value["parents"] if indices else given.names(value["parents"]),
        reached=int(value["reached"]),
        depth=int(value["depth"]),
        provenance=found.provenance,
        ids=given.ids,
    )
