"""The command paths: numbers, columns, files, tables, wrong arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "roads.txt"
    path.write_text("10 20 5\n10 30 1\n30 20 2\n40 50 1\n")
    return path


def test_paths_prints_reach_and_the_farthest(graphlode: Any, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "paths.csv"
    found = graphlode("paths", file, "--source", 10, "--top", 2, "--out", out, "--json").json
    assert (found["command"], found["source"], found["reached"], found["farthest"]) == ("paths", 10, 3, 3.0)
    assert found["top"] == [
        {"vertex": 20, "distance": 3.0, "parent": 30},
        {"vertex": 30, "distance": 1.0, "parent": 10},
    ]
    rows = ["10,0.0,-1", "20,3.0,30", "30,1.0,10", "40,inf,-1", "50,inf,-1"]
    assert out.read_text().splitlines() == ["vertex,distance,parent", *rows]


@pytest.mark.parametrize(("column", "farthest"), [("auto", 3.0), ("weights", 3.0), ("times", 3.0), ("none", 1.0)])
def test_lengths_come_from_the_column_that_is_named(graphlode: Any, file: Path, column: str, farthest: float) -> None:
    assert graphlode("paths", file, "--source", 10, "--weights", column, "--json").json["farthest"] == farthest


def test_a_bundled_graph_has_its_own_columns(graphlode: Any) -> None:
    found = graphlode("paths", "CollegeMsg", "--source", 1, "--weights", "times", "--json").json
    expected = gl.shortest_paths(gl.dataset("CollegeMsg"), 1, weights="times")
    assert found["farthest"] == expected.farthest and found["reached"] == expected.reached


def test_the_table_of_paths_fits_eighty_columns(graphlode: Any) -> None:
    shown = graphlode("paths", "jazz", "--source", "1", "--device", "cpu")
    assert shown.status == 0 and shown.err == ""
    assert all(word in shown.out for word in ["reached", "198", "farthest vertices", "on cpu"]), shown.out
    assert max(len(line) for line in shown.out.splitlines()) <= 80


def test_values_are_those_of_the_library(graphlode: Any, tmp_path: Path) -> None:
    out = tmp_path / "paths.npz"
    graphlode("paths", "lesmis", "--source", 0, "--out", out, "--json")
    expected = gl.shortest_paths(gl.dataset("lesmis"), 0)
    with np.load(out) as columns:
        np.testing.assert_array_equal(columns["distance"], expected.distances)
        np.testing.assert_array_equal(columns["parent"], expected.parents)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["paths", "karate"], "Missing option '--source'"),
        (["paths", "karate", "--source", "99"], "vertex 99 is not in the graph"),
        (["paths", "karate", "--source", "0", "--weights", "times"], "the graph has no times"),
        (["paths", "karate", "--source", "0", "--weights", "miles"], "'miles' is not one of"),
    ],
)
def test_wrong_arguments_of_paths_are_reported(graphlode: Any, arguments: list[str], says: str) -> None:
    assert says in graphlode(*arguments).error


def test_negative_lengths_are_reported(graphlode: Any, tmp_path: Path) -> None:
    path = tmp_path / "negative.txt"
    path.write_text("0 1 -2\n")
    assert "lengths of edges must not be negative" in graphlode("paths", path, "--source", 0).error
