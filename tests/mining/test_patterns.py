"""The 29 patterns and their matrices against the recorded truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from graphlode.mining.patterns import (
    NUM_EDGE_ORBITS,
    NUM_PATTERNS,
    NUM_VERTEX_ORBITS,
    PATTERNS,
    Pattern,
    edge_orbit_matrix,
    inverse,
    pattern_matrix,
    patterns,
    placements,
    vertex_orbit_matrix,
)

TRUTH: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "truth" / "patterns.json").read_text("utf-8"))


def as_networkx(pattern: Pattern) -> nx.Graph:
    return nx.Graph(list(pattern.edges))


@pytest.mark.parametrize("number", range(29))
def test_a_pattern_is_what_the_truth_says(number: int) -> None:
    pattern, truth = PATTERNS[number], TRUTH["patterns"][number]
    assert (pattern.id, pattern.name, pattern.graphlet) == (truth["id"], truth["name"], truth["przulj_graphlet"])
    assert [sorted(edge) for edge in truth["edges"]] == [list(edge) for edge in pattern.edges]
    assert list(pattern.vertex_orbits) == truth["vertex_orbit"]
    assert list(pattern.edge_orbits) == truth["edge_orbit_orca"]
    assert pattern.automorphisms == truth["automorphisms"]
    assert (pattern.num_vertices, pattern.num_edges) == (truth["n"], truth["m"])


def test_patterns_are_all_connected_graphs_of_3_to_5_vertices() -> None:
    atlas = [g for g in nx.graph_atlas_g() if 3 <= g.number_of_nodes() <= 5 and nx.is_connected(g)]
    assert len(atlas) == len(PATTERNS)
    assert all(sum(nx.is_isomorphic(g, as_networkx(pattern)) for pattern in PATTERNS) == 1 for g in atlas)


def test_orbits_are_exactly_what_automorphisms_exchange() -> None:
    """Two vertices, or edges, have the same orbit if and only if an automorphism leads from one to the other."""
    for pattern in PATTERNS:
        graph = as_networkx(pattern)
        maps = list(nx.isomorphism.GraphMatcher(graph, graph).isomorphisms_iter())
        for v in graph:
            reached = {image[v] for image in maps}
            assert reached == {u for u in graph if pattern.vertex_orbits[u] == pattern.vertex_orbits[v]}
        orbit = dict(zip(pattern.edges, pattern.edge_orbits, strict=True))
        for a, b in pattern.edges:
            reached_edges = {tuple(sorted((image[a], image[b]))) for image in maps}
            assert reached_edges == {edge for edge in pattern.edges if orbit[edge] == orbit[a, b]}


def test_orbits_are_numbered_without_gaps() -> None:
    for size in (3, 4, 5):
        vertex = {orbit for pattern in patterns(size) for orbit in pattern.vertex_orbits}
        edge = {orbit for pattern in patterns(size) for orbit in pattern.edge_orbits}
        assert vertex | {0} == set(range(NUM_VERTEX_ORBITS[size])) and edge == set(range(NUM_EDGE_ORBITS[size]))
        assert max(pattern.num_vertices for pattern in patterns(size)) == size
        assert len(patterns(size)) == NUM_PATTERNS[size]


@pytest.mark.parametrize(
    ("matrix", "name"), [(pattern_matrix, "M"), (vertex_orbit_matrix, "OM"), (edge_orbit_matrix, "EM")]
)
def test_conversion_matrices_and_their_inverses_match_the_truth(matrix: Any, name: str) -> None:
    found = matrix()
    np.testing.assert_array_equal(found, TRUTH[name])
    np.testing.assert_array_equal(inverse(found), TRUTH[f"{name}inv"])
    np.testing.assert_array_equal(found @ inverse(found), np.eye(len(found), dtype=int))
    assert not found.flags.writeable


def test_every_labelled_connected_graph_has_a_place() -> None:
    """1 + 3, 38 and 728 connected graphs on 3, 4 and 5 named vertices."""
    sizes = [n for n, _ in placements()]
    assert [sizes.count(n) for n in (3, 4, 5)] == [4, 38, 728]
