"""`graphlode motifs`: counts, orbits in files, random graphs, plots, and wrong arguments."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.datasets import dataset

TRUTH: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "truth" / "motifs.json").read_text("utf-8")
)["graphs"]


def test_counts_in_json_have_the_documented_shape(graphlode: Any) -> None:
    found = graphlode("motifs", "karate", "--json").json
    assert found["command"] == "motifs" and found["size"] == 5
    assert found["order"] == [f"H{i}" for i in range(1, 30)]
    assert found["induced"] == TRUTH["karate"]["induced"] and found["noninduced"] == TRUTH["karate"]["noninduced"]
    assert found["graph"]["num_edges"] == 78 and found["provenance"]["operation"] == "mining.motifs"


def test_smaller_sizes_have_fewer_patterns(graphlode: Any) -> None:
    found = graphlode("motifs", "karate", "--size", 3, "--json").json
    assert found["order"] == ["H1", "H2"] and found["induced"] == [393, 45] and found["noninduced"] == [528, 45]


def test_people_see_names_and_the_counts_they_ask_for(graphlode: Any) -> None:
    induced = graphlode("motifs", "karate", "--size", 4)
    assert induced.status == 0 and "tailed-triangle" in induced.out and "1,098" in induced.out
    all_copies = graphlode("motifs", "karate", "--size", 3, "--non-induced")
    assert "528" in all_copies.out and "393" not in all_copies.out


def test_orbits_are_written_for_each_vertex_or_edge(graphlode: Any, tmp_path: Path) -> None:
    out = tmp_path / "orbits.csv"
    assert graphlode("motifs", "karate", "--orbits", out, "--json").json["orbits"] == str(out)
    with out.open(encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    expected = gl.count_orbits(dataset("karate"))
    assert [int(row["o72"]) for row in rows] == expected[72].tolist() and len(rows[0]) == 74
    out = tmp_path / "orbits.npz"
    graphlode("motifs", "karate", "--size", 4, "--non-induced", "--orbits", out, "--orbits-of", "edges", "--json")
    with np.load(out) as arrays:
        assert arrays["e11"].sum() == 6 * 11 and len(arrays.files) == 14


def test_random_graphs_give_scores(graphlode: Any) -> None:
    found = graphlode("motifs", "karate", "--size", 4, "--null", 10, "--seed", 3, "--json").json["null"]
    expected = gl.motif_profile(dataset("karate"), 4, samples=10, seed=3)
    assert found["z_score"] == pytest.approx(expected.z_scores.tolist()) and found["samples"] == 10
    shown = graphlode("motifs", "karate", "--size", 4, "--null", 5)
    assert "z-score" in shown.out and "p fewer" in shown.out


def test_plots_are_drawn(graphlode: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for name, more in (("counts.png", ()), ("scores.svg", ("--null", 3))):
        path = tmp_path / name
        assert graphlode("motifs", "karate", "--size", 4, "--plot", path, "--json", *more).json["plot"] == str(path)
        assert path.stat().st_size > 1000


@pytest.mark.parametrize(
    "wrong",
    [
        ("--size", 6),
        ("--size", 2),
        ("--size", 3, "--orbits", "orbits.csv"),
        ("--orbits", "orbits.xyz"),
        ("--plot", "plot.xyz"),
        ("--null", 1),
        ("--method", "slow"),
        ("--device", "gpu7"),
    ],
)
def test_wrong_arguments_end_with_one_line(graphlode: Any, wrong: tuple[Any, ...]) -> None:
    found = graphlode("motifs", "karate", *wrong)
    assert found.status == 2 and found.err.startswith("graphlode: error:") and found.err.count("\n") == 1
