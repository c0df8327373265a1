"""Estimated motif counts: intervals cover, estimates are not biased, draws are as likely as they should be."""

from __future__ import annotations

import json
from collections import Counter
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.datasets import dataset
from graphlode.errors import InputError
from graphlode.mining.motif_estimates import interval
from graphlode.mining.patterns import PATTERNS
from graphlode.mining.tree_samples import TREES, Rows, TreePattern

TRUTH: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "truth" / "motifs.json").read_text("utf-8")
)["graphs"]
ALL_TREES = [tree for trees in TREES.values() for tree in trees]


@pytest.mark.parametrize("name", ["karate", "jazz", "netscience"])
def test_intervals_cover_as_often_as_they_say(name: str) -> None:
    truth, graph = np.array(TRUTH[name]["induced"], np.float64), dataset(name)
    found = [gl.estimate_motifs(graph, samples=1500, confidence=0.9, seed=seed) for seed in range(40)]
    covered = np.array([(one.lower <= truth) & (truth <= one.upper) for one in found])
    assert covered.mean() >= 0.9
    assert (covered.mean(axis=0) >= 0.75).all()  # 0.9 over 40 runs falls below that once in some thousands


@pytest.mark.parametrize("name", ["karate", "football"])
def test_estimates_are_not_biased(name: str) -> None:
    truth, graph = np.array(TRUTH[name]["induced"], np.float64), dataset(name)
    found = np.array([gl.estimate_motifs(graph, samples=4000, seed=seed).estimates for seed in range(40)])
    error = np.abs(found.mean(axis=0) - truth)
    allowed = 4.5 * found.std(axis=0, ddof=1) / np.sqrt(len(found))
    assert (error <= allowed + 1e-9 * truth).all()


def test_more_samples_give_narrower_intervals() -> None:
    few, many = (gl.estimate_motifs(dataset("jazz"), 4, samples=n, seed=1) for n in (1000, 16_000))
    assert ((many.upper - many.lower) < 0.5 * (few.upper - few.lower)).all()
    assert (many.lower <= many.estimates).all() and (many.estimates <= many.upper).all()


@pytest.mark.parametrize("tree", ALL_TREES, ids=lambda tree: PATTERNS[tree.pattern].name)
def test_every_placement_of_a_tree_is_equally_likely(tree: TreePattern) -> None:
    """On a graph small enough that all placements are drawn often."""
    graph = gl.from_edges([0, 0, 0, 0, 1, 1, 2, 3, 4], [1, 2, 3, 4, 2, 5, 5, 4, 5])
    rows, draws = Rows.of(graph), 40_000
    vertices = tree.sample(rows, np.random.default_rng(3), draws)
    edges = np.array([np.sort(vertices[list(edge)], axis=0) for edge in tree.edges])
    placements = Counter(tuple(sorted(map(tuple, edges[:, :, i].tolist()))) for i in range(draws))
    whole = {p: n for p, n in placements.items() if len({v for edge in p for v in edge}) == len(tree.edges) + 1}
    pattern = PATTERNS[tree.pattern]
    assert len(whole) == gl.count_motifs(graph, induced=False, devices="reference")[pattern.id]
    expected = draws / tree.total(rows)
    assert sum((n - expected) ** 2 / expected for n in whole.values()) < len(whole) + 5 * np.sqrt(2 * len(whole)) + 5


def test_all_drawn_edges_are_there() -> None:
    graph = dataset("lesmis")
    rows, rng = Rows.of(graph), np.random.default_rng(1)
    for tree in ALL_TREES:
        vertices = tree.sample(rows, rng, 500)
        assert all(rows.adjacent(vertices[i], vertices[j]).all() for i, j in tree.edges)


def test_the_weights_of_stars_are_exact_beyond_64_bits() -> None:
    star = TREES[5][0]
    assert star.total(Rows.of(gl.star(300_000))) == comb(300_000, 4) > 2**64
    found = gl.estimate_motifs(gl.star(300_000), samples=200, seed=0)
    assert found.estimates[8] == pytest.approx(comb(300_000, 4))
    assert (np.delete(found.estimates, [0, 2, 8]) == 0).all()


@pytest.mark.parametrize("graph", [gl.from_edges([], [], num_vertices=3), gl.path(2)])
def test_a_graph_without_trees_has_no_motifs(graph: gl.Graph) -> None:
    found = gl.estimate_motifs(graph, samples=100)
    assert not found.estimates.any() and not found.upper.any()


def test_intervals_hold_the_share_that_was_seen() -> None:
    for hits in (0, 1, 50, 99, 100):
        low, high = interval(hits, 100, 0.95)
        assert 0 <= low <= hits <= high <= 100
    assert interval(0, 1000, 0.95)[0] == 0 and 3 < interval(0, 1000, 0.95)[1] < 4
    assert interval(5, 1000, 0.5)[1] < interval(5, 1000, 0.99)[1]


def test_equal_seeds_give_equal_answers() -> None:
    one, again, other = (gl.estimate_motifs(dataset("karate"), samples=500, seed=s).estimates for s in (1, 1, 2))
    assert (one == again).all() and (one != other).any()


def test_results_become_tables_and_plain_values() -> None:
    found = gl.estimate_motifs(dataset("karate"), 4, samples=500)
    assert list(found.to_pandas().columns) == ["pattern", "name", "estimate", "lower", "upper"]
    assert json.loads(json.dumps(found.to_dict()))["order"] == list(found.ids)
    assert found._repr_html_().count("<svg") == 8


@pytest.mark.parametrize("wrong", [{"size": 6}, {"samples": 99}, {"confidence": 1}, {"confidence": 0}, {"seed": -1}])
def test_wrong_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        gl.estimate_motifs(dataset("karate"), **wrong)
