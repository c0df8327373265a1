"""A snapshot of a store: a Graph whose rows are made when they are first needed.

A snapshot holds an immutable version of every shard that has rows. It is cheap to take: it shares the pages with the
store until the store writes them. The shards answer questions about single edges, rows and degrees. An operation that
needs all rows makes them once: on the device if one shard holds everything, otherwise in host memory, merged from all
shards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np

from graphlode.common.cached import cached_property
from graphlode.common.control import Control
from graphlode.common.fork import renew_after_fork
from graphlode.common.sealed import sealed
from graphlode.common.store import keys_of
from graphlode.common.wait import run_all
from graphlode.errors import InputError
from graphlode.execute.device import Device
from graphlode.execute.devices import cpu
from graphlode.execute.shares import bucket_of
from graphlode.graph.graph import Graph, GraphProvenance
from graphlode.graph.store.ids import VertexIds
from graphlode.graph.store.shard import HeldShard, HeldShards
from graphlode.types import NARROW_VERTEX, AnyArray, FloatArray, Int64Array

T = TypeVar("T")

# The arrays of Graph that a snapshot makes when they are first used.
_ROWS = ("_offsets", "_neighbors", "_weights")


class Moment(NamedTuple):
    """The state of a store at one version."""

    version: int = 0
    num_vertices: int = 0
    num_entries: int = 0


class Snapshot(Graph):
    """The graph at one version of a store, immutable. It stays valid while the store changes, and after it is closed.

    Vertices are in order of arrival unless the store was made with `num_vertices`; `ids` has the id of each.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        raise InputError("a snapshot is taken of a store: DynamicGraph.snapshot()")

    @classmethod
    def _of_store(cls, held: HeldShards, ids: VertexIds, moment: Moment, *, directed: bool, weighted: bool) -> Snapshot:
        """The snapshot of a store whose lock is held."""
        snapshot = cls.__new__(cls)
        snapshot._take_shards(held, ids, moment, directed, weighted)
        return snapshot

    def _take_shards(self, held: HeldShards, ids: VertexIds, moment: Moment, directed: bool, weighted: bool) -> None:
        names = ids.as_array()
        self.shards, self.owners, self.spaces = held
        self._known = ids
        self._moment = moment
        self._weighted = weighted
        self._renew()
        renew_after_fork(self, Snapshot._renew)
        self._ids = None if names is None else sealed(names[: moment.num_vertices])
        self._directed = directed
        self._times = None
        edges = moment.num_entries if directed else moment.num_entries // 2
        self._provenance = GraphProvenance(source="store", edges_given=edges)
        self._version = moment.version
        self._held = {}
        self._shown = {}
        if not weighted:
            self._weights = None

    def _renew(self) -> None:
        self._building = Lock()

    # Without the rows

    @cached_property
    def ids(self) -> Int64Array:
        return self._known.positions(self.num_vertices) if self._ids is None else self._ids

    @property
    def num_vertices(self) -> int:
        return self._moment.num_vertices

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        return self._moment.num_entries if self._directed else self._moment.num_entries // 2

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes that determine the memory of a kernel."""
        return {
            "num_vertices": self.num_vertices,
            "num_entries": self._moment.num_entries,
            "num_edges": self._moment.num_entries // 2,
            "vertex_bytes": NARROW_VERTEX.itemsize,
        }

    def degrees(self) -> Int64Array:
        """Degree of each vertex (out-degree if directed), in the order of `ids`."""
        if self._has_rows:
            return super().degrees()
        # Threads of their own, as for all rows: the caller may be the worker of one of these devices.
        work = [
            (shard.device.aside(), partial(shard.kernels.degrees, shard.device, shard.state)) for shard in self.shards
        ]
        counts = run_all(work, Control())
        total: Int64Array = np.sum([_padded(count, self.num_vertices) for count in counts], axis=0, dtype=np.int64)
        return total

    def neighbors(self, vertex: int, *, indices: bool = False) -> AnyArray:
        """Neighbors of a vertex (successors if directed), in the order of `ids`."""
        if self._has_rows:
            return super().neighbors(vertex, indices=indices)
        row, _ = self._row(self._position(vertex, indices))
        return sealed(row) if indices else self.ids[row]

    def has_edge(self, u: int, v: int, *, indices: bool = False) -> bool:
        """Whether the edge is there; false if a vertex is not in the graph. What is no integer is an InputError."""
        if self._has_rows:
            return super().has_edge(u, v, indices=indices)
        ends = self._ends(u, v, indices)
        if ends is None:
            return False
        tail, head = ends
        key = keys_of(np.array([tail]), np.array([head]))
        shard = self._shard_of(tail)
        return bool(_ask(shard, shard.kernels.contains, key)[0])

    def weight(self, u: int, v: int, *, indices: bool = False) -> float:
        """The weight of an edge; 1 if the store has no weights. An edge that is not there is an InputError."""
        tail, head = self._position(u, indices), self._position(v, indices)
        row, weights = self._row(tail)
        at = int(np.searchsorted(row, head))
        if at == row.size or int(row[at]) != head:
            raise InputError(f"there is no edge from {u} to {v}")
        return 1.0 if weights is None else float(weights[at])

    @property
    def nbytes(self) -> int:
        """Bytes of the graph's own arrays, without views; or of the shards' pages until rows are made."""
        if self._has_rows:
            return super().nbytes
        return sum(_ask(shard, shard.kernels.nbytes) for shard in self.shards)

    # With the rows

    def place(self, device: Device) -> Mapping[str, Any]:
        """The rows by name, as arrays of the device; they do not leave a device that holds them all."""
        if len(self.shards) == 1 and device.space == self.shards[0].device.space and device.space != cpu().space:
            shard = self.shards[0]
            return _cut(shard.kernels.csr(device, shard.state), self._moment)
        return device.put(self.arrays)

    @property
    def _has_rows(self) -> bool:
        return "_offsets" in self.__dict__

    def __getattr__(self, name: str) -> Any:
        if name not in _ROWS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with self._building:
            if not self._has_rows:
                self._make_rows()
        return self.__dict__[name]

    def _make_rows(self) -> None:
        # Threads of their own: the caller may be the worker of one of these devices.
        work = [(shard.device.aside(), partial(_to_host, shard)) for shard in self.shards]
        parts = [_cut(part, self._moment) for part in run_all(work, Control())]
        rows = parts[0] if len(parts) == 1 else merge_rows(parts)
        if self._weighted:
            weights: FloatArray = rows["weights"]
            if not self._directed:  # one per edge, as in `edges()`
                tails = np.repeat(np.arange(self.num_vertices), np.diff(rows["offsets"]))
                weights = weights[tails < rows["neighbors"]]
            self._weights = sealed(weights)
        self._neighbors = sealed(rows["neighbors"])
        self._offsets = sealed(rows["offsets"])  # last: it marks that all exist

    # Python manners

    def __repr__(self) -> str:
        kind = ("directed" if self._directed else "undirected") + ", weights" * self._weighted
        sizes = f"{self.num_vertices:,} vertices, {self.num_edges:,} edges"
        return f"<graphlode.Snapshot: {sizes}, {kind}, version {self.version}>"

    def __getstate__(self) -> dict[str, Any]:
        with self._building:
            if not self._has_rows:
                self._make_rows()
        return super().__getstate__()

    def __setstate__(self, state: dict[str, Any]) -> None:
        raise InputError("a pickled snapshot is a plain Graph; a snapshot itself does not change")

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _plain_graph, (self.__getstate__(),)  # the pickled graph has no store

    # Inside

    def _shard_of(self, position: int) -> HeldShard:
        if len(self.shards) == 1:
            return self.shards[0]
        return self.shards[int(self.owners[bucket_of(np.array([position]))[0]])]

    def _row(self, position: int) -> tuple[AnyArray, FloatArray | None]:
        shard = self._shard_of(position)
        return _ask(shard, shard.kernels.row, position)

    def _find(self, ids: Int64Array) -> tuple[Int64Array, AnyArray]:
        at = self._known.find(np.atleast_1d(ids), below=self.num_vertices).reshape(ids.shape)
        return at, at >= 0


def _plain_graph(state: dict[str, Any]) -> Graph:
    graph = Graph.__new__(Graph)
    graph.__setstate__(state)
    return graph


def _ask(shard: HeldShard, question: Callable[..., T], *arguments: Any) -> T:
    """Answer a short question, without waiting for operations or batches."""
    return shard.reader.run(lambda reader: question(reader, shard.state, *arguments), brief=True)


def _to_host(shard: HeldShard) -> dict[str, AnyArray]:
    return {name: shard.device.get(array) for name, array in shard.kernels.csr(shard.device, shard.state).items()}


def _cut(rows: Mapping[str, Any], moment: Moment) -> dict[str, Any]:
    """Remove the rows for which a shard only has spare room."""
    return {**rows, "offsets": rows["offsets"][: moment.num_vertices + 1]}


def merge_rows(parts: list[dict[str, AnyArray]]) -> dict[str, AnyArray]:
    """The rows of several shards as one: every row is whole on one of them and empty on the others."""
    counts = [np.diff(part["offsets"]) for part in parts]
    offsets = np.zeros(parts[0]["offsets"].size, np.int64)
    np.cumsum(sum(counts), out=offsets[1:])
    merged: dict[str, AnyArray] = {"offsets": offsets}
    columns = [name for name in parts[0] if name != "offsets"]
    for name in columns:
        merged[name] = np.empty(int(offsets[-1]), parts[0][name].dtype)
    for part, count in zip(parts, counts, strict=True):
        shift = np.repeat(offsets[:-1] - part["offsets"][:-1], count)
        shift += np.arange(shift.size)
        for name in columns:
            merged[name][shift] = part[name]
    return merged


def _padded(counts: Int64Array, size: int) -> Int64Array:
    return counts[:size] if counts.size >= size else np.pad(counts, (0, size - counts.size))
