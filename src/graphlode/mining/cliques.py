"""k-cliques: their number, in total and at each vertex or edge."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from graphlode.common.counts import add_limbs, from_limbs
from graphlode.common.wait import Progress
from graphlode.errors import InputError
from graphlode.execute.devices import Devices, resolve
from graphlode.execute.operation import Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import Shares, run
from graphlode.graph.accept import as_undirected
from graphlode.graph.graph import Graph
from graphlode.graph.local_counts import LocalCount, in_graph_order
from graphlode.graph.views import Roots
from graphlode.mining.clique_plan import Method, plan_cliques
from graphlode.types import AnyArray, Int64Array

if TYPE_CHECKING:
    import pandas

By = Literal["vertex", "edge"]


def check_size(name: str, value: Any, most: int | None = None) -> int:
    """The value as an integer of at least 1. Raises InputError with the name and the value."""
    try:
        size = operator.index(value)
    except TypeError:
        size = 0
    if size < 1 or isinstance(value, bool):
        raise InputError(f"{name} must be an integer of at least 1, got {value!r}")
    if most is not None and size > most:
        raise InputError(f"{name} must be at most {most}, got {size.bit_length()} bits")
    return size


def too_large(k: int, graph: Graph) -> bool:
    """Whether the graph has too few edges for even one clique of k vertices."""
    return k * (k - 1) // 2 > graph.num_edges


def provenance_without_search(
    operation: Operation, graph: Graph, devices: Devices, notes: tuple[str, ...]
) -> Provenance:
    """The provenance of an answer that follows from the size of the graph. Unknown devices raise here, too."""
    started = perf_counter()
    names = tuple(device.name for device in resolve(devices))
    return Provenance(operation.name, graph.version, names, "size of the graph", perf_counter() - started, notes=notes)


def _check(*, k: int, by: str | None, method: str) -> None:
    check_size("k", k)
    if by not in (None, *get_args(By)):
        raise InputError(f'by must be None, "vertex" or "edge", got {by!r}')
    if method not in get_args(Method):
        raise InputError(f"method must be one of {', '.join(get_args(Method))}, got {method!r}")


def _combine(partials: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    counts = [partial["counts"] for partial in partials if partial["counts"] is not None]
    return {
        "total": sum(partial["total"] for partial in partials),
        "counts": reduce(add_limbs, counts) if counts else None,
    }


def work_per_entry(view: Mapping[str, AnyArray]) -> Int64Array:
    """Cumulative work per entry: the number of later entries of its row, times the length of the row."""
    offsets = view["offsets"]
    lengths = np.diff(offsets)
    ahead = np.repeat(offsets[1:], lengths) - np.arange(offsets[-1])
    work = np.zeros(offsets[-1] + 1, np.int64)
    np.cumsum(ahead * np.repeat(lengths, lengths), out=work[1:])
    return work


def _finish(
    value: dict[str, Any], fetch: Callable[[str], AnyArray], *, k: int, by: str | None, method: str
) -> dict[str, Any]:
    return value if by is None else value | {"counts": from_limbs(in_graph_order(value["counts"], fetch, by))}


CLIQUES = Operation(
    name="mining.cliques",
    view=Roots(by="degeneracy"),
    unit="edge",
    combine=_combine,
    finish=_finish,
    work=work_per_entry,
    check=_check,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class CliqueCount(LocalCount):
    """Number of k-cliques; `int(result)` is the total.

    `by_vertex` follows `Graph.ids`, `by_edge` follows `Graph.edges()` of the undirected form; None unless requested.
    They hold 64-bit integers, or Python integers (dtype object) if a count does not fit in 63 bits.
    """

    k: int

    things = "cliques"

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {"k": self.k, **super().to_dict()}

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per vertex or edge, whichever was counted; otherwise one row with k and the total."""
        frame = super().to_pandas()
        if self.by_vertex is None and self.by_edge is None:
            frame.insert(0, "k", [self.k])
        return frame


def count_cliques(
    graph: Any,
    k: int,
    *,
    by: By | None = None,
    method: Method = "auto",
    devices: Devices = "auto",
    shares: Shares = "auto",
    progress: Progress | None = None,
) -> CliqueCount:
    """Number of complete subgraphs of exactly `k` vertices, exact at any size.

    Parameters
    ----------
    graph
        A Graph, scipy sparse matrix or networkx graph. A directed graph is used in its undirected form.
    k
        Size of the cliques, at least 1.
    by
        "vertex": also count the cliques at each vertex; "edge": also those at each edge.
    method
        "auto" estimates the work and chooses; the provenance gives the choice and the reason. "pivot" counts whole
        families of cliques at once. "enumerate" visits each clique's first k - 2 vertices, which is faster on dense
        graphs with little overlap. "set" intersects lists. "bitmap", "warp" and "thread" are baselines for CUDA
        devices.
    devices, shares
        Where to run ("auto", "cpu", "cuda:0", ["cuda:0", "cpu"], ...) and in which proportions.
    progress
        Called as progress(done, total) from time to time, in edges.

    Raises InputError for a wrong argument, UnsupportedError for a method that a device does not have. Cost: exponential
    in the degeneracy at worst, but not in the size of the graph. Memory: one oriented copy of the edges, and a few
    square bit matrices per thread.

    >>> import graphlode as gl
    >>> gl.count_cliques(gl.complete(100), 50).total
    100891344545564193334812497256
    """
    _check(k=k, by=by, method=method)
    size = check_size("k", k)
    undirected, notes = as_undirected(graph)
    if size <= 2 or too_large(size, undirected):
        return _trivial(undirected, size, by, devices, notes)
    plan = plan_cliques(undirected, size, by, method, devices)
    outcome = run(
        CLIQUES,
        undirected,
        plan.devices,
        shares=shares,
        progress=progress,
        notes=(*notes, *plan.notes),
        label=plan.method,
        k=size,
        by=by,
        method=plan.method,
    )
    counts = outcome.value["counts"]
    return CliqueCount(
        k=size,
        total=int(outcome.value["total"]),
        by_vertex=counts if by == "vertex" else None,
        by_edge=counts if by == "edge" else None,
        provenance=outcome.provenance,
        graph=undirected,
    )


def _trivial(graph: Graph, k: int, by: By | None, devices: Devices, notes: tuple[str, ...]) -> CliqueCount:
    """Cliques that need no search: vertices, edges, and sizes for which the graph has too few edges."""
    n, m = graph.num_vertices, graph.num_edges
    by_vertex = graph.degrees() if k == 2 else np.full(n, int(k == 1), np.int64)
    by_edge = np.full(m, int(k == 2), np.int64)
    return CliqueCount(
        k=k,
        total={1: n, 2: m}.get(k, 0),
        by_vertex=by_vertex if by == "vertex" else None,
        by_edge=by_edge if by == "edge" else None,
        provenance=provenance_without_search(CLIQUES, graph, devices, notes),
        graph=graph,
    )
