"""k-cliques: known answers, closed forms, properties, and agreement of every method on every device."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from itertools import combinations
from math import comb, prod
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.datasets import dataset, dataset_names
from graphlode.errors import InputError, UnsupportedError
from strategies import EdgeList, edge_lists, relabellings

TRUTH = json.loads((Path(__file__).parents[1] / "data" / "truth" / "cliques.json").read_text("utf-8"))["graphs"]
SMALL = sorted(set(TRUTH) & set(dataset_names()))
LARGE = ("email-Enron", "ca-HepPh", "dblp-2010", "soc-Slashdot0902", "mico", "uk-2007-05-100k", "cnr-2000")
METHODS = {
    "reference": ["auto"],
    "cpu": ["auto", "pivot", "enumerate", "set"],
    "cuda": ["auto", "pivot", "enumerate", "set", "bitmap", "warp", "thread"],
}
EVERYWHERE = ["auto", "pivot", "enumerate", "set"]


def methods_of(device: str) -> list[Any]:
    return METHODS[device.partition(":")[0].partition("-")[0]]


def graph_of(edges: EdgeList) -> gl.Graph:
    return gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)


def turan(n: int, parts: int) -> tuple[gl.Graph, list[int]]:
    """The complete graph of `parts` parts as even as possible, and the sizes of the parts."""
    part = np.arange(n) % parts
    src, dst = np.triu_indices(n, 1)
    across = part[src] != part[dst]
    return gl.from_edges(src[across], dst[across], num_vertices=n), np.bincount(part, minlength=parts).tolist()


def brute_force(edges: EdgeList, k: int) -> int:
    graph = nx.Graph(sorted(edges.simple()))
    return sum(len(clique) == k for clique in nx.enumerate_all_cliques(graph))


@pytest.mark.parametrize("name", SMALL)
def test_counts_of_bundled_graphs_are_the_true_ones(name: str) -> None:
    graph = dataset(name, directed=False)
    for k, expected in TRUTH[name].items():
        assert gl.count_cliques(graph, int(k), devices="cpu").total == expected


@pytest.mark.parametrize("method", EVERYWHERE)
def test_small_graphs_by_every_method_on_every_device(device: str, method: Any) -> None:
    for name in ("karate", "lesmis", "football"):
        for k in (3, 4, 5, 7, 11):
            expected = TRUTH[name].get(str(k), 0)
            assert gl.count_cliques(dataset(name), k, method=method, devices=device).total == expected


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 6, 9])
@settings(max_examples=15)
@given(edges=edge_lists(most_vertices=65, most_edges=300))
def test_every_method_agrees_with_the_reference(device: str, k: int, edges: EdgeList) -> None:
    graph = graph_of(edges)
    totals = {method: gl.count_cliques(graph, k, method=method, devices=device).total for method in methods_of(device)}
    assert set(totals.values()) == {totals["auto"]}, totals
    if k <= 4:
        assert totals["auto"] == gl.count_cliques(graph, k, devices="reference").total


@pytest.mark.parametrize("by", ["vertex", "edge"])
@pytest.mark.parametrize("method", ["pivot", "enumerate"])
@settings(max_examples=15)
@given(edges=edge_lists(most_vertices=33, most_edges=200), k=st.integers(1, 6))
def test_counts_at_each_vertex_and_edge_agree_with_the_reference(
    device: str, by: Any, method: Any, edges: EdgeList, k: int
) -> None:
    graph = graph_of(edges)
    expected = gl.count_cliques(graph, k, by=by, devices="reference")
    found = gl.count_cliques(graph, k, by=by, method=method, devices=device)
    assert found.total == expected.total
    np.testing.assert_array_equal(found.by_vertex, expected.by_vertex)
    np.testing.assert_array_equal(found.by_edge, expected.by_edge)


@given(edges=edge_lists(most_vertices=33, most_edges=150), k=st.integers(1, 7))
def test_the_reference_counts_what_networkx_lists(edges: EdgeList, k: int) -> None:
    isolated = edges.num_vertices - len({v for edge in edges.simple() for v in edge}) if k == 1 else 0
    assert gl.count_cliques(graph_of(edges), k, devices="reference").total == brute_force(edges, k) + isolated


@pytest.mark.parametrize("n", [3, 31, 32, 33, 34, 64, 65, 66])
@pytest.mark.parametrize("method", EVERYWHERE)
def test_complete_graphs_have_binomially_many(device: str, method: Any, n: int) -> None:
    if device == "reference" and n > 33:
        pytest.skip("too slow for the reference")
    graph = gl.complete(n)
    for k in (3, 4, n - 1, n, n + 1):
        if method in ("enumerate", "set") and comb(n, k) > 10**5:
            continue
        assert gl.count_cliques(graph, k, method=method, devices=device).total == comb(n, k)


@pytest.mark.parametrize("n", [130, 300, 700])
def test_counts_above_any_machine_word_are_exact(n: int) -> None:
    graph = gl.complete(n)
    for k in (n // 2, 3, n - 2):
        found = gl.count_cliques(graph, k, devices="cpu", method="pivot")
        assert found.total == comb(n, k)
    assert comb(n, n // 2) > 2**64


@pytest.mark.parametrize("by", ["vertex", "edge"])
def test_local_counts_above_any_machine_word_are_exact(device: str, by: Any) -> None:
    if device == "reference":
        pytest.skip("too slow for the reference")
    for n, k in ((70, 34), (140, 70)):
        found = gl.count_cliques(gl.complete(n), k, by=by, method="pivot", devices=device)
        counts = found.by_vertex if by == "vertex" else found.by_edge
        assert counts is not None and counts.dtype == object
        expected = comb(n - 1, k - 1) if by == "vertex" else comb(n - 2, k - 2)
        assert set(counts.tolist()) == {expected} and expected > 2**63


@pytest.mark.parametrize(("n", "parts"), [(12, 3), (20, 5), (34, 9), (29, 13)])
def test_turan_graphs_have_a_choice_of_parts(device: str, n: int, parts: int) -> None:
    graph, sizes = turan(n, parts)
    for k in (3, 4):
        expected = sum(prod(chosen) for chosen in combinations(sizes, k))
        for method in methods_of(device):
            assert gl.count_cliques(graph, k, method=method, devices=device).total == expected
    if device != "reference":
        assert gl.count_cliques(graph, parts, method="pivot", devices=device).total == prod(sizes)
        assert gl.count_cliques(graph, parts + 1, method="pivot", devices=device).total == 0


@pytest.mark.parametrize("d", [31, 32, 33, 63, 64, 65, 127, 128, 129, 256, 257])
def test_rows_on_both_sides_of_every_width(d: int) -> None:
    """A clique minus a matching around one vertex: a row of d entries whose counts are known."""
    src, dst = np.triu_indices(d, 1)
    kept = (src // 2 != dst // 2) | (src % 2 == 1)
    graph = gl.from_edges(
        np.concatenate([src[kept], np.arange(d)]), np.concatenate([dst[kept], np.full(d, d)]), num_vertices=d + 1
    )
    pairs, odd = d // 2, d % 2
    inside = [sum(comb(pairs, j) * 2**j * comb(odd, r - j) for j in range(r + 1)) for r in range(6)]
    for k in (3, 4, 5):
        assert gl.count_cliques(graph, k, method="pivot", devices="cpu").total == inside[k] + inside[k - 1]
    assert gl.count_cliques(graph, 4, method="enumerate", devices="cpu").total == inside[4] + inside[3]


@pytest.mark.parametrize("n", [513, 1024, 1025, 1026, 2049, 2050, 2100])
def test_long_rows(n: int) -> None:
    """Few roots of a complete graph without one edge have rows long enough for such large cliques."""
    src, dst = np.triu_indices(n, 1)
    graph = gl.from_edges(src[1:], dst[1:])
    for k in (n - 3, n - 2, n - 1, n):
        expected = comb(n, k) - comb(n - 2, k - 2)
        assert gl.count_cliques(graph, k, method="pivot", devices="cpu").total == expected
        if k == n - 1:
            assert gl.count_cliques(graph, k, method="enumerate", devices="cpu").total == expected


@settings(max_examples=15)
@given(data=st.data(), edges=edge_lists(most_vertices=33, most_edges=200))
def test_relabelling_keeps_counts(data: st.DataObject, edges: EdgeList) -> None:
    labels = data.draw(relabellings(edges.num_vertices))
    graph = graph_of(edges)
    again = gl.from_edges(labels[edges.src], labels[edges.dst], num_vertices=edges.num_vertices)
    for k in (3, 4, 6):
        before, after = (gl.count_cliques(g, k, by="vertex", devices="cpu") for g in (graph, again))
        assert before.by_vertex is not None and after.by_vertex is not None
        np.testing.assert_array_equal(after.by_vertex[labels], before.by_vertex)


@settings(max_examples=25)
@given(edges=edge_lists(most_edges=3000), k=st.integers(1, 8))
def test_sums_over_vertices_and_edges_are_multiples_of_the_total(edges: EdgeList, k: int) -> None:
    graph = graph_of(edges)
    by_vertex = gl.count_cliques(graph, k, by="vertex", devices="cpu")
    by_edge = gl.count_cliques(graph, k, by="edge", devices="cpu")
    assert by_vertex.by_vertex is not None and by_edge.by_edge is not None
    assert by_vertex.total == by_edge.total
    assert sum(by_vertex.by_vertex.tolist()) == k * by_vertex.total
    assert sum(by_edge.by_edge.tolist()) == comb(k, 2) * by_vertex.total


def test_mixtures_of_devices_give_the_same_answer(devices: Any) -> None:
    graph = dataset("jazz")
    for k in (3, 4):
        found = gl.count_cliques(graph, k, by="edge" if k == 4 else None, devices=devices)
        assert found.total == TRUTH["jazz"][str(k)]
        expected = gl.count_cliques(graph, k, by="edge" if k == 4 else None, devices="cpu")
        np.testing.assert_array_equal(found.by_edge, expected.by_edge)


def test_the_number_of_threads_makes_no_difference(threads: int) -> None:
    graph = dataset("email-Eu-core", directed=False)
    with gl.configure(threads=threads):
        for k, method in ((5, "pivot"), (5, "enumerate"), (4, "set"), (9, "auto")):
            found = gl.count_cliques(graph, k, method=method, by="vertex", devices="cpu")  # type: ignore[arg-type]
            assert found.total == TRUTH["email-Eu-core"][str(k)]
            assert found.by_vertex is not None and found.by_vertex.sum() == k * found.total


def test_cliques_larger_than_any_are_none(device: str) -> None:
    for method in methods_of(device):
        assert gl.count_cliques(gl.complete(5), 6, method=method, devices=device).total == 0  # type: ignore[arg-type]
        assert gl.count_cliques(gl.cycle(40), 3, method=method, devices=device).total == 0  # type: ignore[arg-type]
    assert gl.count_cliques(gl.complete(5), 10**6, devices=device).total == 0
    assert gl.count_cliques(gl.path(300), 200, by="vertex", devices=device).total == 0
    assert gl.count_cliques(gl.from_edges([], []), 4, by="vertex", devices=device).total == 0


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", None, True])
def test_a_wrong_k_is_refused(k: Any) -> None:
    with pytest.raises(InputError, match="k must be an integer of at least 1"):
        gl.count_cliques(gl.complete(4), k)


def test_wrong_words_are_refused() -> None:
    with pytest.raises(InputError, match='by must be None, "vertex" or "edge"'):
        gl.count_cliques(gl.complete(4), 3, by="node")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="method must be one of auto, pivot, enumerate"):
        gl.count_cliques(gl.complete(4), 3, method="fast")  # type: ignore[arg-type]


def test_a_method_that_a_device_lacks_is_refused_with_those_it_has() -> None:
    with pytest.raises(UnsupportedError, match="pivot"):
        gl.count_cliques(gl.complete(4), 3, method="warp", devices="cpu")


def test_numpy_integers_are_sizes() -> None:
    assert gl.count_cliques(gl.complete(5), np.int32(3)).total == 10  # type: ignore[arg-type]


def test_directed_graphs_are_counted_undirected_and_say_so() -> None:
    found = gl.count_cliques(dataset("CollegeMsg"), 4, devices="cpu")
    assert found.total == gl.count_cliques(dataset("CollegeMsg", directed=False), 4, devices="cpu").total
    assert any("undirected form" in note for note in found.provenance.notes)


def test_the_result_is_frozen_json_and_picklable() -> None:
    found = gl.count_cliques(gl.complete(6), 3, by="edge", devices="cpu")
    with pytest.raises(ValueError, match="read-only"):
        found.by_edge[0] = 1  # type: ignore[index]
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["k"] == 3 and plain["total"] == 20 and plain["by_edge"] == [4] * 15
    assert int(pickle.loads(pickle.dumps(found))) == 20
    frame = found.to_pandas()
    assert frame.columns.tolist() == ["source", "target", "cliques"] and frame["cliques"].sum() == 60
    huge = gl.count_cliques(gl.complete(100), 50, devices="cpu")
    assert json.loads(json.dumps(huge.to_dict()))["total"] == comb(100, 50)


def test_the_memory_can_be_estimated_before() -> None:
    needed = gl.estimate(gl.count_cliques, gl.complete(100), devices="cpu", k=5).needed
    assert needed > 0
    assert gl.estimate("count_cliques", gl.complete(100), devices="cpu", k=5, by="edge").needed > needed


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_counts_of_larger_real_graphs_are_the_true_ones(real_graph: Callable[..., gl.Graph], name: str) -> None:
    graph = real_graph(name)
    for k in (4, 6, 8, 12):
        if str(k) in TRUTH[name]:
            assert gl.count_cliques(graph, k, devices="cpu").total == TRUTH[name][str(k)]


@pytest.mark.gpu
@pytest.mark.parametrize("name", LARGE)
def test_the_gpu_counts_larger_real_graphs(real_graph: Callable[..., gl.Graph], name: str) -> None:
    graph = real_graph(name)
    for k in (4, 6, 8, 12):
        if str(k) in TRUTH[name]:
            assert gl.count_cliques(graph, k, devices="cuda:0", method="pivot").total == TRUTH[name][str(k)]
    for devices in (["cuda:0", "cpu"], ["cuda:0", "cuda:0"]):
        assert gl.count_cliques(graph, 5, devices=devices).total == TRUTH[name]["5"]
    for method in ("enumerate", "set", "bitmap", "warp", "thread"):
        assert gl.count_cliques(graph, 4, devices="cuda:0", method=method).total == TRUTH[name]["4"]  # type: ignore[arg-type]


def test_a_size_that_the_edges_cannot_make_is_not_searched_for() -> None:
    """No table of binomials is made for it: for a large k on a large graph that takes minutes and gigabytes."""
    path_and_clique = gl.from_edges(
        np.concatenate([np.arange(100_000), np.repeat(np.arange(60), 60)]),
        np.concatenate([np.arange(1, 100_001), np.tile(np.arange(60), 60)]),
    )
    for k in (61, 400, 50_000):
        for by in ("vertex", "edge"):
            found = gl.count_cliques(path_and_clique, k, by=by, method="pivot", devices="cpu")
            counts = found.by_vertex if by == "vertex" else found.by_edge
            assert found.total == 0 and counts is not None and not counts.any()
        assert list(gl.list_cliques(path_and_clique, k, devices="cpu")) == []
    assert gl.count_cliques(path_and_clique, 60, devices="cpu").total == 1
