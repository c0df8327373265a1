from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.datasets import dataset_info
from graphlode.generate import rmat_edges


def test_the_demonstration_prints_exact_answers_and_draws_them(graphlode: Any, tmp_path: Path) -> None:
    out = tmp_path / "plots"
    found = graphlode("demo", "--out", out, "--scale", 8, "--batches", 4, "--json").json
    assert {each["name"]: each["triangles"] for each in found["graphs"]} == {
        each["name"]: dataset_info(each["name"]).triangles for each in found["graphs"]
    }
    src, dst = rmat_edges(8, 16, seed=1)
    left: dict[tuple[int, int], None] = {}
    for batch in range(4):
        if batch >= 2:
            for u, v in zip(src[(batch - 2) * 1024 :][:1024], dst[(batch - 2) * 1024 :][:1024], strict=True):
                left.pop((min(u, v), max(u, v)), None)
        for u, v in zip(src[batch * 1024 :][:1024], dst[batch * 1024 :][:1024], strict=True):
            if u != v:
                left[min(u, v), max(u, v)] = None
    last = gl.from_edges(list(left), num_vertices=256)
    assert found["stream"][-1]["num_edges"] == last.num_edges
    assert found["stream"][-1]["triangles"] == gl.count_triangles(last).total
    assert found["stream"][-1]["largest_component"] == gl.connected_components(last).sizes.max()
    assert sorted(path.name for path in out.iterdir()) == ["cores.png", "degrees.png", "stream.png"]
    assert sorted(found["plots"]) == sorted(str(path) for path in out.iterdir())
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in out.iterdir())


def test_clustering_is_the_part_of_paths_that_are_closed(graphlode: Any, tmp_path: Path) -> None:
    import networkx

    found = graphlode("demo", "--out", tmp_path, "--scale", 4, "--batches", 1, "--json").json
    karate = next(each for each in found["graphs"] if each["name"] == "karate")
    assert np.isclose(karate["clustering"], networkx.transitivity(networkx.karate_club_graph()))


def test_the_tables_fit_and_name_the_plots(graphlode: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = graphlode("demo", "--scale", 6, "--batches", 2)
    assert shown.status == 0
    assert "email-Eu-core" in shown.out and "105,461" in shown.out
    assert "plot written to demo-output/stream.png" in shown.out
    assert max(len(line) for line in shown.out.splitlines()) <= 80


def test_without_matplotlib_the_tables_are_still_there(
    graphlode: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = graphlode("demo", "--out", tmp_path, "--scale", 4, "--batches", 1, "--json").json
    assert found["plots"] == [] and "graphlode[plot]" in found["note"]
    assert list(tmp_path.iterdir()) == []
