"""The k-cliques themselves, as a stream of batches: every clique once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.common.numbers import MOST_INTEGER
from graphlode.common.wait import Progress
from graphlode.execute.devices import Devices, resolve
from graphlode.execute.operation import Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.stream import Sink, Stream, stream
from graphlode.graph.accept import as_undirected
from graphlode.graph.graph import Graph
from graphlode.graph.views import Roots
from graphlode.mining.cliques import check_size, too_large, work_per_entry
from graphlode.types import AnyArray, Int64Array

_MOST_COLUMNS = 1 << 48
"""Vertices of a listed clique. An array of no rows still needs a number of columns that numpy can hold."""

BATCH_SIZE = 1 << 16
"""Default number of cliques per batch: small enough for a core's cache, large enough that handing over costs little."""


def _check(*, k: int, batch_size: int) -> None:
    check_size("k", k, _MOST_COLUMNS)
    check_size("batch_size", batch_size, MOST_INTEGER)


def _combine(partials: Sequence[Mapping[str, Any]]) -> int:
    return sum(int(partial["total"]) for partial in partials)


CLIQUE_LISTS = Operation(
    name="mining.clique_lists",
    view=Roots(by="degeneracy"),
    unit="edge",
    combine=_combine,
    work=work_per_entry,
    check=_check,
)


def list_cliques(
    graph: Any,
    k: int,
    *,
    batch_size: int = BATCH_SIZE,
    indices: bool = False,
    devices: Devices = "auto",
    progress: Progress | None = None,
) -> Stream:
    """Every complete subgraph of exactly `k` vertices, as a stream of arrays with one row per clique.

    Parameters
    ----------
    graph
        A Graph, scipy sparse matrix or networkx graph. A directed graph is used in its undirected form.
    k
        Size of the cliques, at least 1.
    batch_size
        Largest number of rows per array. Memory is bounded by a few arrays per thread, for any number of cliques.
    indices
        Whether rows hold positions in `Graph.ids` instead of original ids.
    devices
        Where to search ("auto", "cpu", "cuda:0", ["cuda:0", "cpu"], ...).
    progress
        Called as progress(done, total) from time to time, in edges, while batches are requested.

    The arrays hold 64-bit integers and belong to the caller. Neither the order of rows nor the order within a row is
    specified: `numpy.sort(batch, axis=1)` sorts each clique. The search starts with the first batch. It stops when the
    stream is closed, when its `with` block ends, or when nothing refers to it any more. An error in the search is
    raised by the next request for a batch. After the last batch `provenance` says how the cliques were found.

    Raises InputError for a wrong argument. Cost: one step for each way to choose a clique's first k - 1 vertices.

    >>> import graphlode as gl
    >>> square_with_diagonal = gl.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2])
    >>> sorted(sorted(clique) for batch in gl.list_cliques(square_with_diagonal, 3) for clique in batch.tolist())
    [[0, 1, 2], [0, 2, 3]]
    """
    size, rows = check_size("k", k, _MOST_COLUMNS), check_size("batch_size", batch_size, MOST_INTEGER)
    undirected, notes = as_undirected(graph)
    if size <= 2 or too_large(size, undirected):
        return _stream_rows(undirected, size, rows, indices, devices, progress, notes)
    ids = None if indices else undirected.ids
    return stream(
        CLIQUE_LISTS,
        undirected,
        devices,
        progress=progress,
        notes=notes,
        label="enumerate",
        k=size,
        batch_size=rows,
        ids=ids,
    )


def _stream_rows(
    graph: Graph,
    k: int,
    batch_size: int,
    indices: bool,
    devices: Devices,
    progress: Progress | None,
    notes: tuple[str, ...],
) -> Stream:
    """Cliques that need no search: vertices, edges, and sizes for which the graph has too few edges."""
    names = tuple(device.name for device in resolve(devices))

    def produce(sink: Sink, control: Control, report: Progress) -> Provenance:
        started = perf_counter()
        rows = _rows_without_search(graph, k, indices)
        for begin in range(0, len(rows), batch_size):
            report(begin, len(rows))
            sink(np.array(rows[begin : begin + batch_size], np.int64))
        report(len(rows), len(rows))
        return Provenance(
            CLIQUE_LISTS.name, graph.version, names, "rows of the graph", perf_counter() - started, notes=notes
        )

    return Stream(produce, progress)


def _rows_without_search(graph: Graph, k: int, indices: bool) -> AnyArray:
    if k == 1:
        vertices: Int64Array = np.arange(graph.num_vertices, dtype=np.int64) if indices else graph.ids
        return vertices[:, None]
    return graph.edges(indices=indices) if k == 2 else np.empty((0, k), np.int64)
