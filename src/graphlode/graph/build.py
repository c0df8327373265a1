"""Graphs from arrays, sparse matrices and networkx graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphlode.cpu.graph.build import build
from graphlode.errors import DeviceMemoryError, InputError
from graphlode.execute import call
from graphlode.execute.devices import cpu
from graphlode.graph.arrays import as_ids, as_values, as_weights, columns_of_pairs
from graphlode.graph.checked import fault_of, own_rows
from graphlode.graph.graph import Graph, GraphProvenance
from graphlode.types import AnyArray, FloatArray, Int64Array

if TYPE_CHECKING:
    import networkx


def from_edges(
    src: Any,
    dst: Any = None,
    *,
    num_vertices: int | None = None,
    directed: bool = False,
    weights: Any = None,
    times: Any = None,
    source: str = "arrays",
) -> Graph:
    """A simple graph from two arrays of vertex ids, or from one array of pairs.

    Parameters
    ----------
    src, dst
        Ids of the two ends of each edge: numpy or arrow arrays, or anything with the buffer or DLPack protocol. Without
        `dst`, `src` holds pairs: a list of them, or an array with two columns such as `Graph.edges()` returns.
    num_vertices
        If given, the vertices are 0 .. num_vertices - 1 and every id must be one of them. Otherwise the vertices are
        the ids that occur, which may be any 64-bit integers; `Graph.ids` lists them in ascending order.
    directed
        Whether `(u, v)` and `(v, u)` are two different edges.
    weights, times
        One finite number, and one 64-bit integer, per edge. If an edge is repeated, its last value is kept. Weights are
        stored as 64-bit floats; an integer that a float does not represent exactly is an InputError.

    Self-loops and repeated edges are dropped and counted in `Graph.provenance`. Raises InputError for arrays that do
    not fit together or the parameters. Cost: linear in the number of edges. Memory: at most three times the graph's
    own, four times with weights or times. Ids scattered over 64 bits need a table of about 70 bytes per edge.

    >>> import graphlode as gl
    >>> g = gl.from_edges([10, 20, 30, 10], [20, 30, 10, 10])
    >>> g.num_vertices, g.num_edges, g.ids.tolist(), g.provenance.self_loops_dropped
    (3, 3, [10, 20, 30], 1)
    """
    if dst is None:
        src, dst = columns_of_pairs(src)
    tails, heads = as_ids(src, "src"), as_ids(dst, "dst")
    if tails.size != heads.size:
        raise InputError(f"src and dst must have the same length, got {tails.size} and {heads.size}")
    if tails.dtype != heads.dtype:
        tails, heads = tails.astype(np.int64), heads.astype(np.int64)
    if num_vertices is not None and not (isinstance(num_vertices, int | np.integer) and num_vertices >= 0):
        raise InputError(f"num_vertices must be a non-negative integer, got {num_vertices!r}")
    if num_vertices is not None:
        _require_rows(int(num_vertices))
    edge_weights = as_weights(weights, tails.size)
    edge_times = as_values(times, "times", np.int64, tails.size)
    made = call(
        lambda control: build(
            tails,
            heads,
            num_vertices=None if num_vertices is None else int(num_vertices),
            directed=directed,
            keep_positions=edge_weights is not None or edge_times is not None,
            control=control,
        )
    )
    graph = Graph._unchecked(
        made["offsets"],
        made["neighbors"],
        directed=directed,
        ids=made["ids"],
        provenance=GraphProvenance(
            source=source,
            edges_given=tails.size,
            self_loops_dropped=made["self_loops"],
            duplicates_dropped=made["duplicates"],
        ),
    )
    if made["positions"] is None:
        return graph
    last = _last_positions(graph, made["positions"])
    return _with_values(graph, edge_weights, edge_times, last)


def from_csr(
    offsets: Any, neighbors: Any, *, directed: bool = False, ids: Any = None, weights: Any = None, source: str = "csr"
) -> Graph:
    """A simple graph from compressed rows: the neighbors of `v` are `neighbors[offsets[v]:offsets[v + 1]]`.

    The arrays are copied, so later changes of them do not reach the graph. Rows that are not sorted, have repeats or
    self-loops, or are not symmetric although `directed` is False, are rebuilt. `ids` names the vertices (ascending); `weights` has one value per entry.

    >>> import graphlode as gl
    >>> gl.from_csr([0, 2, 3, 4], [1, 2, 0, 0]).num_edges
    2
    """
    starts, heads = own_rows(offsets, neighbors, keep_width=False)
    names = _names(ids, starts.size - 1)
    fault, _ = fault_of(starts, heads, directed)
    if weights is None and fault == "none":
        provenance = GraphProvenance(source=source, edges_given=heads.size if directed else heads.size // 2)
        return Graph._unchecked(starts, heads, directed=directed, ids=names, provenance=provenance)
    n = starts.size - 1
    tails = np.repeat(np.arange(n, dtype=heads.dtype), np.diff(starts))
    graph = from_edges(tails, heads, num_vertices=n, directed=directed, weights=weights, source=source)
    return graph._with(ids=names)


def from_scipy(matrix: Any, *, directed: bool = False, values: Literal["auto"] | None = "auto") -> Graph:
    """A simple graph from a square sparse matrix. Entry (i, j) is an edge from i to j, even if its value is 0.

    Values other than 1 are kept as weights, unless `values` is None.

    >>> import graphlode as gl, scipy.sparse
    >>> gl.from_scipy(scipy.sparse.eye_array(3, k=1)).num_edges
    2
    """
    if not hasattr(matrix, "tocoo"):
        raise InputError(f"from_scipy takes a scipy sparse matrix, got {type(matrix)!r}")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"an adjacency matrix is square, got the shape {matrix.shape}")
    _require_format(matrix)
    coo = matrix.tocoo()
    plain = values is None or coo.data.dtype.kind == "b" or bool((coo.data == 1).all())
    return from_edges(
        coo.row,
        coo.col,
        num_vertices=matrix.shape[0],
        directed=directed,
        weights=None if plain else coo.data,
        source="scipy sparse matrix",
    )


def _require_format(matrix: Any) -> None:
    """Raise InputError unless a compressed matrix is what SciPy's own conversions, which trust it, expect."""
    if not hasattr(matrix, "check_format"):
        return
    starts = np.asarray(matrix.indptr)
    try:
        if (starts[1:] < starts[:-1]).any():  # SciPy subtracts, which wraps around
            raise InputError("the matrix is damaged: indptr must rise")
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise InputError(f"the matrix is damaged: {error}") from None


def from_networkx(graph: networkx.Graph, *, weight: str | None = "weight") -> Graph:
    """A simple graph from a networkx graph; directed if the networkx graph is.

    Integer nodes keep their ids. Otherwise the id of a node is its position in `list(graph.nodes)`. The edge attribute
    `weight` becomes the weights if every edge has it.

    >>> import graphlode as gl, networkx as nx
    >>> gl.from_networkx(nx.karate_club_graph(), weight=None).num_edges
    78
    """
    nodes = list(graph.nodes)
    whole = all(isinstance(node, int | np.integer) and not isinstance(node, bool) for node in nodes)
    order = sorted(nodes) if whole else nodes
    position = {node: i for i, node in enumerate(order)}
    ends = [(position[u], position[v], data) for u, v, data in graph.edges(data=True)]
    pairs = np.array([(u, v) for u, v, _ in ends], np.int64).reshape(-1, 2)
    weights = None
    if weight is not None and ends and all(weight in data for _, _, data in ends):
        weights = [data[weight] for _, _, data in ends]
    made = from_edges(
        pairs[:, 0],
        pairs[:, 1],
        num_vertices=len(nodes),
        directed=graph.is_directed(),
        weights=weights,
        source="networkx graph",
    )
    return made._with(ids=_names(order, len(order))) if whole else made


def _require_rows(num_vertices: int) -> None:
    needed, free = 8 * (num_vertices + 1), cpu().memory().free
    if needed > free:
        raise DeviceMemoryError(
            f"num_vertices={num_vertices:,} needs {needed:,} bytes for offsets alone, {free:,} are free; "
            "leave num_vertices out to keep only the vertices that occur"
        )


def _names(ids: Any, size: int) -> Int64Array | None:
    if ids is None:
        return None
    array = as_ids(ids, "ids").astype(np.int64, copy=False)
    if array.size != size:
        raise InputError(f"ids must name {size} vertices, got {array.size}")
    if (array[1:] <= array[:-1]).any():  # np.diff would overflow
        raise InputError("ids must be ascending, each once")
    return None if size == 0 or (array[0] == 0 and array[-1] == size - 1) else array.copy()


def _last_positions(graph: Graph, positions: Int64Array) -> Int64Array:
    """For each edge of `edges()`, the position of the input edge that its values come from."""
    if graph.directed:
        return positions
    tails = graph._tails
    return positions[tails < graph.csr[1]]


def _with_values(graph: Graph, weights: AnyArray | None, times: AnyArray | None, at: Int64Array) -> Graph:
    offsets, neighbors = graph.csr
    kept_weights: FloatArray | None = None if weights is None else weights[at]
    kept_times: Int64Array | None = None if times is None else times[at]
    return Graph._unchecked(
        offsets,
        neighbors,
        directed=graph.directed,
        ids=graph._ids,
        weights=kept_weights,
        times=kept_times,
        provenance=replace(graph.provenance),
    )
