"""The one graph type: an immutable snapshot of rows, with or without a store behind it."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from graphlode.common.cached import cached_property
from graphlode.common.sealed import sealed, sealed_mapping
from graphlode.errors import InputError
from graphlode.execute import call
from graphlode.execute.device import Device, View, hold
from graphlode.execute.devices import cpu
from graphlode.execute.held import Held
from graphlode.graph.checked import STATE, checked_state, own_names
from graphlode.types import AnyArray, FloatArray, Int64Array, VertexArray

if TYPE_CHECKING:
    import networkx
    import scipy.sparse


@dataclass(frozen=True)
class GraphProvenance:
    """Where a graph came from and what was dropped to make it simple."""

    source: str = "arrays"
    edges_given: int = 0
    self_loops_dropped: int = 0
    duplicates_dropped: int = 0
    notes: tuple[str, ...] = ()


class Graph:
    """A simple graph that does not change: sorted rows, original ids, optional weights and times.

    Vertices are the positions 0 .. num_vertices - 1; `ids` has the original id of each. Arguments and results name
    vertices by original id, or by position with `indices=True`. `from_edges`, `read` and similar functions make graphs.

    The constructor is for rows that are a simple graph already. It copies and checks all it is given: rows that ascend
    strictly, without self-loops, and symmetric unless `directed`; ids that are distinct; one weight and one time per
    edge, in the order of `edges()`. Anything else is an InputError. `from_csr` also accepts other rows. Neighbors of 64
    bits stay as wide as they are. Cost: linear in the number of edges.

    >>> import graphlode as gl
    >>> gl.Graph([0, 1, 2], [1, 0], directed=False)
    <graphlode.Graph: 2 vertices, 1 edges, undirected>
    """

    def __init__(
        self,
        offsets: Int64Array,
        neighbors: VertexArray,
        *,
        directed: bool,
        ids: Int64Array | None = None,
        weights: FloatArray | None = None,
        times: Int64Array | None = None,
        provenance: GraphProvenance | None = None,
        version: int = 0,
    ) -> None:
        self._take_checked(
            {
                "_offsets": offsets,
                "_neighbors": neighbors,
                "_ids": ids,
                "_directed": directed,
                "_weights": weights,
                "_times": times,
                "_provenance": GraphProvenance() if provenance is None else provenance,
                "_version": version,
            }
        )

    @classmethod
    def _unchecked(
        cls,
        offsets: Int64Array,
        neighbors: VertexArray,
        *,
        directed: bool,
        ids: Int64Array | None = None,
        weights: FloatArray | None = None,
        times: Int64Array | None = None,
        provenance: GraphProvenance | None = None,
        version: int = 0,
    ) -> Graph:
        """A graph of arrays that graphlode made: not copied and not checked, so they must be its own."""
        graph = Graph.__new__(Graph)
        graph._take(
            {
                "_offsets": offsets,
                "_neighbors": neighbors,
                "_ids": ids,
                "_directed": directed,
                "_weights": weights,
                "_times": times,
                "_provenance": provenance or GraphProvenance(),
                "_version": version,
            }
        )
        return graph

    def _take_checked(self, given: Any) -> None:
        state = checked_state(given)
        if not isinstance(state["_provenance"], GraphProvenance):
            raise InputError(f"provenance must be a GraphProvenance, got {type(state['_provenance'])!r}")
        self._take(state)

    def _take(self, state: dict[str, Any]) -> None:
        self._offsets: Int64Array = sealed(state["_offsets"])
        self._neighbors: VertexArray = sealed(state["_neighbors"])
        self._ids: Int64Array | None = _sealed_or_none(state["_ids"])
        self._directed: bool = state["_directed"]
        self._weights: FloatArray | None = _sealed_or_none(state["_weights"])
        self._times: Int64Array | None = _sealed_or_none(state["_times"])
        self._provenance: GraphProvenance = state["_provenance"]
        self._version: int = state["_version"]
        self._held: dict[tuple[str, View], Held] = {}
        self._shown: dict[View, Mapping[str, AnyArray]] = {}  # to users, who cannot change these

    # Properties

    @property
    def num_vertices(self) -> int:
        return self._offsets.size - 1

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        return self._neighbors.size if self._directed else self._neighbors.size // 2

    @property
    def directed(self) -> bool:
        return self._directed

    @property
    def version(self) -> int:
        """Version of the data; 0 for a graph without a store behind it."""
        return self._version

    @property
    def provenance(self) -> GraphProvenance:
        return self._provenance

    @cached_property
    def ids(self) -> Int64Array:
        """The original id of each vertex: ascending, or in order of arrival for vertices of a store."""
        if self._ids is not None:
            return self._ids
        positions: Int64Array = sealed(np.arange(self.num_vertices, dtype=np.int64))
        return positions

    @property
    def csr(self) -> tuple[Int64Array, VertexArray]:
        """The rows as stored: `offsets` and `neighbors` (positions). Read-only, not copied."""
        return self._offsets, self._neighbors

    @property
    def weights(self) -> FloatArray | None:
        """One weight per edge, in the order of `edges()`; None if the graph has none."""
        return self._weights

    @property
    def times(self) -> Int64Array | None:
        """One time per edge, in the order of `edges()`; None if the graph has none."""
        return self._times

    @property
    def nbytes(self) -> int:
        """Bytes of the graph's own arrays, without views."""
        arrays = (self._offsets, self._neighbors, self._ids, self._weights, self._times)
        return sum(array.nbytes for array in arrays if array is not None)

    # Queries

    def degrees(self) -> Int64Array:
        """Degree of each vertex (out-degree if directed), in the order of `ids`."""
        return np.diff(self._offsets)

    def neighbors(self, vertex: int, *, indices: bool = False) -> AnyArray:
        """Neighbors of a vertex (successors if directed), in the order of `ids`."""
        v = self._position(vertex, indices)
        row = self._neighbors[self._offsets[v] : self._offsets[v + 1]]
        return row if indices else self.ids[row]

    def has_edge(self, u: int, v: int, *, indices: bool = False) -> bool:
        """Whether the edge exists; False for a vertex that is not in the graph. InputError for a non-integer."""
        ends = self._ends(u, v, indices)
        if ends is None:
            return False
        tail, head = ends
        row = self._neighbors[self._offsets[tail] : self._offsets[tail + 1]]
        at = int(np.searchsorted(row, head))
        return at < row.size and int(row[at]) == head

    def edges(self, *, indices: bool = False) -> AnyArray:
        """All edges as an array of pairs, in the order of `ids`; an undirected edge once, lower position first."""
        tails, heads = self._edge_arrays
        pairs = np.empty((self.num_edges, 2), tails.dtype if indices else np.int64)
        pairs[:, 0] = tails if indices else self.ids[tails]
        pairs[:, 1] = heads if indices else self.ids[heads]
        return pairs

    def positions(self, vertices: Any) -> Int64Array:
        """Positions of original ids. Raises InputError for an id that is not in the graph."""
        wanted = np.asarray(vertices)
        if wanted.size and wanted.dtype.kind not in "iu":
            raise InputError(f"vertex ids are integers, got {wanted.dtype}")
        if wanted.dtype.kind == "u" and wanted.size and int(wanted.max()) > np.iinfo(np.int64).max:
            raise InputError(f"vertex {int(wanted.max())} is not in the graph")
        wanted = wanted.astype(np.int64, copy=False)
        if self._ids is None:
            at = wanted
            good = (wanted >= 0) & (wanted < self.num_vertices)
        else:
            at, good = self._find(wanted)
        if not good.all():
            raise InputError(f"vertex {int(np.atleast_1d(wanted)[~np.atleast_1d(good)][0])} is not in the graph")
        return at

    def names(self, positions: AnyArray) -> AnyArray:
        """Original ids of positions. Negative values mean "no vertex" and are returned unchanged."""
        if self._ids is None:
            return positions
        return np.where(positions >= 0, self._ids[positions], positions)

    # Conversions

    def undirected(self) -> Graph:
        """The undirected form, without weights and times. An undirected graph returns itself."""
        return self._undirected_form if self._directed else self

    def with_ascending_ids(self) -> Graph:
        """The same graph with its vertices in ascending order of their ids; the graph itself if they already are."""
        order = self._id_order
        if self._ids is None or order is None:
            return self
        from graphlode.graph.build import from_edges

        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        tails, heads = self._edge_arrays
        graph = from_edges(
            rank[tails],
            rank[heads],
            num_vertices=self.num_vertices,
            directed=self._directed,
            weights=self._weights,
            times=self._times,
            source=self._provenance.source,
        )
        graph._version = self._version
        return graph._with(ids=self._ids[order])

    def renamed(self, ids: Int64Array | None) -> Graph:
        """The same graph with other original ids, all distinct; None: positions are the ids."""
        return self._with(ids=own_names(ids, self.num_vertices))

    def to_scipy(self) -> scipy.sparse.csr_array:
        """The adjacency matrix in CSR form; entries are the weights, or 1.

        SciPy uses one type for `indices` and `indptr`: 32-bit if that suffices for the number of entries, else 64-bit.
        Arrays of that type are shared, others are copied: usually `indices` is shared with `neighbors`, and `indptr` is
        a copy of `offsets`. `data` is shared with the weights of a directed graph. It is new for an undirected graph,
        where an edge has two entries, and without weights. Shared arrays are read-only: changing the matrix in place is
        a ValueError where it would change the graph. `to_scipy().copy()` owns all its arrays.

        >>> import graphlode as gl, numpy as np
        >>> karate = gl.dataset("karate")
        >>> np.shares_memory(karate.to_scipy().indices, karate.csr[1])
        True
        """
        import scipy.sparse

        index = np.int32 if max(self.num_vertices, self._neighbors.size) < 2**31 else np.int64
        rows = self._neighbors.astype(index, copy=False), self._offsets.astype(index, copy=False)
        matrix = scipy.sparse.csr_array((self._entry_weights, *rows), shape=(self.num_vertices, self.num_vertices))
        matrix.has_canonical_format = True  # otherwise SciPy would check, and try to sort read-only arrays
        return matrix

    def to_networkx(self) -> networkx.Graph:
        """A networkx Graph or DiGraph whose nodes are the original ids."""
        import networkx

        graph = networkx.DiGraph() if self._directed else networkx.Graph()
        graph.add_nodes_from(self.ids.tolist())
        graph.add_edges_from(self.edges().tolist())
        for name, values in (("weight", self._weights), ("time", self._times)):
            if values is not None:
                pairs = map(tuple, self.edges().tolist())
                networkx.set_edge_attributes(graph, dict(zip(pairs, values.tolist(), strict=True)), name)
        return graph

    def view(self, view: View) -> Mapping[str, AnyArray]:
        """The arrays of a view in host memory. The CPU builds them on first use."""
        arrays: Mapping[str, AnyArray] = call(lambda control: hold(cpu(), self, view, control))
        return self._shown.setdefault(view, sealed_mapping(arrays))

    # Interface to execute/

    @property
    def arrays(self) -> Mapping[str, AnyArray]:
        """The rows by name, in host memory."""
        return {"offsets": self._offsets, "neighbors": self._neighbors}

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes that the memory of a kernel depends on."""
        return {
            "num_vertices": self.num_vertices,
            "num_entries": self._neighbors.size,
            "num_edges": self._neighbors.size // 2,
            "vertex_bytes": self._neighbors.dtype.itemsize,
        }

    def place(self, device: Device) -> Mapping[str, Any]:
        """The rows by name, as arrays on the device."""
        return device.put(self.arrays)

    @property
    def held(self) -> dict[tuple[str, View], Held]:
        """What devices hold of this graph, by memory space and view."""
        return self._held

    # Python protocols

    def __len__(self) -> int:
        return self.num_vertices

    def __iter__(self) -> Iterator[int]:
        """The original ids."""
        return iter(self.ids.tolist())

    def __contains__(self, vertex: object) -> bool:
        try:
            self._position(vertex, indices=False)
        except InputError:
            return False
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return (
            self._directed == other._directed
            and np.array_equal(self._offsets, other._offsets)
            and np.array_equal(self._neighbors, other._neighbors)
            and np.array_equal(self.ids, other.ids)
            and _equal_or_absent(self._weights, other._weights)
            and _equal_or_absent(self._times, other._times)
        )

    def __hash__(self) -> int:
        return hash((self._directed, self._offsets.size, self._neighbors.size))

    def __repr__(self) -> str:
        kind = "directed" if self._directed else "undirected"
        extra = ", weights" * (self.weights is not None) + ", times" * (self.times is not None)
        return f"<graphlode.Graph: {self.num_vertices:,} vertices, {self.num_edges:,} edges, {kind}{extra}>"

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in STATE}  # without caches and device memory

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._take_checked(state)  # a damaged pickle must not reach a kernel

    def __copy__(self) -> Graph:
        return self._with()  # arrays that do not change need no copies

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self._with()

    # Private

    def _with(self, **changes: Any) -> Graph:
        """The same graph but for some arguments of the constructor, which graphlode made."""
        same: dict[str, Any] = {
            "offsets": self._offsets,
            "neighbors": self._neighbors,
            "directed": self._directed,
            "ids": self._ids,
            "weights": self._weights,
            "times": self._times,
            "provenance": self._provenance,
            "version": self._version,
        }
        return Graph._unchecked(**(same | changes))

    @cached_property
    def _tails(self) -> VertexArray:
        counts = np.diff(self._offsets)
        positions: AnyArray = np.arange(self.num_vertices, dtype=self._neighbors.dtype)
        return np.repeat(positions, counts)

    @cached_property
    def _edge_arrays(self) -> tuple[VertexArray, VertexArray]:
        if self._directed:
            return self._tails, self._neighbors
        upper = self._tails < self._neighbors
        return self._tails[upper], self._neighbors[upper]

    @cached_property
    def _entry_edges(self) -> Int64Array:
        """For each entry of the rows, the position of its edge in `edges()`."""
        if self._directed:
            return np.arange(self._neighbors.size, dtype=np.int64)
        upper = self._tails < self._neighbors
        edge = np.empty(self._neighbors.size, np.int64)
        edge[upper] = np.arange(self.num_edges)
        # Sorting the lower entries by (head, tail) gives the order of their mirrored upper entries.
        lower = np.flatnonzero(~upper)
        edge[lower[np.lexsort((self._tails[lower], self._neighbors[lower]))]] = np.arange(self.num_edges)
        return edge

    @property
    def _entry_weights(self) -> FloatArray:
        """The weight of each entry of the rows; 1 if the graph has no weights."""
        if self._weights is None:
            return np.ones(self._neighbors.size)
        return self._weights if self._directed else self._weights[self._entry_edges]

    @cached_property
    def _undirected_form(self) -> Graph:
        from graphlode.graph.build import from_edges

        source = self._provenance.source
        graph = from_edges(self._tails, self._neighbors, num_vertices=self.num_vertices, source=source)
        graph._version = self._version
        return graph._with(ids=self._ids)

    @cached_property
    def _id_order(self) -> Int64Array | None:
        """The positions in ascending order of their ids; None if the ids already ascend."""
        if self._ids is None or (self._ids[1:] > self._ids[:-1]).all():
            return None
        return np.argsort(self._ids)

    @cached_property
    def _ascending_ids(self) -> Int64Array:
        return self.ids if self._id_order is None else self.ids[self._id_order]

    def _find(self, ids: Int64Array) -> tuple[Int64Array, AnyArray]:
        """Positions of original ids, and a mask of the ids in the graph. Other positions have no meaning."""
        sorted_ids, order = self._ascending_ids, self._id_order
        if not sorted_ids.size:
            return np.zeros_like(ids), np.zeros(ids.shape, bool)
        at = np.minimum(np.searchsorted(sorted_ids, ids), sorted_ids.size - 1)
        good = sorted_ids[at] == ids
        return at if order is None else order[at], good

    def _position(self, vertex: Any, indices: bool) -> int:
        name = _integer(vertex)
        if not indices:
            if not -(2**63) <= name < 2**63:
                raise InputError(f"vertex {name} is not in the graph")
            return int(self.positions(name))
        if not 0 <= name < self.num_vertices:
            size = self.num_vertices
            where = f"outside 0 .. {size - 1}" if size else "not there: the graph has no vertices"
            raise InputError(f"position {name} is {where}")
        return name

    def _ends(self, u: Any, v: Any, indices: bool) -> tuple[int, int] | None:
        """Positions of the ends of an edge; None if one is not in the graph. InputError for a non-integer."""
        tail, head = _integer(u), _integer(v)
        try:
            return self._position(tail, indices), self._position(head, indices)
        except InputError:
            return None


def _integer(vertex: Any) -> int:
    try:
        return operator.index(vertex)
    except TypeError:
        raise InputError(f"a vertex is named by one integer, got {vertex!r}") from None


def _sealed_or_none(array: Any) -> Any:
    return None if array is None else sealed(array)


def _equal_or_absent(a: AnyArray | None, b: AnyArray | None) -> bool:
    return (a is None) == (b is None) and (a is None or b is None or np.array_equal(a, b))
