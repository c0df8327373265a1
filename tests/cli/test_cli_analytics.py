"""The commands bfs, pagerank and components: numbers, files, tables, wrong arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl


def test_bfs_prints_reach_depth_and_levels(graphlode: Any, tmp_path: Path) -> None:
    out = tmp_path / "levels.tsv"
    found = graphlode("bfs", "karate", "--source", 0, "--out", out, "--json").json
    assert (found["command"], found["source"], found["reached"], found["depth"]) == ("bfs", 0, 34, 3)
    assert found["level_sizes"] == [1, 16, 9, 8]
    vertices, levels, parents = np.loadtxt(out, np.int64, skiprows=1, unpack=True)
    expected = gl.bfs(gl.dataset("karate"), 0)
    assert np.array_equal(vertices, expected.ids)
    assert np.array_equal(levels, expected.levels) and np.array_equal(parents, expected.parents)


def test_components_prints_their_number_and_the_largest(graphlode: Any, tmp_path: Path) -> None:
    file, out = tmp_path / "two.txt", tmp_path / "components.csv"
    file.write_text("10 20\n20 30\n7 8\n")
    found = graphlode("components", file, "--out", out, "--json").json
    assert (found["command"], found["count"]) == ("components", 2)
    assert found["top"] == [
        {"component": 1, "vertices": 3, "first": 10},
        {"component": 0, "vertices": 2, "first": 7},
    ]
    assert out.read_text() == "vertex,component\n7,0\n8,0\n10,1\n20,1\n30,1\n"


def test_pagerank_prints_the_highest_values(graphlode: Any, tmp_path: Path) -> None:
    out = tmp_path / "values.npz"
    options = ["--damping", 0.9, "--tol", 1e-9, "--max-iter", 200, "--top", 2]
    found = graphlode("pagerank", "karate", *options, "--out", out, "--json").json
    expected = gl.pagerank(gl.dataset("karate"), 0.9, tol=1e-9, max_iter=200)
    assert (found["iterations"], found["converged"]) == (expected.iterations, True)
    assert [row["vertex"] for row in found["top"]] == [33, 0]
    with np.load(out) as columns:
        np.testing.assert_allclose(columns["value"], expected.values)


def test_pagerank_uses_weights_on_request(graphlode: Any, tmp_path: Path) -> None:
    file = tmp_path / "weights.txt"
    file.write_text("0 1 5\n0 2 1\n1 2 2\n")
    found = graphlode("pagerank", file, "--weights", "--json").json
    expected = gl.pagerank(gl.from_edges([0, 0, 1], [1, 2, 2], weights=[5, 1, 2]), weights=True)
    assert [row["vertex"] for row in found["top"]] == [1, 0, 2]
    assert [row["value"] for row in found["top"]] == pytest.approx(sorted(expected.values, reverse=True))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["bfs", "jazz", "--source", "1"], ["reached", "198", "steps", "on cpu"]),
        (["components", "jazz"], ["components", "198", "first vertex"]),
        (["pagerank", "jazz", "--max-iter", "2", "--tol", "0"], ["2, not converged", "highest values"]),
    ],
)
def test_tables_of_analytics_fit_eighty_columns(graphlode: Any, arguments: list[str], words: list[str]) -> None:
    shown = graphlode(*arguments, "--device", "cpu")
    assert shown.status == 0 and shown.err == ""
    assert all(word in shown.out for word in words), shown.out
    assert max(len(line) for line in shown.out.splitlines()) <= 80


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["bfs", "karate"], "Missing option '--source'"),
        (["bfs", "karate", "--source", "99"], "vertex 99 is not in the graph"),
        (["bfs", "karate", "--source", "zero"], "'zero' is not a valid int"),
        (["pagerank", "karate", "--damping", "2"], "damping must be 0 to 1"),
        (["pagerank", "karate", "--max-iter", "0"], "max_iter must be an integer of at least 1"),
        (["components", "karate", "--device", "cpu,cpu"], "runs on one device"),
    ],
)
def test_wrong_arguments_of_analytics_are_reported(graphlode: Any, arguments: list[str], says: str) -> None:
    assert says in graphlode(*arguments).error
