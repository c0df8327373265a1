"""Graphs for the motif kernels, small enough for the reference and yet with hubs, cliques and every class of tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.execute.devices import resolve
from graphlode.mining.supports import Supported
from graphlode.reference.mining import supports as reference_supports
from kernel_bench import csr, symmetric

Edges = Iterator[tuple[int, int]]


def random_edges(num_vertices: int, num_edges: int, seed: int) -> Edges:
    """A graph with very different degrees: low numbers are drawn more often."""
    drawn = np.random.default_rng(seed).random((num_edges, 2)) ** 2
    return ((int(u), int(v)) for u, v in (drawn * num_vertices).astype(int).tolist() if u != v)


def uneven() -> list[set[int]]:
    """Random, with a clique of 12 on top."""
    return symmetric(120, [*random_edges(120, 700, 3), *combinations(range(30, 42), 2)])


def mixed() -> list[set[int]]:
    """Small, with all densities: a clique of 7, random edges, and a few tails."""
    return symmetric(45, [*random_edges(40, 130, 5), *combinations(range(20, 27), 2), (40, 41), (41, 1), (2, 42)])


def hubs() -> list[set[int]]:
    """Three hubs, two of them adjacent, that share 1,100 leaves: the last leaf has some 3,000 wedges below it."""
    leaves = range(3, 1103)
    edges = [(hub, leaf) for hub in (0, 1) for leaf in leaves]
    edges += [(2, leaf) for leaf in leaves if leaf % 3]
    edges += [(0, 1), *((leaf, leaf + 7) for leaf in range(3, 1000, 40))]
    return symmetric(1110, [*edges, (1103, 1104), (1104, 1105), (0, 1106)])


def twins() -> list[set[int]]:
    """Four hubs with the same neighbors, three others, and one that ranks above them all and has them as neighbors."""
    first, second, top = range(4), range(4, 7), 7
    edges = [*combinations(first, 2), *combinations(second, 2)]
    edges += [(hub, leaf) for hub in first for leaf in range(8, 60)] + [
        (hub, leaf) for hub in second for leaf in range(40, 85)
    ]
    edges += [(top, other) for other in (*first, *range(8, 85))]
    return symmetric(90, [*edges, *((8 + u, 8 + v) for u, v in random_edges(78, 90, 6))])


def dense() -> list[set[int]]:
    """Rows long enough that local graphs have tiles and lists of more than 32 words."""
    rng = np.random.default_rng(8)
    edges = [(0, v) for v in range(1, 1200)]
    edges += [(1, v) for v in range(2, 1200) if rng.random() < 0.8]
    edges += [(int(u), int(v)) for u, v in rng.integers(2, 1200, (1500, 2)) if u != v]
    return symmetric(1200, edges)


GRAPHS: dict[str, Callable[[], list[set[int]]]] = {
    "no edges": lambda: symmetric(3, []),
    "one edge": lambda: symmetric(2, [(0, 1)]),
    "a star": lambda: symmetric(40, ((0, v) for v in range(1, 40))),
    "a cycle": lambda: symmetric(5, ((v, (v + 1) % 5) for v in range(5))),
    "complete": lambda: symmetric(34, combinations(range(34), 2)),
    "bipartite": lambda: symmetric(40, ((u, v) for u in range(6) for v in range(6, 40))),
    "uneven": uneven,
}

SMALL_GRAPHS = {name: GRAPHS[name] for name in ("no edges", "one edge", "a star", "a cycle")} | {
    "complete": lambda: symmetric(11, combinations(range(11), 2)),
    "bipartite": lambda: symmetric(16, ((u, v) for u in range(4) for v in range(4, 16))),
    "tails": lambda: symmetric(12, [*combinations(range(4), 2), *((v % 4, v) for v in range(4, 12))]),
    "mixed": mixed,
}


@cache
def supported(graph: Callable[[], list[set[int]]]) -> dict[str, Any]:
    """The view of a graph, by the reference."""
    device: Any = resolve("reference")[0]
    return reference_supports.build(device, csr(graph()), Supported(), control=Control())
