"""Motif profiles: random graphs keep degrees and depend on the seed; scores are right."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import graphlode as gl
from graphlode.common.control import Control
from graphlode.cpu.mining.rewire import rewire
from graphlode.datasets import dataset
from graphlode.errors import InputError
from graphlode.mining.motif_profile import rewired
from strategies import EdgeList, edge_lists


def edge_set(graph: gl.Graph) -> set[tuple[int, int]]:
    return {(int(u), int(v)) for u, v in graph.edges()}


@given(edge_lists(most_vertices=130, most_edges=1500))
@settings(max_examples=20)
def test_rewiring_keeps_every_degree_and_stays_simple(edges: EdgeList) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)
    for sample in rewired(graph, samples=3, swaps=5, seed=1):
        assert sample.num_edges == graph.num_edges  # no edge twice, no self edge: from_edges would have dropped them
        np.testing.assert_array_equal(sample.degrees(), graph.degrees())


def test_without_swaps_nothing_changes() -> None:
    graph = dataset("lesmis")
    (sample,) = rewired(graph, samples=1, swaps=0, seed=0)
    assert edge_set(sample) == edge_set(graph)


def test_samples_depend_on_seed_and_number_only() -> None:
    graph = dataset("lesmis")

    def made(samples: int, seed: int, threads: int) -> list[set[tuple[int, int]]]:
        with gl.configure(threads=threads):
            return [edge_set(sample) for sample in rewired(graph, samples=samples, swaps=10, seed=seed)]

    first = made(5, 3, 1)
    assert made(5, 3, 2) == first and made(3, 3, 5) == first[:3]
    assert all(a != b for a, b in zip(first, made(5, 4, 1), strict=True))
    assert len({frozenset(sample) for sample in first}) == 5


def test_every_graph_of_the_degrees_is_equally_likely() -> None:
    """Degrees 2, 2, 2, 1, 1 have seven simple graphs: six paths of five vertices, and a triangle plus an edge."""
    ends = np.arange(5, dtype=np.int32)
    samples = 7000
    made = rewire(ends[:-1], ends[1:], attempts=80, seed=2, first=0, samples=samples, threads=2, control=Control())
    pairs = np.sort(np.stack(made, axis=-1), axis=-1).tolist()
    seen = Counter(frozenset(map(tuple, edges)) for edges in pairs)
    assert len(seen) == 7
    expected = samples / 7
    assert sum((count - expected) ** 2 / expected for count in seen.values()) < 22.5  # chance of 0.1 %


def test_a_lattice_of_triangles_has_more_of_them_than_chance() -> None:
    n = 200
    ring = np.arange(n)
    graph = gl.from_edges(np.tile(ring, 2), np.concatenate([(ring + 1) % n, (ring + 2) % n]))
    profile = gl.motif_profile(graph, 3, samples=30, seed=5, devices="cpu")
    assert profile.counts == (3 * n, n)
    assert profile.z_scores[1] > 20 and profile.z_scores[0] < -20
    assert profile.p_more[1] == profile.p_fewer[0] == pytest.approx(1 / 31)
    assert profile.p_fewer[1] == 1


def test_a_random_graph_is_nothing_special() -> None:
    profile = gl.motif_profile(gl.erdos_renyi(100, m=400, seed=3), 4, samples=60, seed=1, devices="cpu")
    assert np.abs(profile.z_scores).max() < 4.5
    assert ((profile.p_more + profile.p_fewer) >= 1).all()


def test_scores_of_what_never_varies_are_not_numbers() -> None:
    profile = gl.motif_profile(gl.complete(5), 4, samples=3, devices="cpu")
    assert np.isnan(profile.z_scores).all() and (profile.p_more == 1).all()
    assert json.loads(json.dumps(profile.to_dict()))["z_score"] == [None] * 8


def test_results_become_tables_drawings_and_plain_values() -> None:
    done: list[tuple[int, int]] = []
    profile = gl.motif_profile(
        dataset("karate"), 4, samples=4, seed=9, devices="cpu", progress=lambda *seen: done.append(seen)
    )
    assert done == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert list(profile.to_pandas().columns)[:4] == ["pattern", "name", "count", "null_mean"]
    plain = json.loads(json.dumps(profile.to_dict()))
    assert plain["samples"] == 4 and plain["seed"] == 9 and plain["counts"] == list(profile.counts)
    assert profile._repr_html_().count("<svg") == 8
    assert profile.null_counts.shape == (4, 8) and "swaps per edge" in profile.provenance.method


@pytest.mark.parametrize(
    "wrong", [{"null": "erdos"}, {"samples": 1}, {"samples": 2.5}, {"swaps": -1}, {"seed": -1}, {"size": 6}]
)
def test_wrong_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        gl.motif_profile(dataset("karate"), **wrong)
