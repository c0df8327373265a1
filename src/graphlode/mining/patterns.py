"""The 29 connected patterns of 3, 4 and 5 vertices as data, and the matrices between induced and other copies.

Patterns are H1 .. H29 in the order of the ESCAPE papers. Graphlets G1 .. G29 and the 73 vertex orbits are numbered as
by Przulj, the 68 edge orbits as by ORCA, where 0 is an edge of the wedge. Within a size, patterns with more edges come
later. A copy of a pattern is *induced* if the graph has no further edges among its vertices. Each matrix converts the
numbers of induced copies into those of all copies; it is found by listing the subgraphs of each pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

import numpy as np

from graphlode.common.cached import cached_property
from graphlode.types import Int64Array

SIZES = (3, 4, 5)
NUM_PATTERNS = {3: 2, 4: 8, 5: 29}  # number of patterns of up to 3, 4 or 5 vertices
NUM_VERTEX_ORBITS = {2: 1, 3: 4, 4: 15, 5: 73}
NUM_EDGE_ORBITS = {3: 2, 4: 12, 5: 68}

# Name, graphlet, edges, the orbit of each vertex, the orbit of each edge.
_TABLE = (
    ("wedge", 1, "01 02", "2 1 1", "0 0"),
    ("triangle", 2, "01 02 12", "3 3 3", "1 1 1"),
    ("3-star", 4, "01 02 03", "7 6 6 6", "4 4 4"),
    ("3-path", 3, "01 12 23", "4 5 5 4", "2 3 2"),
    ("tailed-triangle", 6, "01 12 13 23", "9 11 10 10", "6 8 8 7"),
    ("4-cycle", 5, "01 12 23 30", "8 8 8 8", "5 5 5 5"),
    ("diamond", 7, "01 02 03 12 13", "13 13 12 12", "10 9 9 9 9"),
    ("4-clique", 8, "01 02 03 12 13 23", "14 14 14 14", "11 11 11 11 11 11"),
    ("4-star", 11, "01 02 03 04", "23 22 22 22 22", "17 17 17 17"),
    ("prong", 10, "01 02 03 34", "21 19 19 20 18", "15 15 16 14"),
    ("4-path", 9, "01 12 23 34", "15 16 17 16 15", "12 13 13 12"),
    ("forktailed-triangle", 14, "01 02 12 03 04", "33 32 32 31 31", "27 27 26 25 25"),
    ("longtailed-triangle", 13, "01 02 12 03 34", "30 29 29 28 27", "24 24 23 22 21"),
    ("doubletailed-triangle", 12, "01 02 12 03 14", "26 26 25 24 24", "20 19 19 18 18"),
    ("tailed-4-cycle", 16, "01 12 23 30 04", "38 37 36 37 35", "31 30 30 31 29"),
    ("5-cycle", 15, "01 12 23 34 40", "34 34 34 34 34", "28 28 28 28 28"),
    ("hourglass", 18, "01 02 12 03 04 34", "44 43 43 43 43", "37 37 36 37 37 36"),
    ("cobra", 19, "01 02 03 12 13 24", "48 48 47 46 45", "41 40 39 40 39 38"),
    ("stingray", 17, "01 02 03 12 13 04", "42 41 40 40 39", "35 34 34 33 33 32"),
    ("hatted-4-cycle", 21, "01 12 23 30 04 14", "53 53 51 51 52", "46 44 43 44 45 45"),
    ("3-wedge-collision", 20, "02 03 04 12 13 14", "50 50 49 49 49", "42 42 42 42 42 42"),
    ("3-triangle-collision", 22, "01 02 03 04 12 13 14", "55 55 54 54 54", "48 47 47 47 47 47 47"),
    ("tailed-4-clique", 23, "01 02 03 12 13 23 04", "58 57 57 57 56", "51 51 51 50 50 50 49"),
    ("triangle-strip", 24, "01 02 03 04 12 23 34", "61 59 60 60 59", "53 55 55 53 52 54 52"),
    ("diamond-wedge-collision", 25, "02 03 04 12 13 14 23", "63 63 64 64 62", "57 57 56 57 57 56 58"),
    ("4-wheel", 27, "01 02 03 04 12 23 34 41", "69 68 68 68 68", "64 64 64 64 63 63 63 63"),
    ("hatted-4-clique", 26, "01 02 03 12 13 23 04 14", "67 67 66 66 65", "62 61 61 61 61 60 59 59"),
    ("almost-5-clique", 28, "01 02 03 04 12 13 14 23 24", "71 71 71 70 70", "66 66 65 65 66 65 65 65 65"),
    ("5-clique", 29, "01 02 03 04 12 13 14 23 24 34", "72 72 72 72 72", "67 67 67 67 67 67 67 67 67 67"),
)


@dataclass(frozen=True)
class Pattern:
    """A connected graph of 3 to 5 vertices; `vertex_orbits[v]` and `edge_orbits[i]` are of vertex v and of `edges[i]`."""

    id: str
    name: str
    graphlet: str
    edges: tuple[tuple[int, int], ...]
    vertex_orbits: tuple[int, ...]
    edge_orbits: tuple[int, ...]

    @property
    def num_vertices(self) -> int:
        return len(self.vertex_orbits)

    @property
    def num_edges(self) -> int:
        return len(self.edges)

    @cached_property
    def automorphisms(self) -> int:
        """The number of ways to map the pattern onto itself."""
        own = frozenset(self.edges)
        return sum(_renamed(self.edges, names) == own for names in permutations(range(self.num_vertices)))


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split())


PATTERNS = tuple(
    Pattern(
        id=f"H{i}",
        name=name,
        graphlet=f"G{graphlet}",
        edges=tuple((min(a, b), max(a, b)) for a, b in (map(int, pair) for pair in edges.split())),
        vertex_orbits=_numbers(vertex_orbits),
        edge_orbits=_numbers(edge_orbits),
    )
    for i, (name, graphlet, edges, vertex_orbits, edge_orbits) in enumerate(_TABLE, start=1)
)


def patterns(size: int) -> tuple[Pattern, ...]:
    """All patterns of up to `size` vertices."""
    return PATTERNS[: NUM_PATTERNS[size]]


class ByPattern:
    """A result with a value for every pattern of up to `size` vertices."""

    size: int

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns in the order of the values."""
        return patterns(self.size)

    @property
    def ids(self) -> tuple[str, ...]:
        """H1, H2, .."""
        return tuple(pattern.id for pattern in self.patterns)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the patterns."""
        return tuple(pattern.name for pattern in self.patterns)


def _renamed(edges: Sequence[tuple[int, int]], names: Sequence[int]) -> frozenset[tuple[int, int]]:
    return frozenset((min(names[a], names[b]), max(names[a], names[b])) for a, b in edges)


@dataclass(frozen=True)
class Placed:
    """The pattern that a set of edges forms on given vertices: its number, and the orbit of each vertex and edge."""

    pattern: int
    vertex_orbits: tuple[int, ...]
    edge_orbits: dict[tuple[int, int], int]


@cache
def placements() -> dict[tuple[int, frozenset[tuple[int, int]]], Placed]:
    """Every connected graph on the vertices 0 .. n - 1 for n from 3 to 5, by (n, edges)."""
    found = {}
    for number, pattern in enumerate(PATTERNS):
        n = pattern.num_vertices
        for names in permutations(range(n)):
            edges = _renamed(pattern.edges, names)
            if (n, edges) in found:
                continue
            vertex_orbits = [0] * n
            for v, orbit in zip(names, pattern.vertex_orbits, strict=True):
                vertex_orbits[v] = orbit
            ends = [(names[a], names[b]) for a, b in pattern.edges]
            edge_orbits = {(min(e), max(e)): orbit for e, orbit in zip(ends, pattern.edge_orbits, strict=True)}
            found[n, edges] = Placed(number, tuple(vertex_orbits), edge_orbits)
    return found


def _spanning(pattern: Pattern) -> list[Placed]:
    """The connected subgraphs of a pattern with all its vertices."""
    n, table = pattern.num_vertices, placements()
    chosen = (c for k in range(n - 1, pattern.num_edges + 1) for c in combinations(pattern.edges, k))
    return [table[n, edges] for edges in map(frozenset, chosen) if (n, edges) in table]


@cache
def pattern_matrix() -> Int64Array:
    """The matrix M with `copies = M @ induced copies`, for the 29 patterns."""
    matrix = np.zeros((len(PATTERNS), len(PATTERNS)), np.int64)
    for j, pattern in enumerate(PATTERNS):
        for part in _spanning(pattern):
            matrix[part.pattern, j] += 1
    return _read_only(matrix)


@cache
def vertex_orbit_matrix() -> Int64Array:
    """The same matrix for the 73 orbits of a vertex."""
    matrix = np.zeros((NUM_VERTEX_ORBITS[5], NUM_VERTEX_ORBITS[5]), np.int64)
    matrix[0, 0] = 1  # the degree
    for pattern in PATTERNS:
        one_of_each = {orbit: v for v, orbit in enumerate(pattern.vertex_orbits)}
        for part in _spanning(pattern):
            for orbit, v in one_of_each.items():
                matrix[part.vertex_orbits[v], orbit] += 1
    return _read_only(matrix)


@cache
def edge_orbit_matrix() -> Int64Array:
    """The same matrix for the 68 orbits of an edge."""
    matrix = np.zeros((NUM_EDGE_ORBITS[5], NUM_EDGE_ORBITS[5]), np.int64)
    for pattern in PATTERNS:
        one_of_each = dict(zip(pattern.edge_orbits, pattern.edges, strict=True))
        for part in _spanning(pattern):
            for orbit, edge in one_of_each.items():
                if edge in part.edge_orbits:
                    matrix[part.edge_orbits[edge], orbit] += 1
    return _read_only(matrix)


def inverse(matrix: Int64Array) -> Int64Array:
    """The inverse of a matrix 1 + N. N only leads to patterns with more edges, so its powers become zero."""
    identity = np.eye(len(matrix), dtype=np.int64)
    step = identity - matrix
    total, power = identity.copy(), step
    while power.any():
        total += power
        power = power @ step
    return _read_only(total)


def _read_only(matrix: Int64Array) -> Int64Array:
    matrix.flags.writeable = False
    return matrix
