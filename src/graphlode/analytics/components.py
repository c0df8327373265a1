"""Connected components: which vertices are joined by a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from graphlode.analytics.sharded_components import label_shards
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


COMPONENTS = Operation(
    name="analytics.components", view=Csr(), unit="vertex", combine=_only, splits=False, on_pages=COMPILED
)


@dataclass(frozen=True, eq=False)
class Components:
    """The component of each vertex in the order of `Graph.ids`.

    Components are numbered from 0, in the order of their first vertices.
    """

    labels: AnyArray
    count: int
    provenance: Provenance
    ids: Int64Array = field(repr=False)

    def __post_init__(self) -> None:
        self.labels.flags.writeable = False

    @property
    def sizes(self) -> Int64Array:
        """Number of vertices of each component, by its number."""
        return np.bincount(self.labels, minlength=self.count).astype(np.int64, copy=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {"count": self.count, "labels": self.labels.tolist(), "provenance": self.provenance.to_dict()}

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per vertex."""
        return table({"vertex": self.ids, "component": self.labels})


def connected_components(graph: Any, *, devices: Devices = "auto", progress: Progress | None = None) -> Components:
    """Connected components; for a directed graph the weakly connected components.

    Parameters
    ----------
    graph
        A Graph, a store, a scipy sparse matrix or a networkx graph. The direction of edges is ignored; for a directed
        graph the provenance says so.
    devices
        Where to run: one device, or for a store the devices of its shards. "auto" runs on the devices of the store.
    progress
        Called as progress(done, total) from time to time.

    Cost: nearly linear in vertices and edges. In undirected graphs most edges of the largest component are skipped.
    Memory: two words per vertex.

    >>> import graphlode as gl
    >>> gl.connected_components(gl.from_edges([0, 3], [2, 4], num_vertices=5)).labels.tolist()
    [0, 1, 0, 2, 2]
    """
    given = as_graph(graph, weights=False)
    notes = ("directed graph: weakly connected components",) if given.directed else ()
    if isinstance(given, Snapshot) and len(shards_of(given, devices)) > 1:
        found = label_shards(given, progress=progress, notes=notes)
    else:
        operation, devices = on_pages(COMPONENTS, given, devices)
        symmetric = not given.directed
        found = run(
            operation, given, devices, progress=progress, notes=notes, label="union and find", symmetric=symmetric
        )
    return Components(
        labels=found.value["labels"], count=int(found.value["count"]), provenance=found.provenance, ids=given.ids
    )
