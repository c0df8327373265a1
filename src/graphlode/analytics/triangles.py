"""Triangles: their number, in total and at each vertex or edge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from graphlode.common.wait import Progress
from graphlode.errors import InputError
from graphlode.execute.devices import Devices
from graphlode.execute.operation import Operation
from graphlode.execute.run import Shares, run
from graphlode.graph.accept import as_undirected
from graphlode.graph.local_counts import LocalCount, in_graph_order
from graphlode.graph.views import Oriented
from graphlode.types import AnyArray, Int64Array


def _check(*, by: str | None) -> None:
    if by not in (None, "vertex", "edge"):
        raise InputError(f'by must be None, "vertex" or "edge", got {by!r}')


def _combine(partials: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    counts = [partial["counts"] for partial in partials if partial["counts"] is not None]
    return {
        "total": sum(partial["total"] for partial in partials),
        "counts": sum(counts[1:], counts[0]) if counts else None,
    }


def _work(view: Mapping[str, AnyArray]) -> Int64Array:
    """Cumulative work per row: the lengths of the rows of its entries."""
    offsets, neighbors = view["offsets"], view["neighbors"]
    lengths = np.diff(offsets)
    cumulative = np.zeros(neighbors.size + 1, np.int64)
    np.cumsum(lengths[neighbors], out=cumulative[1:])
    return cumulative[offsets] + offsets


def _finish(value: dict[str, Any], fetch: Callable[[str], AnyArray], *, by: str | None) -> dict[str, Any]:
    return value if by is None else value | {"counts": in_graph_order(value["counts"], fetch, by)}


TRIANGLES = Operation(
    name="analytics.triangles",
    view=Oriented(by="degree"),
    unit="vertex",
    combine=_combine,
    finish=_finish,
    work=_work,
    check=_check,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class TriangleCount(LocalCount):
    """Number of triangles; `int(result)` is the total.

    `by_vertex` follows `Graph.ids`, `by_edge` follows `Graph.edges()` of the undirected form; None unless requested.
    """

    things = "triangles"


def count_triangles(
    graph: Any,
    *,
    by: Literal["vertex", "edge"] | None = None,
    devices: Devices = "auto",
    shares: Shares = "auto",
    progress: Progress | None = None,
) -> TriangleCount:
    """Number of triangles, exactly.

    Parameters
    ----------
    graph
        A Graph, scipy sparse matrix or networkx graph. A directed graph is used in its undirected form.
    by
        "vertex": also count the triangles at each vertex; "edge": also those at each edge.
    devices, shares
        Where to run ("auto", "cpu", "cuda:0", ["cuda:0", "cpu"], ...) and in which proportions.
    progress
        Called as progress(done, total) from time to time.

    Cost: at most m^1.5 steps for m edges. Memory: one oriented copy of the edges, one byte per vertex and thread.

    >>> import graphlode as gl
    >>> gl.count_triangles(gl.complete(5)).total
    10
    """
    _check(by=by)
    undirected, notes = as_undirected(graph)
    outcome = run(
        TRIANGLES, undirected, devices, shares=shares, progress=progress, notes=notes, label="oriented rows", by=by
    )
    counts = outcome.value["counts"]
    return TriangleCount(
        total=int(outcome.value["total"]),
        by_vertex=counts if by == "vertex" else None,
        by_edge=counts if by == "edge" else None,
        provenance=outcome.provenance,
        graph=undirected,
    )
