"""Random trees of 3, 4 or 5 vertices in a graph, each placement of a tree pattern equally likely.

Every connected pattern has a spanning tree: a wedge (3 vertices), a 3-star or 3-path (4), a 4-star, prong or 4-path (5). A
placement is drawn from the middle outwards: a vertex or edge with as much weight as placements around it, then different
neighbors, without looking where these lie. So the ends of paths may meet: such a draw is a tree on fewer vertices,
and counts as no tree at all. `weight` is the number of all draws, as an exact integer; the choice itself is made in floating
point, which rounds probabilities to 53 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from graphlode.graph.graph import Graph
from graphlode.mining.exact import choose, product, row_sums
from graphlode.types import AnyArray, BoolArray, Int64Array


@dataclass(frozen=True)
class Rows:
    """The graph's rows, with what drawing from them needs."""

    offsets: Int64Array
    neighbors: AnyArray

    @classmethod
    def of(cls, graph: Graph) -> Rows:
        return cls(*graph.csr)

    @cached_property
    def degrees(self) -> Int64Array:
        return np.diff(self.offsets)

    @cached_property
    def tails(self) -> Int64Array:
        """The row of each entry."""
        return np.repeat(np.arange(self.degrees.size), self.degrees)

    @cached_property
    def keys(self) -> Int64Array:
        """Entries as ascending numbers, to be searched."""
        return self.tails * self.degrees.size + self.neighbors

    def entries(self, tails: AnyArray, heads: AnyArray) -> Int64Array:
        """Where each edge tail-head is, or where it would be."""
        return np.searchsorted(self.keys, tails.astype(np.int64) * self.degrees.size + heads)

    def adjacent(self, a: AnyArray, b: AnyArray) -> BoolArray:
        keys = a.astype(np.int64) * self.degrees.size + b
        found = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        there: BoolArray = self.keys[found] == keys
        return there

    def different(self, rng: np.random.Generator, rows: AnyArray, number: int, without: AnyArray | None) -> AnyArray:
        """`number` different neighbors of each of the rows; `without` is an entry of the row that may not be drawn."""
        taken = [] if without is None else [without - self.offsets[rows]]
        drawn = []
        for _ in range(number):
            place = rng.integers(0, self.degrees[rows] - len(taken))
            for before in np.sort(np.array(taken), axis=0) if taken else ():
                place += place >= before  # the others move up by one
            taken.append(place)
            drawn.append(self.neighbors[self.offsets[rows] + place])
        return np.array(drawn)


@dataclass(frozen=True)
class TreePattern:
    """How to draw a tree: `weight(rows)` draws in all, `draw(rows, rng, number)` gives vertices, a column per draw.

    `edges` are those that a draw has for certain, as pairs of its rows.
    """

    pattern: int  # the number of the pattern in `patterns.PATTERNS`
    edges: tuple[tuple[int, int], ...]
    weights: Callable[[Rows], AnyArray]
    draw: Callable[[Rows, np.random.Generator, AnyArray], AnyArray]

    def total(self, rows: Rows) -> int:
        return sum(self.weights(rows).tolist())

    def sample(self, rows: Rows, rng: np.random.Generator, number: int) -> AnyArray:
        chosen = _weighted(rng, self.weights(rows), number)
        return self.draw(rows, rng, chosen)


def _weighted(rng: np.random.Generator, weights: AnyArray, number: int) -> Int64Array:
    ahead = np.cumsum(weights.astype(np.float64))
    chosen = np.searchsorted(ahead, rng.random(number) * ahead[-1], side="right")
    below_end: Int64Array = np.minimum(chosen, np.flatnonzero(weights)[-1])
    return below_end


def _star(leaves: int) -> Callable[[Rows, np.random.Generator, AnyArray], AnyArray]:
    def draw(rows: Rows, rng: np.random.Generator, centers: AnyArray) -> AnyArray:
        return np.concatenate([[centers], rows.different(rng, centers, leaves, None)])

    return draw


def _around_edge(left: int) -> Callable[[Rows, np.random.Generator, AnyArray], AnyArray]:
    """An edge u-v, `left` other neighbors of u and one of v."""

    def draw(rows: Rows, rng: np.random.Generator, entries: AnyArray) -> AnyArray:
        u, v = rows.tails[entries], rows.neighbors[entries]
        at_u = rows.different(rng, u, left, entries)
        at_v = rows.different(rng, v, 1, rows.entries(v, u))
        return np.concatenate([[u], [v], at_u, at_v])

    return draw


def _path5(rows: Rows, rng: np.random.Generator, centers: AnyArray) -> AnyArray:
    """Two different neighbors of the center, as likely as they have other neighbors, and one of those for each."""
    ahead = np.concatenate([[0], np.cumsum(rows.degrees[rows.neighbors] - 1)])

    def neighbor(of: AnyArray) -> AnyArray:
        low, high = ahead[rows.offsets[of]], ahead[rows.offsets[of + 1]]
        return np.searchsorted(ahead, rng.integers(low, high), side="right") - 1

    first, second = neighbor(centers), neighbor(centers)
    same = np.flatnonzero(first == second)
    while same.size:  # both are drawn again, else pairs with a likely partner would come too often
        first[same], second[same] = neighbor(centers[same]), neighbor(centers[same])
        same = same[first[same] == second[same]]
    a, b = rows.neighbors[first], rows.neighbors[second]
    beyond_a = rows.different(rng, a, 1, rows.entries(a, centers))
    beyond_b = rows.different(rng, b, 1, rows.entries(b, centers))
    return np.concatenate([[centers], [a], [b], beyond_a, beyond_b])


def _path_centers(rows: Rows) -> AnyArray:
    beyond = rows.degrees - 1
    around = row_sums(beyond[rows.neighbors], rows.offsets)
    squares = row_sums(product(beyond, beyond)[rows.neighbors], rows.offsets)
    weights: AnyArray = (product(around, around) - squares) // 2
    return weights


def _edge_weights(rows: Rows) -> AnyArray:
    """Paths around each edge, at the entry that leads upwards."""
    paths = product(rows.degrees[rows.tails] - 1, rows.degrees[rows.neighbors] - 1)
    return np.where(rows.tails < rows.neighbors, paths, 0)


def _prong_weights(rows: Rows) -> AnyArray:
    return product(choose(rows.degrees[rows.tails] - 1, 2), rows.degrees[rows.neighbors] - 1)


_STAR_EDGES = ((0, 1), (0, 2), (0, 3), (0, 4))
TREES: Mapping[int, tuple[TreePattern, ...]] = {
    3: (TreePattern(0, _STAR_EDGES[:2], lambda rows: choose(rows.degrees, 2), _star(2)),),
    4: (
        TreePattern(2, _STAR_EDGES[:3], lambda rows: choose(rows.degrees, 3), _star(3)),
        TreePattern(3, ((0, 1), (0, 2), (1, 3)), _edge_weights, _around_edge(1)),
    ),
    5: (
        TreePattern(8, _STAR_EDGES, lambda rows: choose(rows.degrees, 4), _star(4)),
        TreePattern(9, ((0, 1), (0, 2), (0, 3), (1, 4)), _prong_weights, _around_edge(2)),
        TreePattern(10, ((0, 1), (0, 2), (1, 3), (2, 4)), _path_centers, _path5),
    ),
}
