"""The edges of a store by tiles, kept up to date as batches arrive.

A tile has the edges from 2^16 sources to 2^16 destinations, four bytes each (`graph.views.Tiled` is the same, built once).
A batch goes to the tails of its tiles, and only the tiles that it concerns are touched. Tails are sorted in later, some
before each iteration of whatever runs on the tiles: so a graph that keeps changing is never put in order as a whole, and
is nearly in order all the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.cpu.locality.tiles import ChangingTiles
from graphlode.errors import InputError, StateError
from graphlode.execute import call
from graphlode.graph.graph import Graph
from graphlode.graph.store.batch import Batch, BatchResult
from graphlode.graph.store.dynamic import DynamicGraph
from graphlode.graph.views import Tiled
from graphlode.types import AnyArray, BoolArray, FloatArray, Int64Array


@dataclass(frozen=True, eq=False)
class TileRank:
    """PageRank on the tiles of a store: values in the order of its ids."""

    values: FloatArray
    iterations: int
    converged: bool


class TiledEdges:
    """The tiles of a store. Batches come in through `apply`, `insert` and `delete`, which write the store as well.

    Parameters
    ----------
    store
        The store; its edges so far are brought into tiles. Weights are left out.
    share_per_iteration
        How many edges may be moved to sort tails in before each iteration, as a part of all edges.

    Raises StateError if the store was written by others meanwhile.

    >>> import graphlode as gl
    >>> from graphlode.locality import TiledEdges
    >>> tiles = TiledEdges(gl.DynamicGraph(devices="cpu"))
    >>> tiles.insert([1, 2, 3], [2, 3, 1]).inserted
    3
    >>> tiles.num_entries, tiles.pagerank().values.round(3).tolist()
    (6, [0.333, 0.333, 0.333])
    """

    def __init__(self, store: DynamicGraph, *, share_per_iteration: float = 0.125) -> None:
        if not 0 <= share_per_iteration <= 1:
            raise InputError(f"share_per_iteration must be 0 to 1, got {share_per_iteration!r}")
        self._store = store
        self._share = float(share_per_iteration)
        snapshot = store.snapshot()
        self._tiles = ChangingTiles.of_view(snapshot.view(Tiled()))
        self._num_vertices = snapshot.num_vertices
        self._version = snapshot.version

    @property
    def store(self) -> DynamicGraph:
        """The store that these are the tiles of."""
        return self._store

    @property
    def num_entries(self) -> int:
        """How many edges the tiles have; an undirected edge is there in both directions."""
        return self._tiles.num_edges

    @property
    def num_loose(self) -> int:
        """How many of them are in the tails of tiles, not yet in order."""
        return self._tiles.num_loose

    def insert(self, src: Any, dst: Any = None) -> BatchResult:
        """Insert edges, as `DynamicGraph.insert` does."""
        return self.apply(Batch(src, dst))

    def delete(self, src: Any, dst: Any = None) -> BatchResult:
        """Delete edges, as `DynamicGraph.delete` does."""
        return self.apply(Batch(src, dst, delete=True))

    def apply(self, batch: Batch) -> BatchResult:
        """Apply a batch to the store and to the tiles. Cost: a sort of the batch, and some steps for each tile in it."""
        self._require_same_version()
        result = self._store.apply(batch)
        snapshot = self._store.snapshot()
        inserted, deleted = _net_entries(batch.on_host(), snapshot)
        self._tiles.grow(snapshot.num_vertices)
        if deleted.size:
            call(lambda control: self._tiles.erase(deleted, control))
        if inserted.size:
            call(lambda control: self._tiles.insert(inserted, control))
        self._num_vertices = snapshot.num_vertices
        self._version = result.version
        return result

    def refine(self, budget: int | None = None) -> int:
        """Sort tails in until that has moved `budget` edges (None: all tails); how many it moved."""
        limit = np.iinfo(np.int64).max if budget is None else int(budget)
        return call(lambda control: self._tiles.refine(limit, control))

    def pagerank(self, damping: float = 0.85, *, tol: float = 1e-6, max_iter: int = 100) -> TileRank:
        """PageRank of every vertex, as `graphlode.pagerank` has it; tails are sorted in on the way."""
        self._require_same_version()
        if not 0 <= damping <= 1:
            raise InputError(f"damping must be 0 to 1, got {damping!r}")
        degrees = self._store.degrees()
        budget = int(self._share * self.num_entries)
        limits = (float(tol) * self._num_vertices, int(max_iter), budget)
        found = call(lambda control: self._tiles.pagerank(degrees, float(damping), *limits, control))
        return TileRank(*found)

    def arrays(self) -> tuple[Int64Array, AnyArray]:
        """`tile_offsets` and `edges` of the view `Tiled` of the same graph; all tails are sorted in first."""
        return call(lambda control: self._tiles.pack(control))

    def _require_same_version(self) -> None:
        if self._store.version != self._version:
            raise StateError(
                f"the store has version {self._store.version}, its tiles {self._version}: batches must come through the "
                "tiles; make them anew"
            )


def _net_entries(batch: Batch, snapshot: Graph) -> tuple[Int64Array, Int64Array]:
    """What a batch comes to, in positions: entries that are there after it, and entries that are not."""
    tails, heads = batch.src.astype(np.int64), batch.dst.astype(np.int64)
    deletes: BoolArray = np.zeros(tails.size, bool) if batch.delete is None else batch.delete
    if deletes.any():  # of vertices that are not there: such an edge is not there either
        known = ~deletes | (np.isin(tails, snapshot.ids) & np.isin(heads, snapshot.ids))
        tails, heads, deletes = tails[known], heads[known], deletes[known]
    tails, heads = snapshot.positions(tails), snapshot.positions(heads)
    if not snapshot.directed:
        tails, heads = np.minimum(tails, heads), np.maximum(tails, heads)
    words = tails << 32 | heads
    if deletes.any() and not deletes.all():
        # Where an edge is named more than once, the last time counts.
        words, last = np.unique(words[::-1], return_index=True)
        deletes = deletes[::-1][last]
    return _both_ways(words[~deletes], snapshot), _both_ways(words[deletes], snapshot)


def _both_ways(words: Int64Array, snapshot: Graph) -> Int64Array:
    if snapshot.directed:
        return words
    return np.concatenate([words, (words & 0xFFFFFFFF) << 32 | words >> 32])
