"""Core numbers: the largest k such that a vertex lies in a subgraph of minimum degree k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from graphlode.common.wait import Progress
from graphlode.cpu.graph.order import ids_by_round
from graphlode.execute.devices import Devices
from graphlode.execute.operation import Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import run
from graphlode.graph.accept import as_undirected
from graphlode.graph.graph import Graph
from graphlode.graph.tables import table
from graphlode.graph.views import Csr
from graphlode.types import AnyArray, Int64Array

if TYPE_CHECKING:
    import pandas


def _only(partials: Sequence[Any]) -> Any:
    return partials[0]


CORES = Operation(name="analytics.cores", view=Csr(), unit="vertex", combine=_only, splits=False)


@dataclass(frozen=True, eq=False)
class CoreNumbers:
    """Core number of each vertex in the order of `Graph.ids`.

    `order` lists the original ids of the vertices in a degeneracy order: each vertex has at most `degeneracy` neighbors
    after it. The order does not depend on the device or the number of threads.
    """

    values: Int64Array
    order: Int64Array
    provenance: Provenance
    ids: Int64Array = field(repr=False)

    def __post_init__(self) -> None:
        for array in (self.values, self.order):
            array.flags.writeable = False

    @property
    def degeneracy(self) -> int:
        """The largest core number; 0 for a graph without edges."""
        return int(self.values.max(initial=0))

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "degeneracy": self.degeneracy,
            "values": self.values.tolist(),
            "order": self.order.tolist(),
            "provenance": self.provenance.to_dict(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per vertex."""
        return table({"vertex": self.ids, "core": self.values})


def core_numbers(graph: Any, *, devices: Devices = "auto", progress: Progress | None = None) -> CoreNumbers:
    """Core number of every vertex and a degeneracy order.

    Vertices are removed in rounds: each round removes all vertices of the lowest remaining degree. Cost: linear in
    vertices and edges, plus a scan of the remaining vertices at every eighth of at most `degeneracy` levels.

    >>> import graphlode as gl
    >>> gl.core_numbers(gl.star(4)).values.tolist()
    [1, 1, 1, 1, 1]
    """
    undirected, notes = as_undirected(graph)
    outcome = run(CORES, undirected, devices, progress=progress, notes=notes, label="rounds")
    return _result(undirected, outcome.value, outcome.provenance)


def _result(graph: Graph, peeling: Mapping[str, AnyArray], provenance: Provenance) -> CoreNumbers:
    order = ids_by_round(peeling["round"], graph.ids)
    values = peeling["core"].astype(np.int64)
    return CoreNumbers(values=values, order=order, provenance=provenance, ids=graph.ids)
