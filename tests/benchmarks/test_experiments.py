"""The experiments themselves, on small graphs: what they measure adds up, agrees, and can be drawn."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import graphlode as gl
from benchmarks.experiments import experiment
from benchmarks.experiments.cliques import scaling, sensitivity
from benchmarks.experiments.cliques.ablation import VARIANTS, change
from benchmarks.experiments.cliques.simulation import POLICIES
from benchmarks.experiments.run import Finished, run
from benchmarks.experiments.setting import Setting
from benchmarks.experiments.subjects import Subject
from graphlode.errors import InputError
from graphlode.types import Task

CLUSTERS = gl.planted_clique(60, 14, p=0.2, seed=3)
COUNTS = {k: gl.count_cliques(CLUSTERS, k, devices="reference").total for k in (5, 6)}


def finish(name: str, folder: Path, device: str, sizes: tuple[int, ...]) -> Finished:
    setting = Setting(device, sizes, limit=60.0, repeats=2)
    finished = run(name, ["clusters"], lambda _: Subject("clusters", CLUSTERS, COUNTS), setting, folder)
    assert finished.document["failed"] == {}
    assert [plot.suffix for plot in finished.plots] == [".png", ".svg"]
    assert all(table.rows for table in experiment(name).tables(finished.document))
    bad = [cell for cell in finished.document["cells"] if cell["status"] not in ("done", "simulated")]
    assert bad == []
    return finished


def by_variant(finished: Finished) -> dict[str, dict[str, Any]]:
    return {cell["variant"]: cell for cell in finished.document["cells"] if "variant" in cell}


def test_ablation_times_every_variant_and_all_agree(tmp_path: Path) -> None:
    cells = by_variant(finish("cliques-ablation", tmp_path, "cuda-emulated", (6,)))
    assert list(cells) == list(VARIANTS)
    assert {cell["answer"] for cell in cells.values()} == {COUNTS[6]}
    assert all("known count" in cell["verified_by"] and len(cell["seconds"]) == 2 for cell in cells.values())


def test_a_change_is_relative_to_the_variant_that_differs_in_one_part() -> None:
    times = {"thread": 4.0, "scheduled": 2.0, "both": 1.0}
    cells = {name: {"seconds": [seconds]} for name, seconds in times.items()}
    assert [change(cells, name) for name in ("thread", "scheduled", "both", "classes")] == [None, -0.5, -0.5, None]


def test_lanes_are_between_one_and_a_warp(tmp_path: Path) -> None:
    finished = finish("cliques-lanes", tmp_path, "cuda-emulated", (6,))
    cells = by_variant(finished)
    assert list(cells) == ["thread", "queued", "scheduled"]
    assert all(1 <= cell["lanes"] <= 32 and cell["warp_steps"] > 0 for cell in cells.values())
    assert "emulated" in finished.document["notes"][0]


def test_sensitivity_has_the_same_tasks_in_every_bin_at_both_levels(tmp_path: Path) -> None:
    finished = finish("cliques-sensitivity", tmp_path, "cuda-emulated", (6,))
    shallow, deep = (by_variant(finished)[f"level {level}"] for level in sensitivity.LEVELS)
    assert shallow["tasks"] == deep["tasks"] and sum(shallow["tasks"]) > 0
    assert len(shallow["ticks"]) == 2 and all(len(ticks) == sensitivity.BINS for ticks in shallow["ticks"])
    busy = {i for i, tasks in enumerate(shallow["tasks"]) if tasks}
    assert set(sensitivity.quotients(finished.document, "clusters", 6)) <= busy


@pytest.mark.parametrize(("device", "methods"), [("cpu", ("pivot", "enumerate")), ("cuda-emulated", ("enumerate",))])
def test_scaling_measures_instances_and_labels_what_is_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, device: str, methods: tuple[str, ...]
) -> None:
    monkeypatch.setattr(scaling, "METHODS", methods)
    monkeypatch.setattr(scaling, "SHORTEST", 0.0)
    cells = finish("cliques-scaling", tmp_path, device, (5,)).document["cells"]
    for method in methods:
        mine = [cell for cell in cells if cell["method"] == method]
        measured = [cell["instances"] for cell in mine if cell["kind"] == "measured"]
        assert measured == list(range(1, len(measured) + 1))
        pieces = next(cell for cell in mine if cell["kind"] == "pieces")
        assert pieces["answer"] == COUNTS[5] and len(pieces["seconds"]) == 1024
        simulated = [cell for cell in mine if cell["kind"] == "simulated"]
        assert all(cell["status"] == "simulated" for cell in simulated)
        assert len(simulated) == len(POLICIES) * scaling.MOST_DEVICES
        assert all(cell["speedup"] == 1 for cell in simulated if cell["devices"] == 1)


def test_scaling_of_what_one_device_does_in_no_time_is_not_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scaling, "METHODS", ("pivot",))
    monkeypatch.setattr(scaling, "SHORTEST", 1e3)
    setting = Setting("cpu", (5,), limit=60.0, repeats=2)
    finished = run("cliques-scaling", ["clusters"], lambda _: Subject("clusters", CLUSTERS, COUNTS), setting, tmp_path)
    cells = finished.document["cells"]
    (pieces,) = (cell for cell in cells if cell["kind"] == "pieces")
    assert pieces["status"] == "skipped" and "launching pieces would take longer" in pieces["reason"]
    assert not [cell for cell in cells if cell["kind"] == "simulated"]


def test_pieces_are_as_many_as_fit_ten_times_the_whole() -> None:
    assert scaling.fitting_pieces(0.001, 4.0) == 1024
    assert scaling.fitting_pieces(0.0185, 6.6) == 256
    assert scaling.fitting_pieces(60.0, 4.0) == scaling.FEWEST_PIECES
    slots = [Task(3 * i, 3 * i + 3) for i in range(1024)]
    assert scaling.joined(slots, 1024) == slots
    larger = scaling.joined(slots, 64)
    assert len(larger) == 64 and larger[0] == Task(0, 48) and larger[-1].end == 3 * 1024
    assert all(before.end == after.begin for before, after in pairwise(larger))


def test_scaling_with_larger_pieces_has_the_same_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"METHODS": ("pivot",), "SHORTEST": 0.0, "LAUNCHING": 0.0, "LONGEST": 0.0}.items():
        monkeypatch.setattr(scaling, name, value)
    cells = finish("cliques-scaling", tmp_path, "cpu", (5,)).document["cells"]
    (pieces,) = (cell for cell in cells if cell["kind"] == "pieces")
    assert pieces["answer"] == COUNTS[5] and len(pieces["seconds"]) == scaling.FEWEST_PIECES
    assert {cell["devices"] for cell in cells if cell["kind"] == "simulated"} == set(range(1, 9))


def test_where_to_build_is_not_asked_of_sizes_that_leave_no_choice(tmp_path: Path) -> None:
    setting = Setting("cuda-emulated", (5, 6), limit=60.0, repeats=1)
    with pytest.raises(InputError, match="no choice where to build below k = 6"):
        run("cliques-sensitivity", ["clusters"], lambda _: Subject("clusters", CLUSTERS, {}), setting, tmp_path)
    assert not list(tmp_path.iterdir())


def test_runtime_on_a_cuda_device_has_the_cpu_beside_it(tmp_path: Path) -> None:
    document = finish("cliques-runtime", tmp_path, "cuda-emulated", (5,)).document
    ways = {(cell["device"], cell["method"]) for cell in document["cells"]}
    assert {("cuda-emulated", "pivot"), ("cuda-emulated", "enumerate"), ("cpu", "pivot")} <= ways
    assert {cell["answer"] for cell in document["cells"]} == {COUNTS[5]}
