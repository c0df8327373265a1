"""SciPy sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
import scipy.sparse as sparse

from benchmarks.inputs import Input
from benchmarks.peers.peer import Builder, Methods, Peer

_WEDGES_AT_ONCE = 1 << 26  # entries of a product that are held at a time


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


def count_triangles(matrix: Any) -> int:
    """Triangles of a symmetric matrix without a diagonal: products of its upper triangle, vertices ordered by degree."""
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
