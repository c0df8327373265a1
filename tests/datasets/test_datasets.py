from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import graphlode as gl
from graphlode.datasets import dataset, dataset_info, dataset_names, dataset_path
from graphlode.errors import InputError

TRUTH = Path(__file__).parent.parent / "data" / "truth"


@pytest.mark.parametrize("name", dataset_names())
def test_a_bundled_graph_is_what_its_table_says(name: str) -> None:
    info = dataset_info(name)
    graph = dataset(name)
    assert (graph.num_vertices, graph.num_edges, graph.directed) == (info.num_vertices, info.num_edges, info.directed)
    assert gl.count_triangles(graph).total == info.triangles
    assert gl.core_numbers(graph).degeneracy == info.degeneracy
    assert graph.weights is None
    assert (graph.times is not None) == (info.events is not None)


def test_a_temporal_graph_keeps_the_time_of_the_last_event_of_an_edge() -> None:
    from graphlode.io import read_edges

    graph = dataset("CollegeMsg")
    events = read_edges(dataset_path("CollegeMsg"), values="times")
    assert len(events) == dataset_info("CollegeMsg").events
    last = {(u, v): t for u, v, t in zip(events.src.tolist(), events.dst.tolist(), events.times.tolist(), strict=True)}
    assert graph.times is not None
    assert {tuple(e): t for e, t in zip(graph.edges().tolist(), graph.times.tolist(), strict=True)} == last


def test_a_directed_graph_can_be_loaded_undirected() -> None:
    graph = dataset("polblogs", directed=False)
    assert not graph.directed
    assert graph.num_edges == 16715
    assert np.array_equal(graph.ids, dataset("polblogs").ids)


def test_the_error_for_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="no bundled graph 'karat'.*karate, dolphins"):
        dataset("karat")


def test_triangles_and_recorded_truth_agree() -> None:
    cliques = json.loads((TRUTH / "cliques.json").read_text("utf-8"))["graphs"]
    shared = sorted(set(cliques) & set(dataset_names()))
    assert len(shared) >= 5
    assert all(cliques[name]["3"] == dataset_info(name).triangles for name in shared)
