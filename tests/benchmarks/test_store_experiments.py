"""The experiments about the store, on a small graph: stores agree with a sorted array, and all of it can be drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from benchmarks.experiments import experiment
from benchmarks.experiments.run import run
from benchmarks.experiments.setting import Setting
from benchmarks.experiments.store import batch as store_batch
from benchmarks.experiments.store import runs as store_runs
from benchmarks.experiments.subjects import Subject, generate
from benchmarks.new_edges import KINDS, Drawn

GRAPH = generate("rmat:8:1500", directed=True)


def finish(name: str, folder: Path, sizes: tuple[int, ...], device: str = "cpu") -> list[dict[str, Any]]:
    setting = Setting(device, sizes, limit=60.0, repeats=2)
    finished = run(name, ["small"], lambda _: Subject("small", GRAPH, {}), setting, folder)
    assert finished.document["failed"] == {}
    assert [plot.suffix for plot in finished.plots] == [".png", ".svg"]
    assert all(table.rows for table in experiment(name).tables(finished.document))
    cells: list[dict[str, Any]] = finished.document["cells"]
    assert {cell["status"] for cell in cells} == {"done"}
    return cells


@pytest.mark.parametrize("device", ["cpu", "cuda-emulated"])
def test_every_store_reaches_what_a_sorted_array_reaches(tmp_path: Path, device: str) -> None:
    array, *stores = finish("store-correctness", tmp_path, (5,), device)
    assert array["variant"] == "sorted array" and len(stores) >= 2 and array["reached"][0] > 1
    for cell in (array, *stores):
        assert (cell["reached"], cell["num_edges"]) == (array["reached"], array["num_edges"])
        assert len(cell["seconds"]) == 5 and cell["verified_by"] == ["a plain graph of the same edges"]


def test_a_store_that_reaches_others_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_runs, "_reach", lambda graph: (int(isinstance(graph, gl.DynamicGraph)), 0.1))
    setting = Setting("cpu", (2,), limit=60.0, repeats=2)
    finished = run("store-correctness", ["small"], lambda _: Subject("small", GRAPH, {}), setting, tmp_path)
    assert [cell["status"] for cell in finished.document["cells"]] == ["done", "wrong", "wrong"]


def test_a_store_that_does_not_slide_is_wrong_though_it_ends_where_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = gl.DynamicGraph.apply
    monkeypatch.setattr(
        gl.DynamicGraph, "apply", lambda store, batch: apply(store, batch) if batch.delete is None else None
    )
    setting = Setting("cpu", (100,), limit=60.0, repeats=2)
    finished = run("store-correctness", ["small"], lambda _: Subject("small", GRAPH, {}), setting, tmp_path)
    array, *stores = finished.document["cells"]
    assert array["status"] == "done" and {cell["status"] for cell in stores} == {"wrong"}
    assert all(cell["reached"] == array["reached"] and "halfway" in cell["reason"] for cell in stores)


def test_what_takes_too_long_is_stopped(tmp_path: Path) -> None:
    finished = run(
        "store-correctness",
        ["small"],
        lambda _: Subject("small", GRAPH, {}),
        Setting("cpu", (50,), limit=1e-6),
        tmp_path,
    )
    assert finished.document["failed"] == {}
    assert {cell["status"] for cell in finished.document["cells"]} == {"stopped"}
    assert all("of 50 slides" in cell["reason"] for cell in finished.document["cells"])


def test_scaling_and_shares_run_over_their_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("store-scaling", "store-shares"):
        monkeypatch.setattr(experiment(module), "SLIDES", 3)
    scaled = finish("store-scaling", tmp_path, (1, 2))
    assert [cell["instances"] for cell in scaled] == [1, 2]
    shared = finish("store-shares", tmp_path, (0, 2), "cuda-emulated")
    assert [cell["variant"] for cell in shared] == ["factor 0", "factor 2", "auto", "alone"]
    slots = [cell["shares"].get("cuda-emulated", 0) for cell in shared[:2]]
    assert slots[0] == 0 and 400 < slots[1] < 420


def test_instances_of_one_device_have_no_factor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment("store-shares"), "SLIDES", 3)
    shared = finish("store-shares", tmp_path, (0, 2, 4))
    assert [cell["variant"] for cell in shared] == ["factor 0", "auto", "alone"]


def test_the_sorted_array_is_merged_as_sets_are() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        keys, leaving, coming = (rng.integers(0, 40, rng.integers(0, 30)) for _ in range(3))
        found = store_runs.merged(np.unique(keys), leaving, coming)
        assert found.tolist() == sorted(set(keys.tolist()) - set(leaving.tolist()) | set(coming.tolist()))


def test_batches_of_every_kind_are_timed_on_every_path(tmp_path: Path) -> None:
    cells = finish("store-batch", tmp_path, (50,))
    assert {cell["variant"] for cell in cells} == set(store_batch.STRATEGIES)
    assert {cell["kind"] for cell in cells if cell["variant"] == "auto"} == set(KINDS)
    assert all(len(cell["seconds"]) == len(cell["delete_seconds"]) == 2 for cell in cells)


def test_batches_after_one_that_took_too_long_say_why_they_are_left_out(tmp_path: Path) -> None:
    setting = Setting("cpu", (10, 20), limit=1e-9, repeats=1)
    cells = run("store-batch", ["small"], lambda _: Subject("small", GRAPH, {}), setting, tmp_path).document["cells"]
    assert [cell["status"] for cell in cells if cell["variant"] == "merge"] == ["done", "skipped"]
    assert all("batches before took" in cell["reason"] for cell in cells if cell["status"] == "skipped")


@pytest.mark.parametrize("kind", KINDS)
def test_new_edges_are_new_and_as_many_as_asked_for(kind: str) -> None:
    batch = Drawn(GRAPH).new(kind, 40, 0)
    there = set(map(tuple, GRAPH.edges(indices=True).tolist()))
    pairs = list(zip(*(ends.tolist() for ends in batch), strict=True))
    assert len(pairs) == len(set(pairs)) == 40
    assert not there & set(pairs) and all(u != v for u, v in pairs)
    if kind == "one vertex":
        assert len({u for u, _ in pairs}) == 1
    if kind == "one leaf":
        assert not [edge for edge in there if min(pairs) < edge < max(pairs)]
    if kind == "descending":
        assert pairs == sorted(pairs, reverse=True)
