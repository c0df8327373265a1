"""The edges of a store in tiles, updated with every batch.

A tile has the edges from 2^16 sources to 2^16 destinations, four bytes each, as in the view `graph.views.Tiled`. A
batch is appended to the tails of its tiles; other tiles are not touched. Tails are merged in later, a few before each
iteration that runs on the tiles. A graph that keeps changing is therefore never sorted as a whole, but always nearly
sorted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.common.numbers import integer, real
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
    """The tiles of a store. `apply`, `insert` and `delete` update the store and the tiles.

    Parameters
    ----------
    store
        The store. Its current edges are put into tiles. Weights are ignored.
    share_per_iteration
        How many edges may be moved before each iteration to merge tails in, as a fraction of all edges, 0 to 1.

    Methods raise StateError if the store was changed in another way since.

    >>> import graphlode as gl
    >>> from graphlode.locality import TiledEdges
    >>> tiles = TiledEdges(gl.DynamicGraph(devices="cpu"))
    >>> tiles.insert([1, 2, 3], [2, 3, 1]).inserted
    3
    >>> tiles.num_entries, tiles.pagerank().values.round(3).tolist()
    (6, [0.333, 0.333, 0.333])
    """

    def __init__(self, store: DynamicGraph, *, share_per_iteration: float = 0.125) -> None:
        if not 0 <= real("share_per_iteration", share_per_iteration) <= 1:
            raise InputError(f"share_per_iteration must be 0 to 1, got {share_per_iteration!r}")
        self._store = store
        self._share = float(share_per_iteration)
        snapshot = store.snapshot()
        self._tiles = ChangingTiles.of_view(snapshot.view(Tiled()))
        self._num_vertices = snapshot.num_vertices
        self._version = snapshot.version

    @property
    def store(self) -> DynamicGraph:
        """The store of these tiles."""
        return self._store

    @property
    def num_entries(self) -> int:
        """Number of entries in the tiles; an undirected edge has two."""
        return self._tiles.num_edges

    @property
    def num_loose(self) -> int:
        """Number of entries that are still in the tails of tiles, not yet sorted in."""
        return self._tiles.num_loose

    def insert(self, src: Any, dst: Any = None) -> BatchResult:
        """Insert edges, as `DynamicGraph.insert` does."""
        return self.apply(Batch(src, dst))

    def delete(self, src: Any, dst: Any = None) -> BatchResult:
        """Delete edges, as `DynamicGraph.delete` does."""
        return self.apply(Batch(src, dst, delete=True))

    def apply(self, batch: Batch) -> BatchResult:
        """Apply a batch to the store and to the tiles. Cost: sorting the batch, and a few steps per tile in it."""
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
        """Merge tails in until `budget` entries were moved (None: all tails); returns the number of moved entries."""
        limit = np.iinfo(np.int64).max if budget is None else int(budget)
        return call(lambda control: self._tiles.refine(limit, control))

    def pagerank(self, damping: float = 0.85, *, tol: float = 1e-6, max_iter: int = 100) -> TileRank:
        """PageRank of every vertex, as in `graphlode.pagerank`; iterations also merge tails in."""
        self._require_same_version()
        if not 0 <= real("damping", damping) <= 1:
            raise InputError(f"damping must be 0 to 1, got {damping!r}")
        if not 0 <= real("tol", tol) < math.inf:
            raise InputError(f"tol must be a number of at least 0, got {tol!r}")
        integer("max_iter", max_iter, least=1)
        degrees = self._store.degrees()
        budget = int(self._share * self.num_entries)
        limits = (float(tol) * self._num_vertices, int(max_iter), budget)
        found = call(lambda control: self._tiles.pagerank(degrees, float(damping), *limits, control))
        return TileRank(*found)

    def arrays(self) -> tuple[Int64Array, AnyArray]:
        """The arrays `tile_offsets` and `edges` of the view `Tiled` of the same graph. Merges all tails in first."""
        return call(lambda control: self._tiles.pack(control))

    def _require_same_version(self) -> None:
        if self._store.version != self._version:
            raise StateError(
                f"the store has version {self._store.version}, its tiles {self._version}: batches must come through the "
                "tiles; make new tiles"
            )


def _net_entries(batch: Batch, snapshot: Graph) -> tuple[Int64Array, Int64Array]:
    """The net effect of a batch, in positions: entries that exist after it, and entries that do not."""
    tails, heads = batch.src.astype(np.int64), batch.dst.astype(np.int64)
    deletes: BoolArray = np.zeros(tails.size, bool) if batch.delete is None else batch.delete
    if deletes.any():  # an edge of an unknown vertex does not exist, so its deletion changes nothing
        known = ~deletes | (np.isin(tails, snapshot.ids) & np.isin(heads, snapshot.ids))
        tails, heads, deletes = tails[known], heads[known], deletes[known]
    tails, heads = snapshot.positions(tails), snapshot.positions(heads)
    if not snapshot.directed:
        tails, heads = np.minimum(tails, heads), np.maximum(tails, heads)
    words = tails << 32 | heads
    if deletes.any() and not deletes.all():
        # If an edge occurs more than once, its last occurrence counts.
        words, last = np.unique(words[::-1], return_index=True)
        deletes = deletes[::-1][last]
    return _both_ways(words[~deletes], snapshot), _both_ways(words[deletes], snapshot)


def _both_ways(words: Int64Array, snapshot: Graph) -> Int64Array:
    if snapshot.directed:
        return words
    return np.concatenate([words, (words & 0xFFFFFFFF) << 32 | words >> 32])
