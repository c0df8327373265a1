"""Random trees of 3, 4 or 5 vertices in a graph. Each placement of a tree pattern is equally likely.

Every connected pattern has a spanning tree: a wedge (3 vertices), a 3-star or 3-path (4), a 4-star, prong or 4-path
(5). A placement is drawn from the middle outwards: first a vertex or edge, weighted by the number of placements around
it, then distinct neighbors, without checking where these lead. The ends of a path may therefore coincide. Such a draw
is a tree on fewer vertices and does not count as a hit. `weights` add up to the number of all draws, as an exact
integer. The choice itself is made in floating point, which rounds probabilities to 53 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from graphlode.common.cached import cached_property
from graphlode.graph.graph import Graph
from graphlode.mining.exact import choose, product, row_sums
from graphlode.types import AnyArray, BoolArray, Int64Array


@dataclass(frozen=True)
class Rows:
    """The graph's rows, with derived arrays for drawing."""

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
        """Entries as ascending numbers, for binary search."""
        return self.tails * self.degrees.size + self.neighbors

    def entries(self, tails: AnyArray, heads: AnyArray) -> Int64Array:
        """The position of each edge tail-head among the entries, or where it would be inserted."""
        return np.searchsorted(self.keys, tails.astype(np.int64) * self.degrees.size + heads)

    def adjacent(self, a: AnyArray, b: AnyArray) -> BoolArray:
        keys = a.astype(np.int64) * self.degrees.size + b
        found = np.minimum(np.searchsorted(self.keys, keys), self.keys.size - 1)
        is_present: BoolArray = self.keys[found] == keys
        return is_present

    def different(self, rng: np.random.Generator, rows: AnyArray, number: int, without: AnyArray | None) -> AnyArray:
        """`number` distinct neighbors of each row. `without` is an entry of the row that may not be drawn."""
        taken = [] if without is None else [without - self.offsets[rows]]
        drawn = []
        for _ in range(number):
            place = rng.integers(0, self.degrees[rows] - len(taken))
            for earlier in np.sort(np.array(taken), axis=0) if taken else ():
                place += place >= earlier  # skip the entries already taken
            taken.append(place)
            drawn.append(self.neighbors[self.offsets[rows] + place])
        return np.array(drawn)


@dataclass(frozen=True)
class TreePattern:
    """How to draw a tree: `weights(rows)` sum to the number of possible draws; `draw` returns a column per draw.

    `edges` are those that every draw contains, as pairs of its rows.
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
    cumulative = np.cumsum(weights.astype(np.float64))
    chosen = np.searchsorted(cumulative, rng.random(number) * cumulative[-1], side="right")
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
    """Two distinct neighbors of the center, weighted by their other neighbors, and one of the latter for each."""
    cumulative = np.concatenate([[0], np.cumsum(rows.degrees[rows.neighbors] - 1)])

    def neighbor(of: AnyArray) -> AnyArray:
        low, high = cumulative[rows.offsets[of]], cumulative[rows.offsets[of + 1]]
        return np.searchsorted(cumulative, rng.integers(low, high), side="right") - 1

    first, second = neighbor(centers), neighbor(centers)
    same = np.flatnonzero(first == second)
    while same.size:  # both must be drawn again: redrawing one would favour pairs with a likely partner
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
    """Paths around each edge, stored at its entry from the lower to the higher vertex."""
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
