"""The benchmark runner: no time without a verified answer, and a report that says what the results say."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from benchmarks.pictures import shown_in
from benchmarks.record import SCHEMA, as_text, folder_name
from benchmarks.results import Result, load_results
from benchmarks.targets import judge

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"

RUN = {"environment": {"packages": {"graphlode": "0.1.0"}}}


def run(module: str, *words: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "GRAPHLODE_DATA"}
    command = [sys.executable, "-m", f"benchmarks.{module}", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)


def cases_with(folder: Path, text: str) -> Path:
    folder.mkdir()
    shutil.copy(BENCHMARKS / "cases" / "graphs.toml", folder)
    (folder / "made.toml").write_text(text, "utf-8")
    return folder


def cell_of(folder: Path, group: str, machine: str = "test-machine-2") -> dict[str, Any]:
    """The only cell of a group's file, with what else is known of it."""
    document = json.loads((folder / machine / f"{group}.json").read_text("utf-8"))
    (cell,) = document["cells"]
    about = {name: document[name] for name in ("schema", "group", "label")}
    return about | cell | {"graph": document["graphs"][0]} | document["runs"][cell["run"]]


TRIANGLES = """
[[case]]
name = "made/triangles"
operation = "triangles"
graph = "kronecker-10"
what = "{what}"
expected = {expected}
repeats = 3
quiet = true
peers = ["scipy"]
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The results of a run of two small cases."""
    folder = tmp_path_factory.mktemp("results")
    done = run("run", "--case", "smoke/triangles-kernel", "--out", folder, "--threads", 2, "--label", "Test machine, 2")
    assert done.returncode == 0, done.stderr
    cases = cases_with(folder / "cases", TRIANGLES.format(what="end_to_end", expected='"scipy"'))
    done = run("run", "--all", "--cases", cases, "--out", folder, "--threads", 1, "--label", "Test machine, 2")
    assert done.returncode == 0, done.stderr
    return folder


def test_a_result_says_what_was_measured_where_and_on_what(written):
    result = cell_of(written, "smoke")
    assert (result["schema"], result["status"], result["case"]) == (2, "done", "smoke/triangles-kernel")
    assert result["verified_by"] == ["SciPy sparse product, in this run"]
    assert (result["what"], result["label"], result["devices"]) == ("kernel", "Test machine, 2", "cpu")
    assert len(result["seconds"]) == 2 and all(second > 0 for second in result["seconds"])
    assert result["graph"]["num_vertices"] == 1024 and len(result["graph"]["sha256"]) == 64
    assert result["environment"]["threads"] == 2 and result["environment"]["gpu"] is None
    assert isinstance(result["answer"], int) and result["answer"] > 1000
    assert str(Path.home()) not in json.dumps(result) or str(Path.home()) == "/"


def test_a_peer_is_measured_in_the_same_run(written):
    result = cell_of(written, "made")
    peer = result["peers"]["scipy"]
    assert len(peer["seconds"]) == len(result["seconds"]) == 3
    assert peer["version"] and peer["method"] and peer["settings"]
    assert result["quiet"]


def test_a_case_of_several_rounds_keeps_all_and_reports_the_median_of_each_sample(tmp_path):
    """Seven samples, so that a case in quiet mode changes to another core in between."""
    text = TRIANGLES.format(what="kernel", expected='"scipy"').replace(
        "repeats = 3", "repeats = 7\nstays = 3\nsettle = 1\nrounds = 3"
    )
    cases = cases_with(tmp_path / "cases", text)
    done = run("run", "--all", "--cases", cases, "--out", tmp_path / "results", "--label", "Test machine, 2")
    assert done.returncode == 0, done.stderr
    result = cell_of(tmp_path / "results", "made")
    assert [len(seconds) for seconds in result["rounds"]] == [7, 7, 7]
    assert result["seconds"] == [sorted(taken)[1] for taken in zip(*result["rounds"], strict=True)]
    assert len(result["peers"]["scipy"]["seconds"]) == 7
    (found,) = load_results(tmp_path / "results")
    assert found.ours.settings == "devices=cpu, on the quickest core, of each sample the median in 3 runs"


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system gives no choice of cores")
def test_a_quiet_case_has_a_core_and_then_all_of_them_again():
    script = """
import os
from benchmarks.quiet import on_quiet_core
before = os.sched_getaffinity(0)
try:
    with on_quiet_core():
        inside = os.sched_getaffinity(0)
        raise RuntimeError
except RuntimeError:
    pass
assert len(inside) == 1 and inside <= before and os.sched_getaffinity(0) == before
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("what", ["kernel", "end_to_end"])
def test_a_wrong_answer_writes_nothing_and_fails(tmp_path, what):
    cases = cases_with(tmp_path / "cases", TRIANGLES.format(what=what, expected=1))
    done = run("run", "--all", "--cases", cases, "--out", tmp_path / "results")
    assert done.returncode == 1
    assert "graphlode (count_triangles) answered" in done.stderr and "expected 1" in done.stderr
    assert not list(tmp_path.rglob("*.json"))


def test_a_case_whose_data_is_not_there_is_skipped_with_a_reason(tmp_path):
    done = run("run", "--case", "triangles/mico/kernel", "--out", tmp_path)
    assert done.returncode == 0
    assert "skipped: needs mico.txt.gz in the folder that GRAPHLODE_DATA names" in done.stdout
    assert not list(tmp_path.rglob("*.json"))


def test_an_entry_with_each_stands_for_every_combination(tmp_path):
    each = 'each = { what = ["kernel", "resident"], k = [3, 4] }'
    text = """
[[case]]
name = "made/cliques/k{k}/{what}"
operation = "cliques"
graph = "kronecker-10"
expected = "recorded"
"""
    cases = cases_with(tmp_path / "cases", text + each)
    names = run("run", "--list", "--cases", cases).stdout.split()
    assert names == [f"made/cliques/k{k}/{what}" for what in ("kernel", "resident") for k in (3, 4)]


def test_a_case_that_needs_a_gpu_is_skipped_without_one(tmp_path):
    done = run("run", "--case", "gpu/cliques/pivot/mico/k4/device", "--out", tmp_path)
    assert done.returncode == 0
    assert "skipped: needs a device of the kind cuda, such as --devices cuda:0" in done.stdout


def test_a_run_without_a_chosen_case_is_refused(tmp_path):
    assert run("run", "--out", tmp_path).returncode == 2
    assert run("run", "--case", "no/such/case", "--out", tmp_path).returncode == 2


def test_every_small_case_runs(tmp_path):
    done = run("run", "--group", "smoke", "--repeats", 1, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    names = run("run", "--group", "smoke", "--list").stdout.split()
    (file,) = tmp_path.rglob("*.json")
    assert [cell["case"] for cell in json.loads(file.read_text("utf-8"))["cells"]] == sorted(names)


def test_cases_have_different_names_and_name_known_graphs():
    graphs = tomllib.loads((BENCHMARKS / "cases" / "graphs.toml").read_text("utf-8"))
    cases = [
        case
        for file in sorted((BENCHMARKS / "cases").glob("*.toml"))
        if file.stem != "graphs"
        for case in tomllib.loads(file.read_text("utf-8"))["case"]
    ]
    assert len({case["name"] for case in cases}) == len(cases) > 20
    assert all(case["graph"] in graphs for case in cases if "graph" in case)
    assert all("expected" in case for case in cases)


def test_the_report_shows_medians_ratios_and_losses(written, tmp_path):
    file = tmp_path / "results" / "test-machine-2" / "peers.json"
    file.parent.mkdir(parents=True)
    document = json.loads((written / "test-machine-2" / "made.json").read_text("utf-8")) | {"group": "peers"}
    (cell,) = document["cells"]
    cell["seconds"], cell["peers"]["scipy"]["seconds"] = [0.4, 0.2, 0.3], [0.1, 0.2, 0.15]
    file.write_text(json.dumps(document), "utf-8")
    done = run("report", "--results", tmp_path / "results", "--out", tmp_path / "R.md")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "R.md").read_text("utf-8")
    assert "| triangles | end to end | **graphlode** | 300 ms (200 ms to 400 ms) | 1 |" in text
    assert f"| scipy {cell['peers']['scipy']['version']} | 150 ms (100 ms to 200 ms) | 0.50 |" in text
    assert "](results/test-machine-2/peers.svg)" in text
    assert "150 ms, 0.50x" in file.with_suffix(".svg").read_text("utf-8")


def test_every_group_of_cases_has_a_heading():
    from benchmarks.case import GROUPS

    groups = {path.stem for path in (BENCHMARKS / "cases").glob("*.toml")} - {"graphs"}
    assert groups <= set(GROUPS)


def test_a_target_may_ask_for_edges_per_second(tmp_path):
    data = {"case": "made/bfs", "method": "bfs", "devices": "cpu", "seconds": [2.0, 1.0, 4.0], "peers": {}}
    result = Result("2 cores", "made", data, RUN, {"num_edges": 6_000_000_000})
    target = '[[target]]\ntext = "{0}"\ncase = "made/*"\nvalue = "edges"\nat_least = {0}\n'
    file = tmp_path / "targets.toml"
    file.write_text(target.format(3) + target.format(4) + target.format(4).replace("made", "other"), "utf-8")
    met, missed, unmeasured = judge([result], file)
    assert (met.values, met.met) == ({"made/bfs": 3.0}, True)
    assert (missed.values, missed.met) == ({"made/bfs": 3.0}, False)
    assert (unmeasured.values, unmeasured.met) == ({}, None)


def test_a_target_may_ask_for_the_worst_sample_and_for_bytes_per_edge(tmp_path):
    data = {"case": "made/store", "method": "apply", "devices": "cpu", "seconds": [2.0, 1.0, 6.0], "peers": {}}
    result = Result("2 cores", "made", data | {"bytes": {"store": 60, "edges": 5}}, RUN)
    target = '[[target]]\ntext = "a"\ncase = "made/*"\nvalue = "{}"\nat_most = {}\n'
    file = tmp_path / "targets.toml"
    file.write_text("".join(target.format(*each) for each in [("worst", 3), ("worst", 2.9), ("bytes per edge", 12)]))
    met, missed, small = judge([result], file)
    assert (met.values, met.met, missed.met) == ({"made/store": 3.0}, True, False)
    assert (small.values, small.met) == ({"made/store": 12.0}, True)
    hot = Result("2 cores", "made", data | {"case": "made/store/hot", "seconds": [3.0, 5.0, 4.0]}, RUN)
    file.write_text("".join(target.format("worst:parent", limit).replace("made/*", "made/*/*") for limit in (2.5, 2)))
    met, missed = judge([result, hot], file)
    assert (met.values, met.met, missed.met) == ({"made/store/hot": 2.5}, True, False)
    assert judge([hot], file)[0].met is None


def test_the_committed_report_is_up_to_date_with_the_results(tmp_path):
    done = run("report", "--no-plots", "--out", tmp_path / "REPORT.md")
    assert done.returncode == 0, done.stderr
    beside = os.path.relpath(BENCHMARKS, tmp_path)  # the same pictures, seen from there
    fresh = (tmp_path / "REPORT.md").read_text("utf-8").replace(f"]({beside}/", "](")
    assert fresh == (BENCHMARKS / "REPORT.md").read_text("utf-8"), "run python -m benchmarks.report"


def test_the_readme_shows_the_committed_figures(tmp_path):
    copy = Path(shutil.copy(ROOT / "README.md", tmp_path))
    done = run("report", "--no-plots", "--out", tmp_path / "REPORT.md", "--readme", copy)
    assert done.returncode == 0, done.stderr
    assert copy.read_text("utf-8") == (ROOT / "README.md").read_text("utf-8"), "run python -m benchmarks.report"


def test_committed_results_are_verified_and_belong_to_cases():
    known = set(run("run", "--list").stdout.split())
    for result in load_results(BENCHMARKS / "results"):
        assert result.cell["status"] == "done" and result.cell["verified_by"] and result.case in known


def test_results_are_one_file_for_each_group_or_experiment_and_machine():
    for file in (BENCHMARKS / "results").rglob("*.json"):
        document = json.loads(file.read_text("utf-8"))
        name = document.get("group") or document["experiment"]
        assert document["schema"] == SCHEMA and file.parent.name == folder_name(document["label"])
        assert file.stem == name if "group" in document else file.stem.startswith(name)
        assert file.read_text("utf-8") == as_text(document), f"{file.name} is not as the recorder writes it"


def test_documents_show_all_committed_pictures_and_no_other_ones():
    documents = [BENCHMARKS / "REPORT.md", ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {picture for each in documents for picture in shown_in(each)}
    assert shown == set(BENCHMARKS.rglob("*.svg"))
    assert all(picture.with_suffix(".json").exists() for picture in shown)
