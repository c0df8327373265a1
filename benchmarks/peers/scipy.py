"""SciPy sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import numpy as np
import scipy
import scipy.sparse as sparse
from scipy.sparse import csgraph

from benchmarks.inputs import Input
from benchmarks.peers.peer import Builder, Methods, Peer
from graphlode.types import AnyArray

_WEDGES_AT_ONCE = 1 << 26  # entries of a product in memory at the same time


class Scipy(Peer):
    name = "scipy"
    version = scipy.__version__

    def __init__(self, threads: int) -> None:
        self.settings = "serial library"

    def build(self, given: Input) -> Builder:
        rows, columns = given.both_ways
        values = np.ones(len(rows), np.bool_)
        shape = (given.num_vertices, given.num_vertices)
        return Builder(
            "coo_array.tocsr of the list in both directions",
            lambda: sparse.coo_array((values, (rows, columns)), shape=shape).tocsr(),
            lambda matrix: int((matrix.nnz - np.count_nonzero(matrix.diagonal())) // 2),
        )

    def expected_rows(self, given: Input) -> Any:
        """The rows of the simple graph: repeats merged, the diagonal taken out."""
        matrix = self.build(given).run().astype(np.int8)
        matrix.setdiag(0)
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix

    def triangles(self, given: Input) -> Methods:
        matrix = given.graph.to_scipy()
        return {"sum of U * (U @ U), U ordered by degree": lambda: count_triangles(matrix)}

    def bfs(self, given: Input, source: int) -> Methods:
        matrix = given.graph.to_scipy()

        def run() -> Any:
            order, before = csgraph.breadth_first_order(matrix, source)
            return lambda: _levels(order, before)

        return {"csgraph.breadth_first_order": run}

    def shortest_paths(self, given: Input, weights: AnyArray, source: int) -> Methods:
        matrix = weighted_rows(given, weights)

        def run() -> Any:
            distances = csgraph.dijkstra(matrix, indices=source)
            return lambda: distances

        return {"csgraph.dijkstra": run}

    def components(self, given: Input) -> Methods:
        matrix = given.graph.to_scipy()

        def run() -> Any:
            labels = component_labels(matrix)
            return lambda: labels

        return {"csgraph.connected_components": run}

    def pagerank(self, given: Input, damping: float, moved: float) -> Methods:
        matrix = given.graph.to_scipy()

        def run() -> Any:
            values = power_iteration(matrix, damping, moved)
            return lambda: values

        return {"power iteration, matrix times vector": run}


def levels_from(matrix: Any, source: int) -> Any:
    """Levels of a breadth-first search; -1: not reached."""
    return _levels(*csgraph.breadth_first_order(matrix, source))


def weighted_rows(given: Input, weights: AnyArray) -> Any:
    """The matrix with the length of each edge in both directions."""
    u, v = given.simple.T
    shape = (given.num_vertices, given.num_vertices)
    ends = (np.concatenate([u, v]), np.concatenate([v, u]))
    return sparse.coo_array((np.concatenate([weights, weights]), ends), shape=shape).tocsr()


def _levels(order: Any, before: Any) -> Any:
    levels = np.full(before.size, -1, np.int64)
    levels[order[0]] = 0
    for v in order[1:].tolist():
        levels[v] = levels[before[v]] + 1
    return levels


def component_labels(matrix: Any) -> Any:
    """The component of each vertex of a symmetric matrix."""
    return csgraph.connected_components(matrix, directed=False)[1]


def power_iteration(matrix: Any, damping: float, moved: float) -> Any:
    """PageRank of a symmetric matrix, until an iteration moves less than `moved`."""
    steps = pairwise(_iterations(matrix, damping))
    return next(after for before, after in steps if np.abs(after - before).sum() < moved)


def iterate(matrix: Any, damping: float, iterations: int) -> Any:
    """The values after this number of iterations."""
    return next(islice(_iterations(matrix, damping), iterations, None))


def _iterations(matrix: Any, damping: float) -> Iterator[Any]:
    """The values before the first iteration and after each."""
    n = matrix.shape[0]
    degrees = np.diff(matrix.indptr)
    share = np.divide(1.0, degrees, out=np.zeros(n), where=degrees > 0)
    values = np.full(n, 1.0 / n)
    while True:
        yield values
        stuck = values[degrees == 0].sum()
        values = damping * (matrix @ (values * share) + stuck / n) + (1 - damping) / n


def count_triangles(matrix: Any) -> int:
    """Triangles of a symmetric matrix without a diagonal: products of its upper triangle, vertices ordered by
    degree."""
    degrees = np.diff(matrix.indptr)
    rank = np.empty(len(degrees), np.int64)
    rank[np.argsort(degrees, kind="stable")] = np.arange(len(degrees))
    rows, columns = np.repeat(rank, degrees), rank[matrix.indices]
    up = rows < columns
    ones = np.ones(int(up.sum()), np.int32)
    upper = sparse.coo_array((ones, (rows[up], columns[up])), shape=matrix.shape).tocsr()
    lengths = np.diff(upper.indptr)
    ahead = np.concatenate([[0], np.cumsum(lengths[upper.indices], dtype=np.int64)])[upper.indptr]
    total, begin = 0, 0
    while begin < len(degrees):
        end = int(np.searchsorted(ahead, ahead[begin] + _WEDGES_AT_ONCE, side="right"))
        end = min(max(end - 1, begin + 1), len(degrees))
        part = upper[begin:end]
        total += int((part @ upper).multiply(part).sum(dtype=np.int64))
        begin = end
    return total
