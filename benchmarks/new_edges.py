"""Batches of edges that a graph does not have, for measurements of the store.

Ends of `random` edges are drawn from the ends of existing edges, so hubs get more. Hot spots are edges of one vertex,
edges that all lie between two existing ones, and so in one leaf, and edges in descending order.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from graphlode.config import settings
from graphlode.graph.graph import Graph
from graphlode.types import Int64Array

KINDS = ("random", "one vertex", "one leaf", "descending")
Edges = tuple[Int64Array, Int64Array]


class Drawn:
    """New edges for a graph with the edges `src` and `dst`, as keys: source * number of vertices + destination."""

    def __init__(self, graph: Graph) -> None:
        self.num_vertices = graph.num_vertices
        self.src, self.dst = graph.edges(indices=True).T.astype(np.int64)
        self._keys = self.src * self.num_vertices + self.dst  # in order, as rows and their entries are

    def all_kinds(self, sizes: Sequence[int], number: int) -> dict[tuple[int, str], list[Edges]]:
        """`number` batches of each size and kind. Large ones take seconds to draw, so several threads draw."""
        wanted = [(kind, size, seed) for size in sizes for kind in KINDS for seed in range(number)]
        with ThreadPoolExecutor(settings().threads) as pool:
            made = iter(list(pool.map(lambda each: self.new(*each), wanted)))
        return {(size, kind): [next(made) for _ in range(number)] for size in sizes for kind in KINDS}

    def new(self, kind: str, size: int, seed: int) -> Edges:
        """A batch of edges that are not in the graph: exactly `size`, or as many as possible."""
        rng = np.random.default_rng(seed)
        draw = {"one vertex": self._one_vertex, "one leaf": self._one_leaf}.get(kind, self._random)
        fresh = self._fresh(draw(rng, 2 * size + 1000))
        if fresh.size < size:
            fresh = self._fresh(draw(rng, 4 * size + 1000))
        chosen = rng.permutation(fresh)[:size]
        if kind == "descending":
            chosen = np.sort(chosen)[::-1]
        return chosen // self.num_vertices, chosen % self.num_vertices

    def _fresh(self, keys: Int64Array) -> Int64Array:
        """The edges that are not in the graph and not loops, each once."""
        keys = np.sort(keys)  # numpy.unique hashes, which takes a hundred times as long
        keys = keys[np.append(True, keys[1:] != keys[:-1])]
        at = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
        fresh: Int64Array = keys[(self._keys[at] != keys) & (keys % (self.num_vertices + 1) != 0)]
        return fresh

    def _random(self, rng: np.random.Generator, wanted: int) -> Int64Array:
        return rng.choice(self.src, wanted) * self.num_vertices + rng.choice(self.dst, wanted)

    def _one_vertex(self, rng: np.random.Generator, wanted: int) -> Int64Array:
        ends: Int64Array = rng.permutation(self.num_vertices)[:wanted]
        return ends + int(rng.choice(self.src)) * self.num_vertices

    def _one_leaf(self, rng: np.random.Generator, wanted: int) -> Int64Array:
        """Edges between two neighboring existing keys, if any two are far enough apart."""
        gaps = np.diff(self._keys, append=self.num_vertices**2)
        wide = np.flatnonzero(gaps > wanted)
        at = int(rng.choice(wide)) if wide.size else int(gaps.argmax())
        keys: Int64Array = self._keys[at] + 1 + np.arange(min(wanted, int(gaps[at]) - 1))
        return keys
