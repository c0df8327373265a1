"""SuiteSparse:GraphBLAS through python-graphblas."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import graphblas as gb
import numpy as np

from benchmarks.inputs import Input
from benchmarks.peers.peer import Builder, Methods, Peer
from graphlode.types import AnyArray


class Graphblas(Peer):
    name = "graphblas"
    version = version("python-graphblas")

    def __init__(self, threads: int) -> None:
        gb.ss.config["nthreads"] = threads
        self.settings = f"{threads} threads"

    def build(self, given: Input) -> Builder:
        rows, columns = (ends.astype(np.uint64) for ends in given.both_ways)
        return Builder(
            "Matrix.from_coo of the list in both directions",
            lambda: _matrix(rows, columns, given.num_vertices),
            lambda matrix: (matrix.nvals - gb.select.diag(matrix, 0).new().nvals) // 2,
        )

    def triangles(self, given: Input) -> Methods:
        matrix = _symmetric(given)
        return {
            "sorted by degree, C<L> = L * L": lambda: _count(_sorted_by_degree(matrix), transpose=False),
            "sorted by degree, C<L> = L * L'": lambda: _count(_sorted_by_degree(matrix), transpose=True),
            "C<L> = L * L'": lambda: _count(matrix, transpose=True),
        }

    def bfs(self, given: Input, source: int) -> Methods:
        matrix = _symmetric(given)

        def run() -> Any:
            levels = _levels(matrix, source)
            return lambda: levels.to_dense(fill_value=-1)

        return {"products of the frontier, masked by who is not reached, over (any, pair)": run}

    def components(self, given: Input) -> Methods:
        matrix = _symmetric(given)

        def run(method: Any) -> Any:
            labels = method(matrix)
            return lambda: labels.to_dense()

        return {
            "FastSV: least labels of neighbors, hooked to grandparents": lambda: run(_hooked_labels),
            "least labels of neighbors": lambda: run(_least_labels),
        }

    def shortest_paths(self, given: Input, weights: AnyArray, source: int) -> Methods:
        u, v = given.simple.astype(np.uint64).T
        ends = (np.concatenate([u, v]), np.concatenate([v, u]))
        n = given.num_vertices
        matrix = gb.Matrix.from_coo(*ends, np.concatenate([weights, weights]), nrows=n, ncols=n)
        matrix.wait()

        def run() -> Any:
            distances = _distances(matrix, source)
            return lambda: distances.to_dense(fill_value=np.inf)

        return {"products of those who came nearer, over (min, +)": run}


def _symmetric(given: Input) -> Any:
    u, v = given.simple.astype(np.uint64).T
    return _matrix(np.concatenate([u, v]), np.concatenate([v, u]), given.num_vertices)


def _levels(matrix: Any, source: int) -> Any:
    levels = gb.Vector(gb.dtypes.INT32, matrix.nrows)
    frontier = gb.Vector(bool, matrix.nrows)
    frontier[source] = True
    level = 0
    while frontier.nvals:
        levels(frontier.S) << level
        level += 1
        # The matrix is symmetric. With its transpose the library may search bottom-up, which is faster for large
        # frontiers.
        product = frontier @ matrix if 16 * frontier.nvals < matrix.nrows else matrix @ frontier
        frontier(~levels.S, replace=True) << gb.semiring.any_pair(product)
    levels.wait()
    return levels


def _hooked_labels(matrix: Any) -> Any:
    """FastSV, by Zhang, Azad and Buluc: trees are hooked below each other until nothing changes."""
    n = matrix.nrows
    parents = gb.Vector.from_dense(np.arange(n, dtype=np.int64))
    above = parents.dup()
    while True:
        least = above.dup()
        least(gb.binary.min) << gb.semiring.min_second(matrix @ above)
        old, found = parents.to_dense(), least.to_dense()
        hooked = old.copy()
        np.minimum.at(hooked, old, found)
        np.minimum(hooked, found, out=hooked)
        np.minimum(hooked, above.to_dense(), out=hooked)
        highest = hooked[hooked]
        same = np.array_equal(highest, above.to_dense())
        parents, above = gb.Vector.from_dense(hooked), gb.Vector.from_dense(highest)
        if same:
            return above


def _least_labels(matrix: Any) -> Any:
    labels = gb.Vector.from_dense(np.arange(matrix.nrows, dtype=np.int64))
    while True:
        before = labels.dup()
        labels(gb.binary.min) << gb.semiring.min_second(matrix @ before)
        if labels.isequal(before):
            return labels


def _distances(matrix: Any, source: int) -> Any:
    distances = gb.Vector(gb.dtypes.FP64, matrix.nrows)
    distances[source] = 0.0
    nearer = distances.dup()
    while nearer.nvals:
        offered = gb.semiring.min_plus(nearer @ matrix).new()
        lower = gb.binary.lt(offered & distances).new()
        nearer = gb.Vector(gb.dtypes.FP64, matrix.nrows)
        nearer(~distances.S) << offered
        nearer(lower.V) << offered
        distances(gb.binary.min) << nearer
    distances.wait()
    return distances


def _matrix(rows: Any, columns: Any, n: int) -> Any:
    matrix = gb.Matrix.from_coo(rows, columns, True, nrows=n, ncols=n)  # a scalar value: repeats are merged
    matrix.wait()
    return matrix


def _sorted_by_degree(matrix: Any) -> Any:
    degrees = np.zeros(matrix.nrows, np.int64)
    rows, counts = matrix.apply(gb.unary.one["INT64"]).new().reduce_rowwise(gb.monoid.plus).new().to_coo()
    degrees[rows] = counts
    order = np.argsort(degrees, kind="stable")
    return matrix[order, order].new()


def _count(matrix: Any, *, transpose: bool) -> int:
    lower = gb.select.tril(matrix, -1).new()
    counts = gb.Matrix(gb.dtypes.INT64, matrix.nrows, matrix.ncols)
    counts(mask=lower.S) << gb.semiring.plus_pair(lower @ (lower.T if transpose else lower))
    total = counts.reduce_scalar(gb.monoid.plus).new().value
    return 0 if total is None else int(total)
