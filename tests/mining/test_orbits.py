"""Orbits: all small graphs, ORCA's numbers, sums against motif counts, and every device like the reference."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.cpu.mining import orbit_formulas
from graphlode.datasets import dataset, dataset_names
from graphlode.errors import CountOverflowError, InputError
from graphlode.mining.patterns import (
    NUM_EDGE_ORBITS,
    NUM_PATTERNS,
    NUM_VERTEX_ORBITS,
    PATTERNS,
    edge_orbit_matrix,
    vertex_orbit_matrix,
)
from motif_oracle import all_connected_graphs, graph_of, look_at_all, random_graphs
from strategies import EdgeList, edge_lists, relabellings

FOLDER = Path(__file__).parents[1] / "data" / "truth"
WITH_ORBITS = sorted(path.name.partition(".")[0] for path in FOLDER.glob("*.orbits_induced.npz"))
MOTIFS: dict[str, dict[str, Any]] = json.loads((FOLDER / "motifs.json").read_text("utf-8"))["graphs"]

SLOW = ("reference", "cuda-emulated")  # graphs of 6 vertices are enough here: those of 7 take seven times as long


def graph_from(edges: EdgeList) -> gl.Graph:
    return gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)


@pytest.mark.parametrize("size", [4, 5])
def test_every_connected_graph_of_up_to_7_vertices(device: str, size: Any) -> None:
    graph, oracle = all_connected_graphs(6 if device in SLOW else 7)
    found = gl.count_orbits(graph, size, devices=device)
    np.testing.assert_array_equal(found.values, oracle.vertices[:, : NUM_VERTEX_ORBITS[size]])
    at_edges = gl.count_orbits(graph, size, edges=True, devices=device)
    np.testing.assert_array_equal(at_edges.values, oracle.edges[:, : NUM_EDGE_ORBITS[size]])


def test_the_formulas_hold_on_random_graphs() -> None:
    for n, edges in random_graphs():
        graph, oracle = graph_of(n, edges), look_at_all(n, edges)
        np.testing.assert_array_equal(gl.count_orbits(graph, devices="reference").values, oracle.vertices)
        np.testing.assert_array_equal(gl.count_orbits(graph, edges=True, devices="reference").values, oracle.edges)


def test_all_copies_and_induced_ones_lead_to_each_other() -> None:
    graph, oracle = all_connected_graphs(7)
    found = gl.count_orbits(graph, induced=False, devices="cpu").values
    np.testing.assert_array_equal(found, oracle.vertices @ vertex_orbit_matrix().T)
    at_edges = gl.count_orbits(graph, induced=False, edges=True, devices="cpu").values
    np.testing.assert_array_equal(at_edges, oracle.edges @ edge_orbit_matrix().T)


@pytest.mark.parametrize("name", WITH_ORBITS)
def test_vertex_orbits_are_those_of_orca(name: str) -> None:
    graph = dataset(name)
    with np.load(FOLDER / f"{name}.orbits_induced.npz") as truth:
        ids, orbits = truth["ids"], truth["orbits"]
    np.testing.assert_array_equal(gl.count_orbits(graph, devices="cpu").values[graph.positions(ids)], orbits)


@pytest.mark.parametrize("name", ["karate", "dolphins"])
def test_vertex_orbits_are_those_of_orca_on_every_device(device: str, name: str) -> None:
    graph = dataset(name)
    with np.load(FOLDER / f"{name}.orbits_induced.npz") as truth:
        found = gl.count_orbits(graph, devices=device).values
        np.testing.assert_array_equal(found[graph.positions(truth["ids"])], truth["orbits"])


def check_sums(graph: gl.Graph, induced: list[int]) -> None:
    """Each copy of a pattern has as many vertices, and edges, in an orbit as the pattern itself."""
    vertices = gl.count_orbits(graph, devices="cpu").values.sum(axis=0)
    edges = gl.count_orbits(graph, edges=True, devices="cpu").values.sum(axis=0)
    for pattern, count in zip(PATTERNS, induced, strict=True):
        for orbit in pattern.vertex_orbits:
            assert vertices[orbit] == count * pattern.vertex_orbits.count(orbit), (pattern.id, orbit)
        for orbit in pattern.edge_orbits:
            assert edges[orbit] == count * pattern.edge_orbits.count(orbit), (pattern.id, orbit)


@pytest.mark.parametrize("name", [name for name in dataset_names() if name in MOTIFS])
def test_orbits_add_up_to_motifs(name: str) -> None:
    check_sums(dataset(name), MOTIFS[name]["induced"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ca-AstroPh", "ca-CondMat", "email-Eu-core", "soc-anybeat"])
def test_orbits_of_larger_graphs_add_up_to_motifs(real_graph: Callable[..., gl.Graph], name: str) -> None:
    check_sums(real_graph(name), MOTIFS[name]["induced"])


@given(edge_lists(most_vertices=65, most_edges=300), st.sampled_from([4, 5]), st.booleans())
@settings(max_examples=12)
def test_every_device_counts_like_the_reference(device: str, edges: EdgeList, size: Any, at_edges: bool) -> None:
    graph = graph_from(edges)
    expected = gl.count_orbits(graph, size, edges=at_edges, devices="reference")
    found = gl.count_orbits(graph, size, edges=at_edges, devices=device)
    np.testing.assert_array_equal(found.values, expected.values)


@given(st.data())
@settings(max_examples=15)
def test_orbits_follow_their_vertices_when_these_are_renamed(data: st.DataObject) -> None:
    edges = data.draw(edge_lists(most_vertices=65, most_edges=400))
    labels = data.draw(relabellings(edges.num_vertices))
    renamed = gl.from_edges(labels[edges.src], labels[edges.dst], num_vertices=edges.num_vertices)
    before, after = (gl.count_orbits(g, devices="cpu").values for g in (graph_from(edges), renamed))
    np.testing.assert_array_equal(after[labels], before)


def test_edge_orbits_are_in_the_order_of_the_edges(device: str) -> None:
    """A triangle with a tail, whose vertices come in no particular order."""
    graph = gl.from_edges([70, 10, 70, 40], [10, 40, 40, 55])
    found = gl.count_orbits(graph, 4, edges=True, devices=device, columns=[1, 6, 7, 8])
    rows = {tuple(edge): row for edge, row in zip(graph.edges().tolist(), found.values.tolist(), strict=True)}
    assert rows == {(10, 40): [1, 0, 0, 1], (10, 70): [1, 0, 1, 0], (40, 55): [0, 1, 0, 0], (40, 70): [1, 0, 0, 1]}


def test_columns_are_given_in_the_order_asked_for() -> None:
    graph = dataset("lesmis")
    all_of_them = gl.count_orbits(graph, devices="cpu")
    some = gl.count_orbits(graph, devices="cpu", columns=[72, 3, 15])
    np.testing.assert_array_equal(some.values, all_of_them.values[:, [72, 3, 15]])
    np.testing.assert_array_equal(some[3], all_of_them[3])
    assert some.names == ("o72", "o3", "o15") and some.shape == (77, 3)
    with pytest.raises(InputError, match="orbit 4"):
        some[4]


def test_orbits_beyond_64_bits_are_python_integers() -> None:
    n = 200_000
    found = gl.count_orbits(gl.star(n), devices="cpu", columns=[0, 7, 22, 23])
    assert found.values[0].tolist() == [n, comb(n, 3), 0, comb(n, 4)]
    assert found.values[1].tolist() == [1, 0, comb(n - 1, 3), 0]
    assert found.values.dtype == object and comb(n, 4) > 2**64
    at_edges = gl.count_orbits(gl.star(n), devices="cpu", edges=True, columns=[4, 17])
    assert at_edges.values[0].tolist() == [comb(n - 1, 2), comb(n - 1, 3)]


def test_raw_terms_that_may_overflow_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs that overflow are too large for a test, so the limit is lowered. It depends on paths of 2 and 3 edges."""
    n, paths2, paths3 = 6, 5 * 4, 5 * 4 * 3
    bound = 2.0 * ((n - 1) * paths3 + (n - 2) * paths3 + paths2**2 / 2)
    monkeypatch.setattr(orbit_formulas, "LIMIT", bound + 1)
    assert gl.count_orbits(gl.complete(n), devices="cpu")[72].tolist() == [5] * n
    monkeypatch.setattr(orbit_formulas, "LIMIT", bound)
    for edges in (False, True):
        with pytest.raises(CountOverflowError, match="61 bits"):
            gl.count_orbits(gl.complete(n), edges=edges, devices="cpu")
    assert gl.count_orbits(gl.complete(n), 4, devices="cpu")[14].tolist() == [10] * n


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 15])
def test_every_vertex_of_a_complete_graph_is_in_cliques_only(device: str, n: int) -> None:
    values = gl.count_orbits(gl.complete(n), devices=device).values
    expected = np.zeros((n, 73), np.int64)
    expected[:, [0, 3, 14, 72]] = [n - 1, comb(max(n - 1, 0), 2), comb(max(n - 1, 0), 3), comb(max(n - 1, 0), 4)]
    np.testing.assert_array_equal(values, expected)


def test_a_graph_without_edges_has_rows_of_zeros(device: str) -> None:
    graph = gl.from_edges([], [], num_vertices=5)
    assert gl.count_orbits(graph, devices=device).values.tolist() == [[0] * 73] * 5
    assert gl.count_orbits(graph, edges=True, devices=device).values.shape == (0, 68)


@pytest.mark.parametrize(
    "devices",
    [["cpu", "reference"], ["cuda-emulated", "cpu"], ["cuda-emulated", "cuda-emulated"], ["cpu", "cpu", "reference"]],
    ids=",".join,
)
@pytest.mark.parametrize(("size", "at_edges"), [(4, False), (4, True), (5, False), (5, True)])
def test_devices_share_the_rows(devices: list[str], size: Any, at_edges: bool) -> None:
    graph = dataset("lesmis")
    expected = gl.count_orbits(graph, size, edges=at_edges, devices="cpu")
    found = gl.count_orbits(graph, size, edges=at_edges, devices=devices)
    np.testing.assert_array_equal(found.values, expected.values)
    assert sum(found.provenance.units.values()) == graph.num_vertices


@given(edge_lists(most_vertices=40, most_edges=200), st.booleans(), st.integers(1, 9))
@settings(max_examples=12)
def test_any_proportion_of_the_rows_adds_up(edges: EdgeList, at_edges: bool, share: int) -> None:
    graph = graph_from(edges)
    expected = gl.count_orbits(graph, edges=at_edges, devices="reference")
    shares = {"cpu": share, "reference": 10 - share}
    found = gl.count_orbits(graph, edges=at_edges, devices=["cpu", "reference"], shares=shares)
    np.testing.assert_array_equal(found.values, expected.values)


@pytest.mark.gpu
@pytest.mark.parametrize("devices", [["cuda:0", "cpu"], ["cuda:0", "cuda:0"]], ids=",".join)
@pytest.mark.parametrize("at_edges", [False, True])
def test_a_cuda_device_shares_the_rows(devices: list[str], at_edges: bool) -> None:
    graph = gl.rmat(10, 8, seed=3)
    expected = gl.count_orbits(graph, edges=at_edges, devices="cpu")
    for shares in ("auto", {"cuda:0": 1, "cpu": 1} if "cpu" in devices else "auto"):
        found = gl.count_orbits(graph, edges=at_edges, devices=devices, shares=shares)
        np.testing.assert_array_equal(found.values, expected.values)


@pytest.mark.parametrize(
    "wrong", [{"size": 3}, {"size": 6}, {"edges": 1}, {"columns": [73]}, {"columns": [-1]}, {"devices": "gpu7"}]
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        gl.count_orbits(dataset("karate"), **wrong)


def test_results_become_tables_and_plain_values() -> None:
    found = gl.count_orbits(dataset("karate"), 4, devices="cpu")
    frame = found.to_pandas()
    assert list(frame.columns) == ["vertex", *(f"o{i}" for i in range(15))] and len(frame) == 34
    plain = found.to_dict()
    assert json.loads(json.dumps(plain))["values"] == found.values.tolist()
    assert plain["of"] == "vertices" and plain["counted"] == "induced"
    assert "<table" in found._repr_html_()
    edges = gl.count_orbits(dataset("karate"), 4, edges=True, devices="cpu").to_pandas()
    assert list(edges.columns)[:3] == ["source", "target", "e0"]
    with pytest.raises(ValueError, match="read-only"):
        found.values[0, 0] = 1


def test_numbers_of_orbits_fit_the_patterns() -> None:
    for size in (4, 5):
        graph = dataset("karate")
        assert gl.count_orbits(graph, size, devices="cpu").shape == (34, NUM_VERTEX_ORBITS[size])
        assert gl.count_orbits(graph, size, devices="cpu", edges=True).shape == (78, NUM_EDGE_ORBITS[size])
        assert NUM_PATTERNS[size] in (8, 29)
