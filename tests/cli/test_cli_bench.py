"""`graphlode bench`: JSON, tables, pictures, and what happens when something goes wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.experiments import EXPERIMENTS, experiment
from benchmarks.experiments.cliques import runtime

QUICK = ("--repeats", 1, "--limit", 20)


def test_the_command_knows_every_experiment(graphlode: Any) -> None:
    printed = "".join(graphlode("bench", "--help").out.split())
    for name in EXPERIMENTS:
        assert name in printed
        assert experiment(name).SIZES and experiment(name).TITLE


def test_runtime_measures_verifies_and_draws(graphlode: Any, tmp_path: Path) -> None:
    options = ("-k", "3,4-5", "--device", "reference", "--out", tmp_path, *QUICK)
    found = graphlode("bench", "cliques-runtime", "karate", "rmat:5:60:2", *options, "--json").json
    assert found["command"] == "bench" and found["experiment"] == "cliques-runtime"
    assert [graph["name"] for graph in found["graphs"]] == ["karate", "rmat:5:60:2"]
    assert found["sizes"] == [3, 4, 5] and found["failed"] == {}
    karate = [cell for cell in found["cells"] if cell["graph"] == "karate"]
    assert {(cell["k"], cell["answer"]) for cell in karate} == {(3, 45), (4, 11), (5, 2)}
    assert all(cell["status"] == "done" and cell["verified_by"] and cell["seconds"] for cell in found["cells"])
    files = [Path(file) for file in found["files"]]
    assert [file.name for file in files] == [f"cliques-runtime{end}" for end in (".json", ".png", ".svg")]
    assert all(file.stat().st_size > 1000 for file in files)
    written = json.loads(files[0].read_text("utf-8"))
    assert written["cells"] == found["cells"]


def test_a_table_is_shown_and_progress_goes_to_stderr(graphlode: Any, tmp_path: Path) -> None:
    shown = graphlode("bench", "cliques-runtime", "karate", "-k", 4, "--device", "reference", "--out", tmp_path, *QUICK)
    assert shown.status == 0
    assert "pivot, reference" in shown.out and "k = 4" in shown.out and "cliques-runtime.png" in shown.out
    assert "karate k=4 pivot reference: done" in shown.err


def test_an_earlier_run_is_drawn_again_without_measuring(graphlode: Any, tmp_path: Path) -> None:
    options = ("-k", 4, "--device", "reference", "--out", tmp_path, *QUICK)
    first = graphlode("bench", "cliques-runtime", "karate", *options, "--json").json
    again = tmp_path / "again"
    redraw = ("--redraw", tmp_path / "cliques-runtime.json", "--out", again)
    assert graphlode("bench", "cliques-runtime", *redraw, "--json").json["cells"] == first["cells"]
    assert sorted(file.name for file in again.iterdir()) == ["cliques-runtime.png", "cliques-runtime.svg"]
    assert "is of the experiment cliques-runtime" in graphlode("bench", "cliques-lanes", *redraw).error
    renamed = (tmp_path / "cliques-runtime.json").rename(tmp_path / "karate-alone.json")
    graphlode("bench", "cliques-runtime", "--redraw", renamed, "--out", again)
    assert {file.name for file in again.glob("karate*")} == {"karate-alone.png", "karate-alone.svg"}


def test_known_counts_are_compared_with(graphlode: Any, tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text('{"graphs": {"karate": {"4": 12}}}')
    shown = graphlode(
        "bench", "cliques-runtime", "karate", "-k", 4, "--device", "reference",
        "--expected", tmp_path / "known.json", "--out", tmp_path, *QUICK,
    )  # fmt: skip
    assert shown.status == 2
    assert (
        "3 cells have a wrong answer; the first: karate, k = 4, pivot on reference: answered 11, known is 12"
        in shown.err
    )


def _fail_on(monkeypatch: pytest.MonkeyPatch, graph: str) -> None:
    """Have the experiment cliques-runtime fail on a graph before it has a cell of it."""
    measure = runtime.measure

    def fail(subject: Any, setting: Any, record: Any) -> None:
        if subject.name == graph:
            raise ZeroDivisionError("no luck")
        measure(subject, setting, record)

    monkeypatch.setattr(runtime, "measure", fail)


@pytest.mark.parametrize("graphs", [("lesmis", "karate"), ("karate", "lesmis")])
def test_what_goes_wrong_with_one_graph_does_not_touch_the_others(
    graphlode: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, graphs: tuple[str, str]
) -> None:
    _fail_on(monkeypatch, "lesmis")
    options = ("-k", 3, "--device", "reference", "--out", tmp_path, *QUICK)
    shown = graphlode("bench", "cliques-runtime", *graphs, *options)
    file = tmp_path / "cliques-runtime.json"
    says = f"error: lesmis could not be measured: ZeroDivisionError: no luck; {file} says where\n"
    assert shown.status == 2 and shown.err.endswith(says) and "Traceback" not in shown.err
    written = json.loads(file.read_text("utf-8"))
    assert "Traceback" in written["failed"]["lesmis"]
    assert {cell["graph"] for cell in written["cells"]} == {"karate"}


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A folder with what earlier runs of all experiments wrote."""
    folder = tmp_path / "earlier"
    folder.mkdir()
    for name in EXPERIMENTS:
        (folder / f"{name}.json").write_text("earlier")
    return folder


def _untouched(folder: Path) -> bool:
    return {file.name: file.read_text() for file in folder.iterdir()} == {f"{n}.json": "earlier" for n in EXPERIMENTS}


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize(
    ("graph", "says"),
    [
        ("jaz", "jaz: no such file; bundled graphs are karate, "),
        ("loop.txt", "loop.txt: there are no edges to measure"),
        ("broken.txt", "broken.txt, line 1: "),
        ("rmat:5:0", "rmat:5:0: there are no edges to measure"),
        ("rmat:5", "rmat:5: a generated graph is KIND:SCALE:EDGES"),
    ],
)
def test_a_graph_that_cannot_be_measured_is_named_and_what_is_there_stays(
    graphlode: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, earlier: Path, name: str, graph: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.txt").write_text("1 1\n", "utf-8")
    (tmp_path / "broken.txt").write_text("1 x\n", "utf-8")
    for graphs in ((graph,), ("karate", graph)):
        assert graphlode("bench", name, *graphs, "--device", "cpu", "--out", earlier).error.startswith(says)
        assert _untouched(earlier)
    assert graphlode("bench", name, graph, "--device", "cpu", "--out", "new").status == 2
    assert not (tmp_path / "new").exists()


def test_an_experiment_that_cannot_run_on_a_device_leaves_what_is_there(graphlode: Any, earlier: Path) -> None:
    says = graphlode("bench", "cliques-ablation", "--device", "cpu", "--out", earlier).error
    assert "use cuda:0 or cuda-emulated" in says and _untouched(earlier)


def test_a_fault_of_an_experiment_is_not_hidden_and_leaves_what_is_there(
    graphlode: Any, monkeypatch: pytest.MonkeyPatch, earlier: Path
) -> None:
    _fail_on(monkeypatch, "karate")
    with pytest.raises(ZeroDivisionError):
        graphlode("bench", "cliques-runtime", "karate", "--device", "reference", "--out", earlier)
    assert _untouched(earlier)


def test_omitted_batches_are_reported(graphlode: Any, tmp_path: Path, earlier: Path) -> None:
    (tmp_path / "tiny.txt").write_text("1 2\n2 3\n3 4\n", "utf-8")
    options = ("bench", "store-batch", tmp_path / "tiny.txt", "--device", "cpu", *QUICK)
    said = "tiny: batches of 100, 1,000, 10,000, 100,000, 1,000,000 edges are left out: the graph has 3"
    assert graphlode(*options, "--out", earlier).error == f"nothing was measured; {said}"
    assert _untouched(earlier)
    shown = graphlode(*options, "--sizes", "1,7", "--out", tmp_path)
    assert shown.status == 0 and "tiny: batches of 7 edges are left out: the graph has 3\n" in shown.out


def test_a_graph_that_is_too_small_for_a_clique_is_measured(graphlode: Any, tmp_path: Path) -> None:
    (tmp_path / "tiny.txt").write_text("1 2\n2 3\n", "utf-8")
    options = ("-k", 4, "--device", "cpu", "--out", tmp_path, *QUICK)
    cells = graphlode("bench", "cliques-runtime", tmp_path / "tiny.txt", *options, "--json").json["cells"]
    assert {(cell["status"], cell["answer"]) for cell in cells} == {("done", 0)}


def test_without_matplotlib_the_json_is_still_written(
    graphlode: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    options = ("-k", 3, "--device", "reference", "--out", tmp_path, *QUICK)
    found = graphlode("bench", "cliques-runtime", "karate", *options, "--json").json
    assert [Path(file).name for file in found["files"]] == ["cliques-runtime.json"]
    assert found["notes"] == ["plots need matplotlib: pip install graphlode[plot]"]


@pytest.mark.parametrize("name", ["cliques-ablation", "cliques-lanes", "cliques-sensitivity"])
def test_experiments_that_look_inside_cuda_kernels_say_so_elsewhere(graphlode: Any, tmp_path: Path, name: str) -> None:
    shown = graphlode("bench", name, "karate", "--device", "cpu", "--out", tmp_path)
    assert shown.status == 2 and "use cuda:0 or cuda-emulated" in shown.err


def test_sizes_that_leave_nothing_to_measure_are_refused(graphlode: Any, tmp_path: Path) -> None:
    shown = graphlode(
        "bench", "cliques-sensitivity", "karate", "-k", "4-7", "--device", "cuda-emulated", "--out", tmp_path
    )
    assert "-k takes sizes of at least 6" in shown.error


@pytest.mark.parametrize("sizes", ["x", "2-4", "5-", "", "7-5"])
def test_sizes_that_mean_nothing_are_refused(graphlode: Any, tmp_path: Path, sizes: str) -> None:
    shown = graphlode("bench", "cliques-runtime", "karate", "-k", sizes, "--out", tmp_path)
    assert "-k takes sizes" in shown.error


@pytest.mark.parametrize(
    ("name", "sizes", "says"),
    [
        ("store-correctness", "0", "--sizes takes sizes of at least 1: "),
        ("store-shares", "x", "--sizes takes sizes of at least 0: "),
        ("store-batch", "1-999999", "--sizes takes at most "),
        ("motifs-runtime", "2", "--sizes takes sizes of at least 3: "),
    ],
)
def test_errors_about_sizes_name_their_option(graphlode: Any, tmp_path: Path, name: str, sizes: str, says: str) -> None:
    shown = graphlode("bench", name, "karate", "--sizes", sizes, "--device", "cpu", "--out", tmp_path)
    assert shown.error.startswith(says)


def test_an_unknown_experiment_and_a_file_for_a_folder_are_refused(graphlode: Any, tmp_path: Path) -> None:
    assert "cliques-runtime" in graphlode("bench", "cliques-speed", "karate").error
    (tmp_path / "file").write_text("")
    assert "results go to a folder" in graphlode("bench", "cliques-runtime", "karate", "--out", tmp_path / "file").error


def test_without_the_repository_one_line_says_where_benchmarks_are(
    graphlode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for word in ("cliques-runtime", "--help"):
        monkeypatch.setitem(sys.modules, "benchmarks.experiments.command", None)
        assert graphlode("bench", word, "-k", 4).error.startswith("benchmarks are part of the repository, not of the ")


def test_the_program_finds_the_repository_in_the_working_folder() -> None:
    program = "import sys; from graphlode.cli import run; sys.exit(run(['bench', 'no-such']))"
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-P", "-c", program], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "no-such: there is no such experiment; there are cliques-runtime" in done.stderr


def test_the_runner_of_cases_runs_experiments_too(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks.run import main

    assert main(["experiment", "no-such"]) == 2
    assert "there is no such experiment" in capsys.readouterr().err
