"""What every experiment relies on: samples with a limit, answers that agree, files that are always whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from benchmarks.contest import WrongAnswerError
from benchmarks.experiments import counting
from benchmarks.experiments.counting import (
    FailedCellError,
    OverTimeError,
    check_all,
    count_cell,
    expected_seconds,
    sampled,
    time_limit,
    verify,
)
from benchmarks.experiments.run import begin
from benchmarks.experiments.setting import Setting
from benchmarks.experiments.subjects import Subject, generate, short_name
from benchmarks.plots import time_text
from benchmarks.record import SCHEMA, Record, as_text, environment_of
from graphlode.errors import DeviceMemoryError, InputError, UnsupportedError
from graphlode.measure import Samples

KARATE = Subject("karate", gl.dataset("karate"), {})


def cell(**fields: Any) -> dict[str, Any]:
    return {"graph": "karate", "k": 4, "method": "pivot", "device": "cpu", "status": "done", "seconds": [1.0]} | fields


def test_a_subject_is_identified_by_its_size_and_the_digest_of_its_rows() -> None:
    facts = KARATE.facts
    assert (facts["num_vertices"], facts["num_edges"], len(facts["sha256"])) == (34, 78, 64)
    assert Subject("other", gl.dataset("karate"), {}).facts["sha256"] == facts["sha256"]
    assert Subject("other", gl.dataset("lesmis"), {}).facts["sha256"] != facts["sha256"]


def test_generated_graphs_have_the_edges_that_their_name_draws() -> None:
    made = generate("rmat:6:100:3")
    same = gl.rmat(6, 2, seed=3)
    assert made.num_vertices == 64 and 0 < made.num_edges <= 100
    assert set(map(tuple, made.edges().tolist())) <= set(map(tuple, same.edges().tolist()))


def test_a_graph_like_that_of_web_pages_has_a_short_name_too() -> None:
    named, graph = generate("web:9:4096:3", directed=True), gl.web(9, 8, seed=3)
    assert graph.directed
    for ours, theirs in zip(named.csr, graph.csr, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["rmat:6", "rmat:6:x", "rmat:6:1:2:3", "rmat:0:5", "rmat:40:5"])
def test_a_malformed_generated_graph_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="rmat"):
        generate(name)


def test_names_lose_folder_and_suffix() -> None:
    names = ["a/b/mico.txt.gz", "karate", "uk-2007-05-100k.npz", "rmat:6:100"]
    assert [short_name(name) for name in names] == ["mico", "karate", "uk-2007-05-100k", "rmat:6:100"]


def test_a_count_over_its_limit_is_stopped_and_says_so() -> None:
    slow = Subject("slow", gl.erdos_renyi(300, m=20_000, seed=1), {})
    found = count_cell(slow, 9, "pivot", "reference", limit=-60.0, repeats=1)  # over before it begins
    assert found["status"] == "stopped" and "stopped after" in found["reason"]
    assert "seconds" not in found


def test_a_limit_is_silent_until_it_is_over() -> None:
    time_limit(60)(1, 2)
    with pytest.raises(OverTimeError):
        time_limit(-1)(1, 2)


def test_samples_are_as_many_as_fit_and_at_least_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "sample", lambda run, **_: Samples((1.0,), run(), 0))  # so that each takes a second

    def once(seconds: float) -> tuple[int, float]:
        return 7, 0.5

    assert sampled(once, "cpu", limit=10, repeats=4)["seconds"] == [0.5] * 4
    assert sampled(once, "cpu", limit=2.5, repeats=9)["call_seconds"] == [1.0] * 3
    assert sampled(once, "cpu", limit=0.1, repeats=9)["seconds"] == [0.5]
    assert sampled(lambda seconds: (7, None), "cpu", limit=10, repeats=2)["seconds"] == [1.0] * 2


def test_only_the_first_call_has_time_to_compile() -> None:
    allowed: list[float] = []
    sampled(lambda seconds: (allowed.append(seconds), 0.5), "cuda-emulated", limit=3, repeats=2)
    assert allowed == [3 + counting.COMPILING, 3, 3]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnsupportedError("not here"), "unsupported"),
        (DeviceMemoryError("needs 9 bytes"), "too large"),
        (KeyError("bug"), "failed"),
    ],
)
def test_what_goes_wrong_in_a_cell_is_written_down(error: Exception, status: str) -> None:
    def once(seconds: float) -> tuple[int, float]:
        raise error

    found = sampled(once, "cpu", limit=1, repeats=1)
    assert found["status"] == status and str(error) in found["reason"]
    if status == "failed":
        with pytest.raises(FailedCellError, match="1 of 2 cells failed"):
            check_all([cell(), cell() | found])


def test_answers_that_change_from_call_to_call_are_wrong() -> None:
    answers = iter((4, 5))
    assert sampled(lambda seconds: (next(answers), 1.0), "cpu", limit=1, repeats=1)["status"] == "wrong"


def test_an_answer_is_verified_by_another_way_to_it() -> None:
    cells = [cell(answer=11), cell(answer=11, method="enumerate"), cell(answer=2, k=5)]
    verify(cells, KARATE)
    assert [c["verified_by"] for c in cells] == [["enumerate on cpu"], ["pivot on cpu"], []]
    check_all(cells)


def test_answers_that_differ_are_all_wrong_unless_one_is_known() -> None:
    cells = [cell(answer=11), cell(answer=12, method="enumerate")]
    verify(cells, KARATE)
    assert [c["status"] for c in cells] == ["wrong", "wrong"]
    with pytest.raises(WrongAnswerError, match="karate, k = 4"):
        check_all(cells)
    cells = [cell(answer=11), cell(answer=12, method="enumerate")]
    verify(cells, Subject("karate", KARATE.graph, {4: 11}))
    assert [c["status"] for c in cells] == ["done", "wrong"]


def test_the_time_of_a_method_that_visits_all_cliques_grows_with_their_number() -> None:
    before = [cell(k=4, seconds=[2.0]), cell(k=5, seconds=[3.0])]
    counts = {4: 10, 5: 100, 6: 1000}
    assert expected_seconds(before, 6, counts, visits_all=True) == 30.0
    assert expected_seconds(before, 6, counts, visits_all=False) == 4.5
    assert expected_seconds([], 4, counts, visits_all=True) == 0
    assert expected_seconds([cell(status="stopped")], 5, counts, visits_all=True) == float("inf")
    assert expected_seconds([cell(status="failed")], 5, counts, visits_all=True) == 0


def test_the_file_of_a_record_is_whole_after_every_cell(tmp_path: Path) -> None:
    said: list[str] = []
    record = begin(tmp_path / "r.json", "cliques-runtime", "Title", Setting("cpu", (4,), say=said.append))
    record.add_graph(KARATE.facts)
    record.note("a word")
    assert not list(tmp_path.iterdir())  # before there is a cell, nothing is worth more than what may be there
    record.add(cell(answer=11))
    record.fail_graph("lesmis", "gone\nTraceback")
    found = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert found == record.document
    assert found["graphs"] == [KARATE.facts] and found["failed"] == {"lesmis": "gone\nTraceback"}
    assert environment_of(found)["cpu"] and found["schema"] == SCHEMA
    assert said == ["karate k=4 pivot cpu: done 1.000000 s", "lesmis: failed: gone"]
    assert not list(tmp_path.glob("*.part"))


def _run(number: int) -> dict[str, Any]:
    return {"commit": str(number), "dirty": False, "environment": {"threads": number, "gpu": None}}


def test_a_case_that_is_measured_again_takes_the_place_of_its_cell(tmp_path: Path) -> None:
    file, about = tmp_path / "g.json", {"group": "made", "label": "a machine"}
    for number, cases in enumerate((["b", "a"], ["a", "c"], ["b"]), 1):
        record = Record.resume(file, about, _run(number))
        record.add_graph(KARATE.facts)
        for case in cases:
            record.put_case(case, {"graph": "karate", "seconds": [float(number)]})
    found = json.loads(file.read_text("utf-8"))
    runs = [found["runs"][cell["run"]]["commit"] for cell in found["cells"]]
    assert [(cell["case"], cell["seconds"]) for cell in found["cells"]] == [("a", [2.0]), ("b", [3.0]), ("c", [2.0])]
    assert runs == ["2", "3", "2"] and [run["commit"] for run in found["runs"]] == ["2", "3"]
    assert found["graphs"] == [KARATE.facts]


def test_cells_of_another_graph_by_the_same_name_are_forgotten(tmp_path: Path) -> None:
    record = Record.resume(tmp_path / "g.json", {"group": "made", "label": "a machine"}, _run(1))
    for name, digest in (("karate", "1"), ("jazz", "1"), ("karate", "2")):
        record.add_graph({"name": name, "sha256": digest})
        record.put_case(f"{name}/{digest}", {"graph": name})
    assert [cell["case"] for cell in record.cells] == ["jazz/1", "karate/2"]
    assert record.document["graphs"] == [{"name": "jazz", "sha256": "1"}, {"name": "karate", "sha256": "2"}]


def test_a_cell_is_one_line_with_the_digits_of_a_clock() -> None:
    text = as_text({"schema": SCHEMA, "cells": [{"seconds": [0.01895618500020646] * 3}, {"answer": 10**20}]})
    assert text.splitlines()[3:5] == [
        '  {"seconds": [0.018956185, 0.018956185, 0.018956185]},',
        '  {"answer": 100000000000000000000}',
    ]
    assert json.loads(text)["cells"][1]["answer"] == 10**20


def test_times_are_printed_in_a_suitable_unit() -> None:
    assert [time_text(s) for s in (2.5, 1.0, 0.0421, 0.001, 3e-6)] == ["2.5 s", "1 s", "42.1 ms", "1 ms", "3 µs"]
    assert [time_text(s) for s in (4.2e-9, 9.8e-12, 0.0)] == ["4.2 ns", "9.8 ps", "0 ps"]
