"""Cliques of every size in one search."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from math import comb
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import graphlode as gl
from graphlode.datasets import dataset, dataset_names
from graphlode.errors import InputError
from strategies import EdgeList, edge_lists

TRUTH = json.loads((Path(__file__).parents[1] / "data" / "truth" / "cliques.json").read_text("utf-8"))["graphs"]


@settings(max_examples=15)
@given(edges=edge_lists(most_vertices=65, most_edges=250))
def test_every_size_is_what_counting_it_alone_gives(device: str, edges: EdgeList) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)
    if device == "reference":
        found = gl.count_all_cliques(graph, 5, devices=device)
    else:
        found = gl.count_all_cliques(graph, devices=device)
        assert found[max(found.counts, default=0) + 1] == 0
    for k in range(1, 6):
        assert found[k] == gl.count_cliques(graph, k, devices="cpu", method="enumerate").total


@pytest.mark.parametrize("name", sorted(set(TRUTH) & set(dataset_names())))
def test_bundled_graphs_have_the_true_counts(name: str) -> None:
    graph = dataset(name, directed=False)
    found = gl.count_all_cliques(graph, 12, devices="cpu")
    assert {str(k): found[k] for k in range(3, 13) if str(k) in TRUTH[name]} == {
        k: count for k, count in TRUTH[name].items() if int(k) <= 12
    }


@pytest.mark.parametrize("n", [1, 2, 3, 33, 65, 129])
def test_complete_graphs_are_a_row_of_binomials(device: str, n: int) -> None:
    if device == "reference" and n > 3:
        pytest.skip("too slow for the reference")
    assert dict(gl.count_all_cliques(gl.complete(n), devices=device).counts) == {k: comb(n, k) for k in range(1, n + 1)}
    assert dict(gl.count_all_cliques(gl.complete(n), 3, devices=device).counts) == {
        k: comb(n, k) for k in range(1, min(n, 3) + 1)
    }


def test_all_sizes_of_a_graph_with_huge_counts() -> None:
    n = 260
    counts = gl.count_all_cliques(gl.complete(n), devices="cpu").counts
    assert counts[130] == comb(260, 130) > 2**128


def test_mixtures_of_devices_give_the_same_answer(devices: Any) -> None:
    found = gl.count_all_cliques(dataset("football"), devices=devices)
    assert [found[k] for k in range(3, 11)] == [TRUTH["football"][str(k)] for k in range(3, 11)]


def test_sizes_that_were_not_counted_are_no_zeros() -> None:
    found = gl.count_all_cliques(gl.complete(6), 4, devices="cpu")
    assert found[4] == 15 and list(found.counts) == [1, 2, 3, 4] and found.total == 56
    for k in (5, 0):
        with pytest.raises(KeyError):
            found[k]


def test_an_empty_graph_has_none(device: str) -> None:
    assert dict(gl.count_all_cliques(gl.from_edges([], []), devices=device).counts) == {}


@pytest.mark.parametrize("max_k", [0, -3, 1.5, "4"])
def test_a_wrong_largest_size_is_refused(max_k: Any) -> None:
    with pytest.raises(InputError, match="max_k must be an integer of at least 1"):
        gl.count_all_cliques(gl.complete(4), max_k)


def test_the_result_is_json_table_and_picklable() -> None:
    found = gl.count_all_cliques(gl.complete(4), devices="cpu")
    assert json.loads(json.dumps(found.to_dict()))["counts"] == {"1": 4, "2": 6, "3": 4, "4": 1}
    assert found.to_pandas()["cliques"].tolist() == [4, 6, 4, 1]
    assert pickle.loads(pickle.dumps(found)).counts == found.counts


@pytest.mark.slow
def test_a_real_graph_with_a_clique_of_hundreds(real_graph: Callable[..., gl.Graph]) -> None:
    found = gl.count_all_cliques(real_graph("ca-HepPh"), devices="cpu")
    assert [found[k] for k in range(3, 13)] == [TRUTH["ca-HepPh"][str(k)] for k in range(3, 13)]
    assert max(found.counts) == 239


@pytest.mark.parametrize("max_k", [1, 2])
@pytest.mark.parametrize("devices", ["cpu", ["cpu", "cpu", "cpu"]], ids=["alone", "shared"])
def test_vertices_and_edges_alone_need_no_search(max_k: int, devices: Any) -> None:
    graph = gl.erdos_renyi(150, p=0.9, seed=4)
    found = gl.count_all_cliques(graph, max_k, devices=devices)
    assert dict(found.counts) == {k: [150, graph.num_edges][k - 1] for k in range(1, max_k + 1)}
    with pytest.raises(KeyError):
        found[max_k + 1]


@pytest.mark.parametrize("max_k", [10**6, 10**30])
def test_a_largest_size_beyond_all_cliques_costs_nothing(device: str, max_k: int) -> None:
    found = gl.count_all_cliques(gl.complete(6), max_k, devices=device)
    assert dict(found.counts) == {k: comb(6, k) for k in range(1, 7)}
    assert found.max_k == max_k and found[max_k] == 0
    assert dict(gl.count_all_cliques(gl.path(1), max_k, devices=device).counts) == {1: 1}
