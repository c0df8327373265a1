"""Label propagation: communities, from every vertex taking the label that most of its neighbors have."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from graphlode.common.wait import Progress
from graphlode.errors import InputError
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
    """The community of each vertex in the order of `Graph.ids`; numbered from 0 in the order of their first vertices.

    `converged` says whether the last of `iterations` changed nothing.
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
    """Communities: at first every vertex is one, then each goes to where most of its neighbors are.

    Parameters
    ----------
    graph
        A Graph, a store, a scipy sparse matrix or a networkx graph; of a directed graph the undirected form is used.
        Weights do not count.
    max_iter
        Most iterations; a result that needs more has `converged` False.
    seed
        Decides who changes in which half of an iteration: another seed may find other communities, the same one always
        finds the same, on every device. None is 0.
    devices
        Where to run: one device.
    progress
        Called as progress(done, total) now and then.

    A vertex takes the label that most of its neighbors have; of several the lowest, but it keeps its own if that is among
    them. In each iteration a hash gives every vertex one of two phases; all of a phase change at once. Raises InputError
    for values out of range. Cost: a look at every edge in the first iterations, then at the edges of those next to a
    change; memory: three numbers per vertex, and some for the longest row.

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
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not least <= number < 2**63:
        raise InputError(f"{name} must be an integer of at least {least}, got {value!r}")
    return number


def _numbered(labels: AnyArray) -> tuple[AnyArray, int]:
    """Labels, which are positions of vertices, as numbers from 0 in the order of their first vertices."""
    positions = np.arange(labels.size, dtype=labels.dtype)
    first = np.empty_like(labels)
    first[labels[::-1]] = positions[::-1]  # who writes last stays
    begins = first[labels] == positions
    numbers = np.cumsum(begins, dtype=labels.dtype) - 1
    return numbers[first[labels]], int(begins.sum())
