"""PageRank: how often a random walk is at each vertex if it follows edges and sometimes restarts."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from graphlode.analytics.sharded_pagerank import iterations_on_pages, rank_shards
from graphlode.common.numbers import integer, real
from graphlode.common.wait import Progress
from graphlode.errors import InputError, UnsupportedError
from graphlode.execute.device import Device, kernel_module
from graphlode.execute.devices import Devices, resolve
from graphlode.execute.operation import COMPILED, Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import run
from graphlode.graph.accept import as_graph
from graphlode.graph.graph import Graph
from graphlode.graph.store.pages import on_pages, shards_of
from graphlode.graph.store.snapshot import Snapshot
from graphlode.graph.tables import table
from graphlode.graph.views import Csr, Tiled, Transposed
from graphlode.types import AnyArray, FloatArray, Int64Array

if TYPE_CHECKING:
    import pandas


Layout = Literal["auto", "rows", "tiles"]


def _only(partials: Sequence[Any]) -> Any:
    return partials[0]


# Values are pulled along the edges that lead to a vertex: those of an undirected graph are its own rows.
PAGERANK = Operation(
    name="analytics.pagerank", view=Csr(), unit="vertex", combine=_only, splits=False, on_pages=COMPILED
)
_OF_DIRECTED = replace(PAGERANK, view=Transposed())


@dataclass(frozen=True, eq=False)
class PageRank:
    """The PageRank of each vertex in the order of `Graph.ids`; the values sum to 1.

    `converged` says whether the last of the `iterations` moved the values by less than the tolerance.
    """

    values: FloatArray
    iterations: int
    converged: bool
    provenance: Provenance
    ids: Int64Array = field(repr=False)

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "values": self.values.tolist(),
            "iterations": self.iterations,
            "converged": self.converged,
            "provenance": self.provenance.to_dict(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per vertex."""
        return table({"vertex": self.ids, "value": self.values})


def pagerank(
    graph: Any,
    damping: float = 0.85,
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
    personalization: Mapping[int, float] | Sequence[float] | AnyArray | None = None,
    weights: bool = False,
    layout: Layout = "auto",
    devices: Devices = "auto",
    progress: Progress | None = None,
) -> PageRank:
    """PageRank of every vertex, by power iteration. The arguments mean the same as in networkx.

    Parameters
    ----------
    graph
        A Graph, a store, a scipy sparse matrix or a networkx graph.
    damping
        Probability that the walk follows an edge instead of restarting, 0 to 1.
    tol
        The iteration ends when the absolute changes of all values sum to less than `tol` times the number of vertices.
    max_iter
        Largest number of iterations, at least 1. If the values still move then, the result has `converged` False.
    personalization
        Where the walk restarts, and where it continues from vertices without outgoing edges. Non-negative weights: a
        mapping by original id (missing ids are 0), or one value per vertex in the order of `Graph.ids`. None: all
        vertices are equally likely.
    weights
        Whether the walk takes edges in proportion to their weights, as networkx does. Otherwise all are equally likely.
    layout
        How the edges are stored for the iterations. "tiles" take time to build, but make each iteration much faster on
        graphs whose vertices do not fit in cache, see `docs/locality.md`. "rows" need no preparation. "auto" chooses,
        and `provenance.method` says which was used.
    devices
        Where to run: one device, or for a store the devices of its shards. "auto" runs on the devices of the store.
        With `weights` the rows of several shards are merged and run on one device.
    progress
        Called as progress(done, total) from time to time.

    Raises InputError for values out of range and for weights that are negative or missing, UnsupportedError for tiles
    with weights or on several shards. Cost: one pass over all edges per iteration. Memory: five numbers per vertex. A
    directed graph and tiles also need a copy of the edges.

    >>> import graphlode as gl
    >>> gl.pagerank(gl.star(4)).values.round(3).tolist()
    [0.476, 0.131, 0.131, 0.131, 0.131]
    """
    _check(damping, tol, max_iter, layout)
    given = as_graph(graph, weights=weights)
    restart = None if personalization is None else _restart(given, personalization)
    settings: dict[str, Any] = {"damping": float(damping), "tolerance": float(tol) * given.num_vertices}
    settings |= {"max_iter": int(max_iter), "restart": restart}
    shards = shards_of(given, devices)
    sharded = len(shards) > 1 and not weights
    if layout == "tiles" and (weights or sharded):
        raise UnsupportedError("tiles have no weights and are of one device; layout='rows' takes both")
    if isinstance(given, Snapshot) and sharded:
        found = rank_shards(given, progress=progress, **settings)
    else:
        operation, label = _OF_DIRECTED if given.directed else PAGERANK, "power iteration"
        if len(shards) == 1:
            devices = shards[0].device.name
        device = resolve(devices, operation.kernels)[0]
        if not weights and _runs_on_tiles(given, device, layout, _likely_iterations(settings)):
            row_bits = kernel_module(device, operation.name).TILE_ROW_BITS
            tiled = Tiled(row_bits, linked=restart is None, directed=given.directed)
            operation, label = replace(operation, view=tiled), "power iteration on tiles"
        elif len(shards) == 1 and not (given.directed or weights) and max_iter <= iterations_on_pages(shards[0]):
            operation, devices = on_pages(operation, given, devices)
        in_order = _incoming_weights(given) if weights else None
        found = run(operation, given, devices, progress=progress, label=label, weights=in_order, **settings)
    value = found.value
    return PageRank(
        values=value["values"],
        iterations=int(value["iterations"]),
        converged=bool(value["converged"]),
        provenance=found.provenance,
        ids=given.ids,
    )


def _runs_on_tiles(graph: Graph, device: Device, layout: Layout, iterations: float) -> bool:
    """Whether to run on tiles: if requested, already built, or worth building according to the device's kernel."""
    if layout != "auto":
        return layout == "tiles"
    kernel = kernel_module(device, PAGERANK.name)
    if not hasattr(kernel, "prefers_tiles"):
        return False
    views = (Tiled(kernel.TILE_ROW_BITS, linked, directed=graph.directed) for linked in (False, True))
    already_built = any((device.space, view) in graph.held for view in views)
    return already_built or bool(kernel.prefers_tiles(device, graph.sizes, iterations))


def _likely_iterations(settings: Mapping[str, Any]) -> float:
    """An estimate. In the worst case each iteration shrinks the change by the factor `damping`, usually by more."""
    tolerance, damping, most = settings["tolerance"], settings["damping"], settings["max_iter"]
    if not (tolerance > 0 and 0 < damping < 1):
        return float(most)
    worst_case = math.log(min(tolerance, 2) / 2) / math.log(damping)
    return float(min(most, 1 + worst_case / 3))


def _check(damping: float, tol: float, max_iter: int, layout: str) -> None:
    if layout not in get_args(Layout):
        raise InputError(f"layout must be one of {', '.join(get_args(Layout))}, got {layout!r}")
    if not 0 <= real("damping", damping) <= 1:
        raise InputError(f"damping must be 0 to 1, got {damping!r}")
    if not 0 <= real("tol", tol) < math.inf:
        raise InputError(f"tol must be a number of at least 0, got {tol!r}")
    integer("max_iter", max_iter, least=1)


def _incoming_weights(graph: Graph) -> FloatArray:
    """The weight of every incoming edge, in the order of the view."""
    if graph.weights is None:
        raise InputError("the graph has no weights; leave weights=False to count all edges alike")
    if graph.weights.size and graph.weights.min() < 0:
        raise InputError(f"weights must not be negative, got {graph.weights.min()}")
    matrix = graph.to_scipy()
    in_order: FloatArray = (matrix.tocsc() if graph.directed else matrix).data
    return in_order


def _restart(graph: Graph, personalization: Mapping[int, float] | Sequence[float] | AnyArray) -> FloatArray:
    """The probability of restarting at each vertex."""
    weights = np.zeros(graph.num_vertices)
    if isinstance(personalization, Mapping):
        given = _numbers(list(personalization.values()))
        try:
            named = np.array([operator.index(name) for name in personalization], np.int64)  # 1.5 is not vertex 1
            weights[graph.positions(named)] = given
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"personalization: {error}") from None
    else:
        given = _numbers(personalization)
        if given.shape != weights.shape:
            raise InputError(f"personalization has {given.size} values for {graph.num_vertices} vertices")
        weights = given
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InputError("personalization must be finite and not negative")
    total = float(weights.sum())
    if graph.num_vertices and not 0 < total < math.inf:
        raise InputError("personalization must have a positive, finite sum")
    return weights / total if graph.num_vertices else weights


def _numbers(values: Any) -> FloatArray:
    try:
        with np.errstate(over="ignore"):  # what becomes infinite is refused
            return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"personalization: {error}") from None
