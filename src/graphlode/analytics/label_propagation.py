"""Label propagation: finds communities by giving each vertex the most frequent label among its neighbors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from graphlode.common.numbers import integer
from graphlode.common.wait import Progress
from graphlode.execute.devices import Devices
from graphlode.execute.operation import Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import run
from graphlode.graph.accept import as_undirected
from graphlode.graph.tables import table
from graphlode.graph.views import Csr
from graphlode.types import AnyArray, Int64Array

if TYPE_CHECKING:
    import pandas


def _only(partials: Sequence[Any]) -> Any:
    return partials[0]


LABEL_PROPAGATION = Operation(
    name="analytics.label_propagation", view=Csr(), unit="vertex", combine=_only, splits=False
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Communities:
    """The community of each vertex in the order of `Graph.ids`, numbered from 0 in the order of their first vertices.

    `converged` says whether the last of the `iterations` changed nothing.
    """

    labels: AnyArray
    count: int
    iterations: int
    converged: bool
    provenance: Provenance
    ids: Int64Array = field(repr=False)

    def __post_init__(self) -> None:
        self.labels.flags.writeable = False

    @property
    def sizes(self) -> Int64Array:
        """Number of vertices of each community, by its number."""
        return np.bincount(self.labels, minlength=self.count).astype(np.int64, copy=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "count": self.count,
            "iterations": self.iterations,
            "converged": self.converged,
            "labels": self.labels.tolist(),
            "provenance": self.provenance.to_dict(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per vertex."""
        return table({"vertex": self.ids, "community": self.labels})


def label_propagation(
    graph: Any,
    *,
    max_iter: int = 100,
    seed: int | None = None,
    devices: Devices = "auto",
    progress: Progress | None = None,
) -> Communities:
    """Communities: each vertex starts in its own, then repeatedly joins the one most of its neighbors are in.

    Parameters
    ----------
    graph
        A Graph, a store, a scipy sparse matrix or a networkx graph. A directed graph is used in its undirected form.
        Weights are ignored.
    max_iter
        Largest number of iterations, at least 1. If the labels still change then, the result has `converged` False.
    seed
        Decides which vertices change in which half of an iteration. Different seeds may find different communities; the
        same seed finds the same ones on every device. None means 0.
    devices
        Where to run: one device.
    progress
        Called as progress(done, total) from time to time.

    A vertex takes the most frequent label among its neighbors. If several are most frequent, it keeps its own if that
    is among them, else it takes the lowest. In each iteration a hash puts every vertex into one of two phases; all
    vertices of a phase change at once. Raises InputError for values out of range. Cost: one pass over all edges in the
    first iterations, later only over the edges of vertices next to a change. Memory: three numbers per vertex, and a
    buffer for the longest row.

    >>> import graphlode as gl
    >>> two_triangles = gl.from_edges([0, 1, 2, 2, 3, 4, 5], [1, 2, 0, 3, 4, 5, 3])
    >>> gl.label_propagation(two_triangles).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    iterations = _integer(max_iter, "max_iter", 1)
    word = 0 if seed is None else _integer(seed, "seed", 0)
    undirected, notes = as_undirected(graph)
    found = run(
        LABEL_PROPAGATION,
        undirected,
        devices,
        progress=progress,
        notes=notes,
        label="two phases per iteration",
        max_iter=iterations,
        seed=word,
    )
    labels, count = _numbered(found.value["labels"])
    return Communities(
        labels=labels,
        count=count,
        iterations=int(found.value["iterations"]),
        converged=bool(found.value["converged"]),
        provenance=found.provenance,
        ids=undirected.ids,
    )


def _integer(value: Any, name: str, least: int) -> int:
    return integer(name, value, least=least)


def _numbered(labels: AnyArray) -> tuple[AnyArray, int]:
    """Renumbers labels, which are positions of vertices, from 0 in the order of their first vertices."""
    positions = np.arange(labels.size, dtype=labels.dtype)
    first = np.empty_like(labels)
    first[labels[::-1]] = positions[::-1]  # the last write wins: that of the lowest position
    begins = first[labels] == positions
    numbers = np.cumsum(begins, dtype=labels.dtype) - 1
    return numbers[first[labels]], int(begins.sum())
