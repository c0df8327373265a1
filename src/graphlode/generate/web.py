"""Graphs like the web: hosts, copied lists of links, and popular pages.

Pages are numbered in the order of their addresses, so the pages of a host are adjacent. Sizes of hosts and numbers of
links per page have heavy tails. A link is copied with probability 0.6: its target is that of the link with the same
number on an earlier page of the host, usually one of the few pages before it. Adjacent pages therefore share many
links, as in the copying model of Kumar et al., "Stochastic models for the web graph" (FOCS 2000). Of the other links
four fifths stay within the host: half of these lead near their page, half to the first pages of the host. The rest lead
to a random host, weighted by popularity, mostly to its first pages.

The target of a link is computed from hashes of its page and number alone, along the chain of pages that it was copied
from. Only the sizes of hosts and lists are kept in memory.
"""

from __future__ import annotations

import numpy as np

from graphlode.errors import InputError
from graphlode.generate.arguments import integer, random_seed
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph
from graphlode.types import AnyArray, FloatArray, Int64Array, VertexArray

_COPY_PROBABILITY = 0.6
_WITHIN_HOST_FRACTION = 0.8
_NEAR_FRACTION = 0.5  # fraction of the links within a host
_MEAN_DISTANCE = 8.0  # mean distance in pages to a nearby target or to the page that is copied
_MIN_HOST_SIZE, _HOST_TAIL = 8, 1.4
_LIST_TAIL, _LONGEST_LIST = 2.2, 100.0  # the longest list as a multiple of the shortest
_LINKS_AT_ONCE = 1 << 22


def web(scale: int, edge_factor: int = 16, *, seed: int = 0, directed: bool = True) -> Graph:
    """A graph like the web, with 2^scale pages and edge_factor * 2^scale drawn links.

    Repeated links and links from a page to itself are dropped. The same arguments give the same graph.
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

    `num_edges` draws this number of links instead of edge_factor * 2^scale.
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
    """The hosts of `num_pages` pages, and the targets of links."""

    def __init__(self, num_pages: int, seed: int) -> None:
        self._num_pages, self._seed = num_pages, np.uint64(seed)
        draws = np.random.default_rng(seed).random((2, num_pages // _MIN_HOST_SIZE + 1))
        sizes = (_MIN_HOST_SIZE * (1.0 - draws[0]) ** (-1 / _HOST_TAIL)).astype(np.int64)
        ends = np.cumsum(np.minimum(sizes, max(_MIN_HOST_SIZE, num_pages // 8)))
        ends = ends[: int(np.searchsorted(ends, num_pages)) + 1]
        ends[-1] = num_pages
        self._begins: Int64Array = np.concatenate([[0], ends[:-1]])
        self._sizes: Int64Array = ends - self._begins
        self._by_popularity: Int64Array = np.argsort(draws[1, : ends.size])
        self._hosts: Int64Array = np.repeat(np.arange(ends.size), self._sizes)

    def list_ends(self, num_links: int) -> Int64Array:
        """The position of each page's first link among all links, and the total number."""
        draws = self._draw(np.arange(self._num_pages, dtype=np.int64), 0, salt=1)
        lengths = np.minimum((1.0 - draws) ** (-1 / _LIST_TAIL), _LONGEST_LIST)
        ends = np.concatenate([[0.0], np.cumsum(lengths)])
        found: Int64Array = (ends * (num_links / ends[-1])).round().astype(np.int64)
        return found

    def targets(self, pages: Int64Array, numbers: Int64Array) -> Int64Array:
        """The targets of the links with these numbers on these pages."""
        first = self._begins[self._hosts[pages]]
        origins = pages.copy()  # the page that each link was first drawn for, before it was copied
        copied = np.flatnonzero(self._is_copy(origins, numbers, first))
        while copied.size:
            back = 1 + self._distances(self._draw(origins[copied], 0, salt=2))
            origins[copied] = np.maximum(origins[copied] - back, first[copied])
            copied = copied[self._is_copy(origins[copied], numbers[copied], first[copied])]
        return self._direct_targets(origins, numbers)

    def _is_copy(self, pages: Int64Array, numbers: Int64Array, first: Int64Array) -> AnyArray:
        """Whether each link is copied. The first page of a host has no earlier page to copy from."""
        is_copied: AnyArray = (self._draw(pages, numbers, salt=3) < _COPY_PROBABILITY) & (pages > first)
        return is_copied

    def _direct_targets(self, pages: Int64Array, numbers: Int64Array) -> Int64Array:
        kind, where = self._draw(pages, numbers, salt=4), self._draw(pages, numbers, salt=5)
        near = kind < _WITHIN_HOST_FRACTION * _NEAR_FRACTION
        remote = kind >= _WITHIN_HOST_FRACTION
        hosts = self._hosts[pages]
        popular = (self._begins.size * self._draw(pages, numbers, salt=6) ** 3).astype(np.int64)
        hosts[remote] = self._by_popularity[popular[remote]]
        begins, sizes = self._begins[hosts], self._sizes[hosts]
        found = begins + (sizes * where**4).astype(np.int64)  # the first pages of the host
        steps = 1 + self._distances(np.abs(2 * where - 1))
        nearby = np.clip(pages + np.where(where < 0.5, -steps, steps), begins, begins + sizes - 1)
        return np.where(near, nearby, found)

    @staticmethod
    def _distances(draws: FloatArray) -> Int64Array:
        """Exponentially distributed distances with a mean of about `_MEAN_DISTANCE`."""
        return (-_MEAN_DISTANCE * np.log1p(-draws)).astype(np.int64)

    def _draw(self, pages: Int64Array, numbers: Int64Array | int, *, salt: int) -> FloatArray:
        """Numbers in [0, 1) that depend on seed, page, number and salt: two rounds of SplitMix64's mixing function."""
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
