"""The rows of a graph in blocks of bounded size, so that a writer can stop between them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from graphlode.graph.graph import Graph
from graphlode.types import AnyArray, Int64Array


def entry_blocks(graph: Graph, size: int) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Both ends of all entries, in the order of the rows."""
    offsets, neighbors = graph.csr
    for begin in range(0, neighbors.size, size):
        end = min(begin + size, neighbors.size)
        yield _tails(offsets, begin, end).astype(neighbors.dtype, copy=False), neighbors[begin:end]


def row_blocks(graph: Graph, size: int) -> Iterator[tuple[Int64Array, AnyArray, bool]]:
    """Offsets and neighbors of consecutive rows. False: the last row continues in the next block, which has no other."""
    offsets, neighbors = graph.csr
    begin = 0
    while begin < graph.num_vertices:
        reach = int(np.searchsorted(offsets, offsets[begin] + size, "right")) - 1
        if reach > begin:
            end = min(reach, begin + size)
            yield offsets[begin : end + 1], neighbors[offsets[begin] : offsets[end]], True
            begin = end
            continue
        row_end = int(offsets[begin + 1])
        for at in range(int(offsets[begin]), row_end, size):
            stop = min(at + size, row_end)
            yield np.array([at, stop]), neighbors[at:stop], stop == row_end
        begin += 1


class EntryEdges:
    """For the entries of an undirected graph, block after block, the positions of their edges in `Graph.edges`.

    The entries above the diagonal are the edges in order. Row `v` has an entry `u < v` for the next edge of row `u`
    that no earlier row has taken, because rows are sorted.
    """

    def __init__(self, graph: Graph) -> None:
        self._offsets, self._neighbors = graph.csr
        self._next = np.full(graph.num_vertices, -1, np.int64)  # of each row: its first edge that is not yet taken
        self._at = 0
        self._edges = 0

    def next_block(self, count: int) -> Int64Array:
        tails = _tails(self._offsets, self._at, self._at + count)
        heads = self._neighbors[self._at : self._at + count]
        self._at += count
        found = np.empty(count, np.int64)
        above = tails < heads
        found[above] = self._take_rows(tails[above])
        found[~above] = self._take_edges(heads[~above])
        return found

    def _take_rows(self, tails: Int64Array) -> Int64Array:
        edges = self._edges + np.arange(tails.size)
        self._edges += tails.size
        first = _run_starts(tails)
        rows = tails[first]
        new = self._next[rows] < 0
        self._next[rows[new]] = edges[first[new]]
        return edges

    def _take_edges(self, heads: AnyArray) -> Int64Array:
        order = np.argsort(heads, kind="stable")
        ordered = heads[order]
        first = _run_starts(ordered)
        rows, counts = ordered[first], np.diff(first, append=heads.size)
        edges = np.empty(heads.size, np.int64)
        edges[order] = np.repeat(self._next[rows] - first, counts) + np.arange(heads.size)
        self._next[rows] += counts
        return edges


def _run_starts(ordered: AnyArray) -> Int64Array:
    """Where each of the values of a sorted array occurs first."""
    return np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: ordered.size])


def _tails(offsets: Int64Array, begin: int, end: int) -> Int64Array:
    """The rows of the entries begin .. end - 1."""
    if begin == end:
        return np.empty(0, np.int64)
    first = int(np.searchsorted(offsets, begin, "right")) - 1
    last = int(np.searchsorted(offsets, end, "left"))
    bounds = np.clip(offsets[first : last + 1], begin, end)
    return np.repeat(np.arange(first, last), np.diff(bounds))
