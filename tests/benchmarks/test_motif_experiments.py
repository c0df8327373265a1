"""The experiments about motifs, on small graphs: passes add up, all ways agree, and what is too large is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphlode as gl
from benchmarks.experiments import experiment
from benchmarks.experiments.motifs import steps as motifs_steps
from benchmarks.experiments.motifs.runs import known_motifs, pattern_text, patterns_of, ways
from benchmarks.experiments.run import run
from benchmarks.experiments.setting import Setting
from benchmarks.experiments.subjects import Subject
from graphlode.config import configure
from graphlode.mining.motif_formulas import raw_names
from graphlode.types import Pass

GRAPH = gl.planted_clique(40, 8, p=0.2, seed=3)
COUNTS = {size: gl.count_motifs(GRAPH, size, devices="reference").noninduced for size in (3, 4, 5)}


def finish(
    name: str, folder: Path, device: str, sizes: tuple[int, ...], graph: gl.Graph = GRAPH
) -> list[dict[str, Any]]:
    setting = Setting(device, sizes, limit=60.0, repeats=2)
    known = COUNTS if graph is GRAPH else {}
    finished = run(name, ["small"], lambda _: Subject("small", graph, known), setting, folder)
    assert finished.document["failed"] == {}
    assert [plot.suffix for plot in finished.plots] == [".png", ".svg"]
    assert all(table.rows for table in experiment(name).tables(finished.document))
    cells: list[dict[str, Any]] = finished.document["cells"]
    return cells


@pytest.mark.parametrize("device", ["cpu", "cuda-emulated"])
def test_passes_are_timed_alone_and_together_serve_all_patterns(tmp_path: Path, device: str) -> None:
    with configure(threads=2):
        cells = finish("motifs-steps", tmp_path, device, (5,))
        assert [cell["variant"] for cell in cells] == [way.label for way in ways(device)]
    for cell in cells:
        assert cell["status"] == "done" and "known count" in cell["verified_by"]
        names = [each["name"] for each in cell["passes"]]
        assert names[0] == "view" and len(names) == len(set(names)) >= 5
        assert sum(each["seconds"][0] for each in cell["passes"]) == pytest.approx(cell["seconds"][0])
        assert {name for each in cell["passes"] for name in each["sums"]} == set(raw_names(5))
    stored = [each["name"] for cell in cells if cell["method"] == "materialize" for each in cell["passes"]]
    assert (device == "cpu") or {"list triangles", "list wedges", "list diamonds"} <= set(stored)


@pytest.mark.parametrize("device", ["cpu", "cuda-emulated"])
def test_every_way_is_timed_at_every_size_and_all_agree(tmp_path: Path, device: str) -> None:
    with configure(threads=2):
        cells = finish("motifs-runtime", tmp_path, device, (3, 4, 5))
    assert len({cell["variant"] for cell in cells}) == (2 if device == "cpu" else 3)
    for cell in cells:
        assert cell["status"] == "done" and tuple(cell["answer"]) == COUNTS[cell["k"]]
        assert len(cell["seconds"]) == 2 and len(cell["verified_by"]) >= 2


def test_an_answer_that_is_not_the_known_one_is_wrong(tmp_path: Path) -> None:
    setting = Setting("cpu", (3,), limit=60.0, repeats=1)
    known = {3: (COUNTS[3][0], COUNTS[3][1] + 1)}
    finished = run("motifs-runtime", ["small"], lambda _: Subject("small", GRAPH, known), setting, tmp_path)
    assert {cell["status"] for cell in finished.document["cells"]} == {"wrong"}


@pytest.mark.parametrize("device", ["cpu", "cuda-emulated"])
def test_peaks_stand_beside_what_is_allowed_and_what_lists_would_hold(tmp_path: Path, device: str) -> None:
    with configure(threads=1):
        cells = finish("motifs-memory", tmp_path, device, (5,))
    wedges, triangles, diamonds = (COUNTS[5][i] for i in (0, 1, 6))
    for cell in cells:
        assert cell["status"] == "done" and cell["peak_bytes"] > 0 and cell["verified_by"]
        assert cell["allowed_bytes"] == 16 * 3 * triangles + 64 * GRAPH.num_edges
        assert cell["list_entries"] == {"triangles": 3 * triangles, "wedges": wedges, "diamonds": 2 * diamonds}
    (on_cpu,) = (cell for cell in cells if cell["device"] == "cpu")
    assert on_cpu["peak_bytes"] <= on_cpu["allowed_bytes"]


def test_lists_that_do_not_fit_are_reported_and_fail_nothing(tmp_path: Path) -> None:
    with configure(memory_limit=500_000):  # less than the list of wedges alone needs
        for name in ("motifs-steps", "motifs-runtime", "motifs-memory"):
            cells = finish(name, tmp_path, "cuda-emulated", (4,), gl.complete(40))
            by_method = {cell["method"]: cell for cell in cells if cell["device"] == "cuda-emulated"}
            assert by_method["fused"]["status"] == "done"
            assert by_method["materialize"]["status"] == "too large"
            assert "the list of" in by_method["materialize"]["reason"]


def test_what_takes_too_long_is_stopped(tmp_path: Path) -> None:
    graph = gl.rmat(13, 16, seed=1)
    setting = Setting("cpu", (5,), limit=0.01, repeats=1)
    for name in ("motifs-steps", "motifs-runtime", "motifs-memory"):
        finished = run(name, ["large"], lambda _: Subject("large", graph, {}), setting, tmp_path)
        assert finished.document["failed"] == {}
        assert {cell["status"] for cell in finished.document["cells"]} == {"stopped"}


def test_passes_of_one_name_are_taken_together() -> None:
    rounds = [[Pass("a", 1.0, ("x",)), Pass("b", 2.0), Pass("a", 3.0, ("x", "y"))], [Pass("a", 5.0)]]
    assert motifs_steps.by_name(rounds) == [
        {"name": "a", "seconds": [4.0, 5.0], "sums": ["x", "y"]},
        {"name": "b", "seconds": [2.0, 0.0], "sums": []},
    ]


def test_patterns_follow_from_the_formulas() -> None:
    assert patterns_of("cliques5") == {29}
    assert patterns_of("wedges") == {1}
    assert {2, 4, 11} <= patterns_of("triangles")
    assert frozenset().union(*map(patterns_of, raw_names(5))) == set(range(1, 30))
    assert pattern_text([7, 1, 2, 3, 9, 10]) == "H1-H3 H7 H9-H10"


def test_known_counts_of_motifs_are_read_by_size() -> None:
    known = known_motifs({"noninduced": list(range(29)), "induced": []})
    assert {size: len(counts) for size, counts in known.items()} == {3: 2, 4: 8, 5: 29}
    assert set(known_motifs({"noninduced": list(range(8))})) == {3, 4}
