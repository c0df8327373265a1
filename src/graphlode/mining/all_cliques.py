"""Cliques of every size, counted in one search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from graphlode.common.wait import Progress
from graphlode.execute.devices import Devices
from graphlode.execute.operation import Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import Shares, run
from graphlode.graph.accept import as_undirected
from graphlode.graph.tables import table
from graphlode.graph.views import Roots
from graphlode.mining.cliques import check_size, provenance_without_search, work_per_entry

if TYPE_CHECKING:
    import pandas


def _check(*, max_k: int | None) -> None:
    if max_k is not None:
        check_size("max_k", max_k)


def _combine(partials: Sequence[Mapping[str, Any]]) -> list[int]:
    return [sum(sizes) for sizes in zip_longest(*(partial["counts"] for partial in partials), fillvalue=0)]


ALL_CLIQUES = Operation(
    name="mining.all_cliques",
    view=Roots(by="degeneracy"),
    unit="edge",
    combine=_combine,
    work=work_per_entry,
    check=_check,
)


@dataclass(frozen=True)
class AllCliques:
    """Number of cliques of each size: `counts[k]` for k from 1 to the size of the largest clique (or to `max_k`)."""

    counts: Mapping[int, int]
    max_k: int | None
    provenance: Provenance

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", MappingProxyType(dict(self.counts)))

    def __getitem__(self, k: int) -> int:
        """The number of cliques of size k; 0 beyond the largest clique. KeyError if k was not counted."""
        if k < 1 or (self.max_k is not None and k > self.max_k):
            raise KeyError(k)
        return self.counts.get(k, 0)

    @property
    def total(self) -> int:
        """Number of cliques of all counted sizes."""
        return sum(self.counts.values())

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "counts": {str(k): count for k, count in self.counts.items()},
            "max_k": self.max_k,
            "provenance": self.provenance.to_dict(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per size."""
        return table({"k": list(self.counts), "cliques": list(self.counts.values())})

    def __reduce__(self) -> Any:
        return AllCliques, (dict(self.counts), self.max_k, self.provenance)


def count_all_cliques(
    graph: Any,
    max_k: int | None = None,
    *,
    devices: Devices = "auto",
    shares: Shares = "auto",
    progress: Progress | None = None,
) -> AllCliques:
    """Number of cliques of every size up to `max_k`, exactly, in one search.

    Parameters
    ----------
    graph
        A Graph, scipy sparse matrix or networkx graph. A directed graph is used in its undirected form.
    max_k
        The largest size to count, at least 1; None: up to the largest clique.
    devices, shares
        Where to run ("auto", "cpu", "cuda:0", ["cuda:0", "cpu"], ...) and in which proportions.
    progress
        Called as progress(done, total) from time to time, in edges.

    Raises InputError for a wrong argument. Cost: exponential in the degeneracy at worst, but not in the size of the
    graph. A small `max_k` takes less time, because deeper branches of the search are skipped.

    >>> import graphlode as gl
    >>> dict(gl.count_all_cliques(gl.complete(4)).counts)
    {1: 4, 2: 6, 3: 4, 4: 1}
    """
    largest = None if max_k is None else check_size("max_k", max_k)
    undirected, notes = as_undirected(graph)
    sizes = [undirected.num_vertices, undirected.num_edges]
    if largest is not None and largest <= len(sizes):
        counts = {k: size for k, size in enumerate(sizes[:largest], start=1) if size}
        return AllCliques(counts, largest, provenance_without_search(ALL_CLIQUES, undirected, devices, notes))
    outcome = run(
        ALL_CLIQUES,
        undirected,
        devices,
        shares=shares,
        progress=progress,
        notes=notes,
        label="pivot",
        max_k=None if largest is None else max(3, min(largest, undirected.num_vertices)),
    )
    sizes += outcome.value[3:]
    counts = {k: size for k, size in enumerate(sizes, start=1) if size}
    return AllCliques(counts, largest, outcome.provenance)
