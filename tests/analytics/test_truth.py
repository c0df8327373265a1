"""Counts of the bundled graphs against the recorded truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import graphlode as gl
from graphlode.datasets import dataset, dataset_info, dataset_names

TRUTH: dict[str, dict[str, int]] = json.loads(
    (Path(__file__).parents[1] / "data" / "truth" / "cliques.json").read_text("utf-8")
)["graphs"]
NAMES = [name for name in dataset_names() if "3" in TRUTH.get(name, {})]


def test_most_bundled_graphs_have_a_recorded_truth() -> None:
    assert len(NAMES) >= 5 and "karate" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_triangles_of_bundled_graphs(name: str) -> None:
    graph = dataset(name)
    found = gl.count_triangles(graph, by="vertex", devices="cpu")
    assert found.total == TRUTH[name]["3"] == dataset_info(name).triangles
    assert gl.count_triangles(graph, devices=["cpu", "cpu"]).total == TRUTH[name]["3"]


@pytest.mark.parametrize("name", ["karate", "lesmis"])
def test_triangles_of_small_bundled_graphs_on_every_device(devices: Any, name: str) -> None:
    assert gl.count_triangles(dataset(name), devices=devices).total == TRUTH[name]["3"]


@pytest.mark.parametrize("name", dataset_names())
def test_degeneracy_of_bundled_graphs(name: str) -> None:
    assert gl.core_numbers(dataset(name), devices="cpu").degeneracy == dataset_info(name).degeneracy
