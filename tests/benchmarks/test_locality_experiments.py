"""The experiments about the order of edges, on a small graph: what is simulated adds up, what is timed agrees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.experiments import experiment
from benchmarks.experiments.locality import skip as locality_skip
from benchmarks.experiments.locality import walltime as locality_walltime
from benchmarks.experiments.locality import ways as locality_ways
from benchmarks.experiments.locality.lists import beside_random, fitting_caches, shuffled_ends, size_text
from benchmarks.experiments.locality.ways import Run
from benchmarks.experiments.run import Finished, run
from benchmarks.experiments.setting import Setting
from benchmarks.experiments.subjects import Subject, generate

GRAPH = generate("rmat:11:30000", directed=True)


def finish(name: str, folder: Path, sizes: tuple[int, ...], device: str = "cpu") -> Finished:
    setting = Setting(device, sizes, limit=60.0, repeats=2)
    finished = run(name, ["small"], lambda _: Subject("small", GRAPH, {}), setting, folder)
    assert finished.document["failed"] == {}
    assert [plot.suffix for plot in finished.plots] == [".png", ".svg"]
    assert all(table.rows for table in experiment(name).tables(finished.document))
    assert {cell["status"] for cell in finished.document["cells"]} == {"done"}
    for table in experiment(name).tables(finished.document):
        assert all(len(row) == len(table.columns) for row in table.rows)
    return finished


def test_three_iterations_improve_with_passes_and_lanes(tmp_path: Path) -> None:
    document = finish("locality-iterations", tmp_path, (4, 32)).document
    cells = {cell["variant"]: cell for cell in document["cells"]}
    assert list(cells) == ["shuffled", "M = 4", "M = 32", "sorted"]
    assert [one["reordered"] for one in cells["M = 4"]["passes"]] == [True, True, False]
    assert all(len(cell["passes"]) == 3 and cell["verified_by"] for cell in cells.values())
    hits = {variant: beside_random(document, cell, 2)[0] for variant, cell in cells.items()}
    assert 1 == hits["shuffled"] < hits["M = 4"] < hits["M = 32"] < hits["sorted"]
    assert beside_random(document, cells["M = 32"], 0)[0] < hits["M = 32"]


def test_graphs_are_compared_in_the_third_iteration(tmp_path: Path) -> None:
    finished = finish("locality-graphs", tmp_path, (4, 32))
    (table,) = experiment("locality-graphs").tables(finished.document)
    assert [row[2] for row in table.rows] == ["M = 4", "M = 32", "sorted"] * 2
    assert {row[0] for row in table.rows[3:]} == {"all on average"}


def test_iterations_that_do_not_reorder_keep_what_was_gained(tmp_path: Path) -> None:
    document = finish("locality-skip", tmp_path, (4,)).document
    skipping = [cell for cell in document["cells"] if "skip" in cell]
    assert [cell["skip"] for cell in skipping] == list(locality_skip.SKIPS)
    for cell in skipping:
        reordered = [one["reordered"] for one in cell["passes"]]
        assert reordered[:3] == [i % (cell["skip"] + 1) == 0 for i in range(3)]
    third = skipping[-1]
    second, after = (beside_random(document, third, number)[0] for number in (1, 2))
    assert second == pytest.approx(after, rel=0.01)


def test_every_way_is_timed_and_has_the_same_values(tmp_path: Path) -> None:
    cells = finish("locality-walltime", tmp_path, (4,)).document["cells"]
    assert [cell["variant"] for cell in cells] == ["M = 4", *locality_ways.WAYS]
    assert all(cell["verified_by"] == ["values of the other ways"] for cell in cells)
    for cell in cells:
        assert len(cell["seconds"]) == len(cell["once_seconds"]) == 2
        for samples in (cell["iteration_seconds"], cell["iteration_cpu_seconds"]):
            assert all(len(each) == locality_walltime.ITERATIONS for each in samples)
        once, iterations = locality_walltime.fastest(cell)
        assert once > 0 and min(iterations) > 0


@pytest.mark.parametrize("device", ["cuda-emulated", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def test_a_cuda_device_has_the_same_values_by_every_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    monkeypatch.setattr(locality_ways, "_MORE_ITERATIONS", 10)
    cells = finish("locality-walltime", tmp_path, (4, 32), device).document["cells"]
    assert [cell["variant"] for cell in cells] == ["M = 4", "M = 32", *locality_ways.WAYS_ON_DEVICE]
    assert all(cell["verified_by"] == ["values of the other ways"] for cell in cells)
    assert all(len(each) == locality_walltime.ITERATIONS for cell in cells for each in cell["iteration_seconds"])


def test_the_time_of_an_edge_is_that_of_all_cores_or_of_the_device() -> None:
    cell = {"num_edges": 1000, "iteration_seconds": [[2e-8, 3e-8]], "iteration_cpu_seconds": [[4e-6, 5e-6]]}
    cell |= {"graph": "small", "variant": "tiles", "status": "done", "once_seconds": [1.0]}
    document: dict[str, Any] = {"device": "cpu", "graphs": [{"name": "small"}], "cells": [cell]}
    (table,) = locality_walltime.tables(document)
    assert "all cores" in table.title and table.rows[0][4:6] == ["4 ns", "5 ns"]
    (table,) = locality_walltime.tables(document | {"device": "cuda:0"})
    assert "cores" not in table.title and table.rows[0][4:6] == ["20 ps", "30 ps"]


def test_one_more_way_is_one_more_row_and_wrong_values_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(given: Any, iterations: int) -> Run:
        return Run(0.1, (0.1,) * iterations, (0.1,) * iterations, np.zeros(given.num_vertices))

    monkeypatch.setitem(locality_ways.WAYS, "another", wrong)
    setting = Setting("cpu", (4,), limit=0.0, repeats=2)
    finished = run("locality-walltime", ["small"], lambda _: Subject("small", GRAPH, {}), setting, tmp_path)
    *others, last = finished.document["cells"]
    assert last["variant"] == "another" and last["status"] == "wrong" and "values differ" in last["reason"]
    assert all(cell["status"] == "done" and len(cell["seconds"]) == 1 for cell in others)


def test_caches_are_scaled_to_the_vertices_and_never_beyond_the_paper() -> None:
    sizes = {n: [level.size >> 10 for level in fitting_caches("x", n)] for n in (10, 100_000, 2**20, 2**30)}
    assert sizes == {10: [4, 8], 100_000: [4, 128], 2**20: [8, 2048], 2**30: [32, 8192]}
    assert [level.size >> 10 for level in fitting_caches("cnr-2000", 325_557)] == [32, 128]
    assert [size_text(size) for size in (4096, 8 << 20)] == ["4 KB", "8 MB"]


def test_lists_are_shuffled_the_same_way_every_time() -> None:
    subject = Subject("small", GRAPH, {})
    src, dst = shuffled_ends(subject)
    assert not np.array_equal(src, np.sort(src)) and np.array_equal(src, shuffled_ends(subject)[0])
    assert set(zip(src.tolist(), dst.tolist(), strict=True)) == set(map(tuple, GRAPH.edges(indices=True).tolist()))
