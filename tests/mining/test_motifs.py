"""Motif counts: closed forms, all small graphs, the recorded truth, and every device like the reference."""

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
from graphlode.datasets import dataset, dataset_names
from graphlode.errors import InputError, UnsupportedError
from graphlode.mining.motif_formulas import counts_from_sums, raw_names
from graphlode.mining.motifs import work_per_row
from graphlode.mining.patterns import NUM_PATTERNS, pattern_matrix
from graphlode.mining.supports import Supported
from motif_oracle import all_connected_graphs, graph_of, look_at_all, random_graphs
from strategies import EdgeList, edge_lists, relabellings

TRUTH: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "truth" / "motifs.json").read_text("utf-8")
)["graphs"]
BUNDLED = [name for name in dataset_names() if name in TRUTH]
LARGER = sorted(set(TRUTH) - set(BUNDLED))

SLOW = ("reference", "cuda-emulated")  # graphs of 6 vertices are enough here: those of 7 take seven times as long


def graph_from(edges: EdgeList) -> gl.Graph:
    return gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)


def only(**counts: int) -> dict[str, int]:
    """A count for every pattern: those given, else 0."""
    return {f"H{i}": counts.get(f"H{i}", 0) for i in range(1, 30)}


def by_id(found: gl.MotifCounts) -> dict[str, int]:
    return dict(zip(found.ids, found.counts, strict=True))


def complete_bipartite(a: int, b: int) -> gl.Graph:
    left, right = np.meshgrid(np.arange(a), a + np.arange(b))
    return gl.from_edges(left.ravel(), right.ravel(), num_vertices=a + b)


def test_every_connected_graph_of_up_to_7_vertices(device: str) -> None:
    graph, oracle = all_connected_graphs(6 if device in SLOW else 7)
    for size in (3, 4, 5):
        found = gl.count_motifs(graph, size, devices=device)
        assert list(found.counts) == oracle.motifs[: NUM_PATTERNS[size]].tolist()


def test_the_reference_counts_what_looking_at_all_vertex_sets_finds() -> None:
    for n, edges in random_graphs():
        assert (
            list(gl.count_motifs(graph_of(n, edges), devices="reference").counts)
            == look_at_all(n, edges).motifs.tolist()
        )


@pytest.mark.parametrize("name", ["karate", "dolphins"])
def test_small_bundled_graphs_on_every_device_and_mixture(devices: Any, name: str) -> None:
    found = gl.count_motifs(dataset(name), devices=devices)
    assert list(found.noninduced) == TRUTH[name]["noninduced"]
    assert list(found.induced) == TRUTH[name]["induced"]


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_graphs_on_the_cpu(name: str) -> None:
    found = gl.count_motifs(dataset(name), devices="cpu")
    assert list(found.noninduced) == TRUTH[name]["noninduced"]
    assert list(found.induced) == TRUTH[name]["induced"]
    assert found.names[0] == "wedge" and found.size == 5


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGER)
def test_larger_graphs(real_graph: Callable[..., gl.Graph], name: str) -> None:
    graph = real_graph(name)
    found = gl.count_motifs(graph)
    assert list(found.noninduced) == TRUTH[name]["noninduced"]
    assert list(found.induced) == TRUTH[name]["induced"]


@given(edge_lists(most_vertices=65, most_edges=500), st.sampled_from([3, 4, 5]))
@settings(max_examples=25)
def test_every_device_counts_like_the_reference(device: str, edges: EdgeList, size: Any) -> None:
    graph = graph_from(edges)
    expected = gl.count_motifs(graph, size, devices="reference")
    found = gl.count_motifs(graph, size, devices=device)
    assert found.noninduced == expected.noninduced and found.counts == expected.counts


@given(st.data())
@settings(max_examples=15)
def test_relabelling_keeps_the_counts(data: st.DataObject) -> None:
    edges = data.draw(edge_lists(most_vertices=65, most_edges=600))
    labels = data.draw(relabellings(edges.num_vertices))
    renamed = gl.from_edges(labels[edges.src], labels[edges.dst], num_vertices=edges.num_vertices)
    assert gl.count_motifs(graph_from(edges), devices="cpu").counts == gl.count_motifs(renamed, devices="cpu").counts


@given(edge_lists(most_vertices=33, most_edges=300))
@settings(max_examples=15)
def test_induced_counts_lead_back_to_all_copies(edges: EdgeList) -> None:
    found = gl.count_motifs(graph_from(edges), devices="cpu")
    back = [sum(int(a) * x for a, x in zip(row, found.induced, strict=True)) for row in pattern_matrix()]
    assert back == list(found.noninduced)
    assert all(0 <= few <= many for few, many in zip(found.induced, found.noninduced, strict=True))


@pytest.mark.parametrize("n", [0, 1, 2, 4, 5, 33])
def test_a_complete_graph_has_cliques_only(device: str, n: int) -> None:
    found = gl.count_motifs(gl.complete(n), devices=device)
    assert by_id(found) == only(H2=comb(n, 3), H8=comb(n, 4), H29=comb(n, 5))
    assert found.noninduced[20] == 10 * comb(n, 5)  # K2,3 in every five vertices


@pytest.mark.parametrize("leaves", [3, 4, 40])
def test_a_star_has_stars_only(device: str, leaves: int) -> None:
    found = gl.count_motifs(gl.star(leaves), devices=device)
    assert by_id(found) == only(H1=comb(leaves, 2), H3=comb(leaves, 3), H9=comb(leaves, 4))


@pytest.mark.parametrize("n", [6, 33, 100])
def test_a_long_cycle_has_paths_only(device: str, n: int) -> None:
    assert by_id(gl.count_motifs(gl.cycle(n), devices=device)) == only(H1=n, H4=n, H11=n)


@pytest.mark.parametrize(("a", "b"), [(1, 9), (2, 40), (3, 5), (7, 33)])
def test_a_complete_bipartite_graph_has_complete_bipartite_patterns_only(device: str, a: int, b: int) -> None:
    expected = only(
        H1=a * comb(b, 2) + b * comb(a, 2),
        H3=a * comb(b, 3) + b * comb(a, 3),
        H6=comb(a, 2) * comb(b, 2),
        H9=a * comb(b, 4) + b * comb(a, 4),
        H21=comb(a, 2) * comb(b, 3) + comb(a, 3) * comb(b, 2),
    )
    assert by_id(gl.count_motifs(complete_bipartite(a, b), devices=device)) == expected


def test_totals_beyond_64_bits_are_exact() -> None:
    found = gl.count_motifs(gl.star(1_000_000), devices="cpu")
    assert by_id(found) == only(H1=comb(10**6, 2), H3=comb(10**6, 3), H9=comb(10**6, 4))
    assert found["4-star"] > 2**64
    assert found.to_pandas()["induced"].dtype == object


def test_hubs_that_share_their_leaves() -> None:
    n = 100_000
    found = gl.count_motifs(complete_bipartite(2, n), devices="cpu")
    assert found["4-cycle"] == comb(n, 2) and found["3-wedge-collision"] == comb(n, 3)
    assert found["4-star"] == 2 * comb(n, 4)


def test_a_graph_without_edges_has_no_motifs(device: str) -> None:
    found = gl.count_motifs(gl.from_edges([], [], num_vertices=40), devices=device)
    assert by_id(found) == only()


def test_the_number_of_threads_does_not_matter(threads: int) -> None:
    with gl.configure(threads=threads):
        assert list(gl.count_motifs(dataset("jazz"), devices="cpu").induced) == TRUTH["jazz"]["induced"]


def test_shares_do_not_change_the_counts() -> None:
    graph = dataset("lesmis")
    for share in (0.0, 0.3, 1.0):
        found = gl.count_motifs(graph, devices=["cpu", "reference"], shares={"cpu": share, "reference": 1 - share})
        assert list(found.induced) == TRUTH["lesmis"]["induced"]


def test_the_provenance_says_what_was_chosen_and_why() -> None:
    found = gl.count_motifs(dataset("karate"), devices="cpu")
    assert found.provenance.method == "fused"
    assert any(note.startswith("method auto: fused") for note in found.provenance.notes)
    asked = gl.count_motifs(dataset("karate"), devices="cpu", method="fused")
    assert asked.provenance.notes == ()
    mixed = gl.count_motifs(dataset("karate"), devices=["cpu", "reference"])
    assert "all devices" in mixed.provenance.notes[0]


@pytest.mark.parametrize("cuda", ["cuda-emulated", pytest.param("cuda:0", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("method", ["fused", "materialize"])
def test_every_method_of_a_cuda_device_gives_the_same_counts(cuda: str, method: Any) -> None:
    for name in ("karate", "lesmis"):
        found = gl.count_motifs(dataset(name), method=method, devices=cuda)
        assert list(found.induced) == TRUTH[name]["induced"] and found.provenance.method == method


def test_a_method_that_a_device_does_not_have_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="fused"):
        gl.count_motifs(dataset("karate"), devices="cpu", method="materialize")


@pytest.mark.parametrize(
    "wrong", [{"size": 2}, {"size": 6}, {"size": "5"}, {"size": True}, {"method": "slow"}, {"devices": "gpu7"}]
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        gl.count_motifs(dataset("karate"), **wrong)


def test_a_directed_graph_counts_as_its_undirected_form() -> None:
    graph = gl.from_edges([0, 1, 2, 0], [1, 2, 0, 2], directed=True)
    found = gl.count_motifs(graph, 3, devices="cpu")
    assert found.counts == (0, 1) and "undirected" in found.provenance.notes[0]


def test_progress_ends_at_the_number_of_vertices() -> None:
    seen: list[tuple[int, int]] = []
    gl.count_motifs(dataset("jazz"), devices="cpu", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (198, 198)


def test_formulas_ask_for_no_sum_beyond_their_size() -> None:
    for size in (3, 4, 5):
        assert counts_from_sums(dict.fromkeys(raw_names(size), 0), size) == [0] * NUM_PATTERNS[size]


def test_work_grows_with_every_row() -> None:
    work = work_per_row(dataset("jazz").view(Supported()))
    assert work[0] == 0 and work.size == 199 and (np.diff(work) > 0).all()
