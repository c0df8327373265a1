"""Live comparison with networkx, on its own graphs and with its own meaning of each function."""

from __future__ import annotations

from typing import Any

import networkx as nx
import pytest

import graphlode as gl

pytestmark = pytest.mark.peer

GRAPHS: dict[str, Any] = {
    "karate": nx.karate_club_graph,
    "florentine": nx.florentine_families_graph,
    "les-miserables": nx.les_miserables_graph,
    "petersen": nx.petersen_graph,
    "barbell": lambda: nx.barbell_graph(10, 5),
    "caveman": lambda: nx.connected_caveman_graph(12, 6),
    "turan": lambda: nx.turan_graph(30, 4),
    "watts-strogatz": lambda: nx.watts_strogatz_graph(300, 8, 0.1, seed=1),
    "power-law": lambda: nx.powerlaw_cluster_graph(400, 5, 0.6, seed=1),
    "geometric": lambda: nx.random_geometric_graph(300, 0.12, seed=1),
    "scale-free-directed": lambda: nx.DiGraph(nx.scale_free_graph(200, seed=1)),
    "negative-and-far-ids": lambda: nx.relabel_nodes(
        nx.krackhardt_kite_graph(), {v: (v - 5) * 10**15 for v in range(10)}
    ),
    "empty": lambda: nx.empty_graph(7),
    "null": nx.null_graph,
}


def simple(graph: Any) -> Any:
    """Undirected and without self-loops, as networkx' functions want it, with sorted or numbered nodes."""
    plain = nx.Graph(graph)
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    return plain


def in_our_order(graph: Any, values: dict[Any, int]) -> list[int]:
    nodes = list(graph.nodes)
    return [values[v] for v in (sorted(nodes) if all(isinstance(v, int) for v in nodes) else nodes)]


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_triangles(name: str) -> None:
    graph = GRAPHS[name]()
    theirs = nx.triangles(simple(graph))
    found = gl.count_triangles(graph, by="vertex", devices="cpu")
    assert found.by_vertex is not None
    assert found.by_vertex.tolist() == in_our_order(graph, theirs)
    assert found.total == sum(theirs.values()) // 3


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_core_numbers(name: str) -> None:
    graph = GRAPHS[name]()
    theirs = nx.core_number(simple(graph))
    assert gl.core_numbers(graph, devices="cpu").values.tolist() == in_our_order(graph, theirs)


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_components_and_levels(name: str) -> None:
    graph = GRAPHS[name]()
    theirs = simple(graph)
    ours = gl.from_networkx(theirs)
    assert gl.connected_components(graph, devices="cpu").count == nx.number_connected_components(theirs)
    first = in_our_order(theirs, {v: v for v in theirs})[0] if len(theirs) else None
    if first is not None:
        levels = nx.single_source_shortest_path_length(theirs, first)
        found = gl.bfs(ours, 0, indices=True, devices="cpu").levels.tolist()
        assert found == in_our_order(theirs, {v: levels.get(v, -1) for v in theirs})


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_sizes_neighbors_and_degrees(name: str) -> None:
    theirs = simple(GRAPHS[name]())
    ours = gl.from_networkx(theirs)
    assert (len(ours), ours.num_edges) == (theirs.number_of_nodes(), theirs.number_of_edges())
    assert ours.degrees().tolist() == in_our_order(theirs, dict(theirs.degree))


@pytest.mark.parametrize("name", ["karate", "caveman", "power-law"])
def test_triangles_at_edges_are_common_neighbors(name: str) -> None:
    theirs = GRAPHS[name]()
    ours = gl.from_networkx(theirs)
    by_edge = gl.count_triangles(ours, by="edge", devices="cpu").by_edge
    assert by_edge is not None
    for (u, v), count in zip(ours.edges().tolist(), by_edge.tolist(), strict=True):
        assert count == len(set(nx.common_neighbors(theirs, u, v)))
