"""`graphlode cliques`: counts, local counts, files of cliques, plots, and wrong arguments."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.cli.commands.cliques import parse_sizes
from graphlode.datasets import dataset
from graphlode.errors import InputError


def test_one_size_in_json_has_the_documented_shape(graphlode: Any) -> None:
    found = graphlode("cliques", "karate", "-k", 4, "--json").json
    assert found["command"] == "cliques" and found["counts"] == {"4": 11}
    assert found["graph"]["num_vertices"] == 34 and found["graph"]["num_edges"] == 78
    assert found["provenance"]["operation"] == "mining.cliques"


def test_a_range_of_sizes_is_counted_one_by_one(graphlode: Any) -> None:
    found = graphlode("cliques", "karate", "-k", "3-6", "--json").json
    assert found["counts"] == {"3": 45, "4": 11, "5": 2, "6": 0}
    assert list(found["runs"]) == ["3", "4", "5", "6"]
    shown = graphlode("cliques", "karate", "-k", "3-6")
    assert shown.status == 0 and "45" in shown.out and "pivot" in shown.out


def test_huge_counts_are_json_integers(graphlode: Any, tmp_path: Path) -> None:
    path = tmp_path / "complete.npz"
    gl.write(gl.complete(100), path)
    assert graphlode("cliques", path, "-k", 50, "--json").json["counts"] == {"50": 100891344545564193334812497256}


def test_counts_by_vertex_and_edge_are_shown_and_written(graphlode: Any, tmp_path: Path) -> None:
    out = tmp_path / "by_vertex.csv"
    found = graphlode("cliques", "karate", "-k", "3,4", "--by", "vertex", "--top", 1, "--out", out, "--json").json
    expected = [gl.count_cliques(dataset("karate"), k, by="vertex").by_vertex for k in (3, 4)]
    with out.open(encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["k4"]) for row in rows] == expected[1].tolist()
    assert found["top"][0]["k4"] == expected[1].max()
    by_edge = tmp_path / "by_edge.npz"
    graphlode("cliques", "karate", "-k", 5, "--by", "edge", "--out", by_edge, "--json")
    with np.load(by_edge) as arrays:
        assert arrays["k5"].sum() == 2 * 10


def test_local_counts_beyond_64_bits_are_written_as_text(graphlode: Any, tmp_path: Path) -> None:
    path, out = tmp_path / "complete.npz", tmp_path / "by_vertex.npz"
    gl.write(gl.complete(80), path)
    graphlode("cliques", path, "-k", 40, "--by", "vertex", "--out", out, "--json")
    with np.load(out) as arrays:
        assert set(arrays["k40"].tolist()) == {str(gl.count_cliques(gl.complete(79), 39).total)}


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".parquet"])
def test_cliques_are_listed_into_every_kind_of_file(graphlode: Any, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"cliques{suffix}"
    found = graphlode("cliques", "karate", "-k", 4, "--list", out, "--json").json
    assert found["list"] == {"file": str(out), "cliques": 11} and found["counts"] == {"4": 11}
    assert out.stat().st_size > 0
    assert "11 cliques" in graphlode("cliques", "karate", "-k", 4, "--list", out).out


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_counts_can_be_drawn(graphlode: Any, tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("matplotlib")
    plot = tmp_path / f"counts{suffix}"
    found = graphlode("cliques", "lesmis", "-k", "3-12", "--plot", plot, "--json").json
    assert found["plot"] == str(plot) and plot.stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", "0"], "at least 1"),
        (["-k", "8-4"], "at least 1"),
        (["-k", "four"], "at least 1"),
        (["-k", "1-99999999999"], "at most 10000 sizes"),
        (["-k", "9" * 5000], "at least 1"),
        (["-k", "3-4", "--list", "x.csv"], "one size"),
        (["-k", "3", "--list", "x.doc"], "x.doc"),
        (["-k", "3", "--plot", "x.doc"], "x.doc"),
        (["-k", "3", "--top", "4"], "--by"),
        (["-k", "3", "--method", "warp", "--device", "cpu"], "pivot"),
    ],
)
def test_wrong_arguments_are_named(graphlode: Any, words: list[str], message: str) -> None:
    shown = graphlode("cliques", "karate", *words)
    assert shown.status == 2 and message in shown.err and shown.out == ""


def test_sizes_are_read_as_people_write_them() -> None:
    assert parse_sizes("5") == [5]
    assert parse_sizes("4-8") == [4, 5, 6, 7, 8]
    assert parse_sizes("3, 5,7-9,8") == [3, 5, 7, 8, 9]
    for wrong in ("", "3-", "-3", "3--5", "1.5"):
        with pytest.raises(InputError):
            parse_sizes(wrong)
