"""Graphs like those of web pages: hosts, lists of links that are copied, and pages that everybody links to.

Pages are numbered as their addresses would sort, so that the pages of a host are neighbors. Hosts have sizes, and pages
numbers of links, with heavy tails. A link is copied with probability 0.6: it leads where the link of the same number
leads that an earlier page of the host has, mostly one of the few before it; so neighboring pages have much of their
links in common, as in the copying model of Kumar et al., "Stochastic models for the web graph" (FOCS 2000). Of the other
links four fifths stay within the host, half of them near their page and half of them at the first pages of the host; the
rest leads to a host by its popularity, there mostly to the first pages.

Where a link leads is computed from hashes of its page and number alone, along the chain of pages that it was copied
from: nothing is kept in memory but the sizes of hosts and lists.
"""

from __future__ import annotations

import numpy as np

from graphlode.errors import InputError
from graphlode.generate.arguments import integer, random_seed
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph
from graphlode.types import AnyArray, FloatArray, Int64Array, VertexArray

_COPIED = 0.6
_WITHIN_HOST = 0.8
_NEAR = 0.5  # of the links within a host
_REACH = 8.0  # pages, to a page near by or one that is copied, on average
_LEAST_HOST, _HOST_TAIL = 8, 1.4
_LIST_TAIL, _LONGEST_LIST = 2.2, 100.0  # by the shortest
_LINKS_AT_ONCE = 1 << 22


def web(scale: int, edge_factor: int = 16, *, seed: int = 0, directed: bool = True) -> Graph:
    """A graph like that of web pages, with 2^scale pages and edge_factor * 2^scale drawn links.

    Links that repeat another, and pages that link to themselves, are dropped. The same arguments give the same graph.
    Raises InputError if an argument is out of range. Time O(links), on one thread.

    >>> import graphlode as gl
    >>> gl.web(10, 8, seed=1).num_vertices
    1024
    """
    src, dst = web_edges(scale, edge_factor, seed=seed)
    source = f"web({scale}, {edge_factor}, seed={seed})"
    return from_edges(src, dst, num_vertices=2**scale, directed=directed, source=source)


def web_edges(
    scale: int, edge_factor: int = 16, *, seed: int = 0, num_edges: int | None = None
) -> tuple[VertexArray, VertexArray]:
    """The drawn links of `web` as (src, dst), page by page, with repeats.

    `num_edges` draws so many instead of edge_factor * 2^scale.
    """
    scale = integer("scale", scale, most=31)
    drawn = integer("edge_factor", edge_factor) << scale
    if num_edges is not None:
        drawn = integer("num_edges", num_edges)
    if drawn > 2**40:
        raise InputError(f"a web has at most 2^40 links, got {drawn}")
    pages = _Pages(2**scale, random_seed(seed))
    lists = pages.list_ends(drawn)
    src = np.repeat(np.arange(2**scale, dtype=np.int32), np.diff(lists))
    dst = np.empty_like(src)
    for begin in range(0, drawn, _LINKS_AT_ONCE):
        part = slice(begin, min(begin + _LINKS_AT_ONCE, drawn))
        at = src[part].astype(np.int64)
        dst[part] = pages.targets(at, np.arange(part.start, part.stop) - lists[at])
    return src, dst


class _Pages:
    """The hosts of so many pages, and where links lead."""

    def __init__(self, num_pages: int, seed: int) -> None:
        self._num_pages, self._seed = num_pages, np.uint64(seed)
        draws = np.random.default_rng(seed).random((2, num_pages // _LEAST_HOST + 1))
        sizes = (_LEAST_HOST * (1.0 - draws[0]) ** (-1 / _HOST_TAIL)).astype(np.int64)
        ends = np.cumsum(np.minimum(sizes, max(_LEAST_HOST, num_pages // 8)))
        ends = ends[: int(np.searchsorted(ends, num_pages)) + 1]
        ends[-1] = num_pages
        self._begins: Int64Array = np.concatenate([[0], ends[:-1]])
        self._sizes: Int64Array = ends - self._begins
        self._by_popularity: Int64Array = np.argsort(draws[1, : ends.size])
        self._hosts: Int64Array = np.repeat(np.arange(ends.size), self._sizes)

    def list_ends(self, num_links: int) -> Int64Array:
        """Where the list of each page begins among all links, and the end of the last."""
        draws = self._draw(np.arange(self._num_pages, dtype=np.int64), 0, salt=1)
        lengths = np.minimum((1.0 - draws) ** (-1 / _LIST_TAIL), _LONGEST_LIST)
        ends = np.concatenate([[0.0], np.cumsum(lengths)])
        found: Int64Array = (ends * (num_links / ends[-1])).round().astype(np.int64)
        return found

    def targets(self, pages: Int64Array, numbers: Int64Array) -> Int64Array:
        """Where the links of these numbers on these pages lead."""
        first = self._begins[self._hosts[pages]]
        origins = pages.copy()  # the page whose link it was before it was copied
        left = np.flatnonzero(self._is_copy(origins, numbers, first))
        while left.size:
            back = 1 + self._reach(self._draw(origins[left], 0, salt=2))
            origins[left] = np.maximum(origins[left] - back, first[left])
            left = left[self._is_copy(origins[left], numbers[left], first[left])]
        return self._fresh(origins, numbers)

    def _is_copy(self, pages: Int64Array, numbers: Int64Array, first: Int64Array) -> AnyArray:
        """The first page of a host has nobody to copy from."""
        copied: AnyArray = (self._draw(pages, numbers, salt=3) < _COPIED) & (pages > first)
        return copied

    def _fresh(self, pages: Int64Array, numbers: Int64Array) -> Int64Array:
        kind, where = self._draw(pages, numbers, salt=4), self._draw(pages, numbers, salt=5)
        near = kind < _WITHIN_HOST * _NEAR
        remote = kind >= _WITHIN_HOST
        hosts = self._hosts[pages]
        popular = (self._begins.size * self._draw(pages, numbers, salt=6) ** 3).astype(np.int64)
        hosts[remote] = self._by_popularity[popular[remote]]
        begins, sizes = self._begins[hosts], self._sizes[hosts]
        found = begins + (sizes * where**4).astype(np.int64)  # the first pages of the host
        steps = 1 + self._reach(np.abs(2 * where - 1))
        beside = np.clip(pages + np.where(where < 0.5, -steps, steps), begins, begins + sizes - 1)
        return np.where(near, beside, found)

    @staticmethod
    def _reach(draws: FloatArray) -> Int64Array:
        """Exponential, about `_REACH` on average."""
        return (-_REACH * np.log1p(-draws)).astype(np.int64)

    def _draw(self, pages: Int64Array, numbers: Int64Array | int, *, salt: int) -> FloatArray:
        """Numbers in [0, 1) that depend on seed, page, number and salt: two rounds of the finaliser of SplitMix64."""
        golden = 0x9E3779B97F4A7C15
        state = pages.astype(np.uint64) * np.uint64(golden) + self._seed
        state = _mix(state + np.uint64(salt * golden % 2**64))
        state = _mix(state + np.asarray(numbers, np.uint64) * np.uint64(golden))
        return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(state: AnyArray) -> AnyArray:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: AnyArray = state ^ (state >> np.uint64(31))
    return mixed
