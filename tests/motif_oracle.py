"""Motifs and orbits by enumerating all sets of 3, 4 and 5 vertices, for small graphs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import graphlode as gl
from graphlode.mining.patterns import placements


@dataclass(frozen=True)
class Oracle:
    """Induced counts: of patterns, of each vertex and of each edge (u, v), u < v, in ascending order."""

    motifs: NDArray[np.int64]
    vertices: NDArray[np.int64]
    edges: NDArray[np.int64]


def look_at_all(num_vertices: int, edges: Iterable[tuple[int, int]]) -> Oracle:
    present = sorted({(min(e), max(e)) for e in edges})
    place = {edge: i for i, edge in enumerate(present)}
    motifs = np.zeros(29, np.int64)
    vertices = np.zeros((num_vertices, 73), np.int64)
    at_edges = np.zeros((len(present), 68), np.int64)
    for u, v in present:
        vertices[[u, v], 0] += 1
    for k in (3, 4, 5):
        for chosen in combinations(range(num_vertices), k):
            pairs = combinations(range(k), 2)
            inside = frozenset((i, j) for i, j in pairs if (chosen[i], chosen[j]) in place)
            found = placements().get((k, inside))
            if found is None:
                continue
            motifs[found.pattern] += 1
            for i, orbit in enumerate(found.vertex_orbits):
                vertices[chosen[i], orbit] += 1
            for (i, j), orbit in found.edge_orbits.items():
                at_edges[place[chosen[i], chosen[j]], orbit] += 1
    return Oracle(motifs, vertices, at_edges)


@cache
def all_connected_graphs(most_vertices: int) -> tuple[gl.Graph, Oracle]:
    """All connected graphs of up to `most_vertices` vertices, 7 at most, side by side in one graph, with its counts."""
    parts, edges, begin = [], [], 0
    for graph in nx.graph_atlas_g():
        if 0 < graph.number_of_nodes() <= most_vertices and nx.is_connected(graph):
            parts.append(look_at_all(graph.number_of_nodes(), graph.edges()))
            edges += [(begin + u, begin + v) for u, v in sorted(map(sorted, graph.edges()))]
            begin += graph.number_of_nodes()
    src, dst = np.array(edges, np.int64).T
    oracle = Oracle(
        np.sum([part.motifs for part in parts], axis=0),
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.edges for part in parts]),
    )
    return gl.from_edges(src, dst, num_vertices=begin), oracle


def random_graphs() -> list[tuple[int, list[tuple[int, int]]]]:
    """Graphs of up to 10 vertices and of every density."""
    rng = np.random.default_rng(7)
    graphs = []
    for number in range(40):
        n, density = int(rng.integers(3, 11)), (0.2, 0.4, 0.6, 0.8, 0.95)[number % 5]
        graphs.append((n, [pair for pair in combinations(range(n), 2) if rng.random() < density]))
    return graphs


def graph_of(num_vertices: int, edges: list[tuple[int, int]]) -> gl.Graph:
    ends = np.array(edges, np.int64).reshape(-1, 2)
    return gl.from_edges(ends[:, 0], ends[:, 1], num_vertices=num_vertices)
