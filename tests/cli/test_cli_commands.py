"""Every command, in tables and in JSON."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.cli.app import COMMANDS
from graphlode.datasets import dataset, dataset_names
from graphlode.generate import web
from graphlode.io import read, write

KARATE = {"name": "karate", "num_vertices": 34, "num_edges": 78, "directed": False}


def test_help_lists_every_command(graphlode: Any) -> None:
    shown = graphlode("--help")
    assert shown.status == 0
    assert all(f" {name} " in shown.out for name in COMMANDS)
    assert graphlode().out == shown.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_json(graphlode: Any, name: str) -> None:
    shown = graphlode(name, "--help")
    assert shown.status == 0
    assert "--json" in shown.out


def test_version_is_that_of_the_package(graphlode: Any) -> None:
    assert graphlode("--version").out == f"graphlode {gl.__version__}\n"


def test_info_prints_size_degrees_and_file(graphlode: Any) -> None:
    found = graphlode("info", "karate", "--json").json
    assert found["command"] == "info"
    assert found["graph"] == KARATE
    assert found["degrees"] == {"all": {"min": 1, "median": 3.0, "mean": 156 / 34, "max": 17}}
    assert found["density"] == 78 / (34 * 33 / 2)
    assert (found["isolated"], found["self_loops_dropped"], found["duplicates_dropped"]) == (0, 0, 0)
    assert (found["weights"], found["times"]) == (None, None)
    assert found["file_bytes"] == 379 and found["read_seconds"] > 0 and found["memory_bytes"] > 34 * 8


def test_info_of_a_directed_graph_has_both_degrees_and_times(graphlode: Any) -> None:
    found = graphlode("info", "CollegeMsg", "--json").json
    assert found["graph"]["directed"] is True
    assert set(found["degrees"]) == {"out", "in"}
    assert found["degrees"]["out"]["mean"] == found["degrees"]["in"]["mean"] == 20296 / 1899
    assert found["times"][0] == 1082040961
    assert found["duplicates_dropped"] == 59835 - 20296


def test_info_counts_what_was_dropped_and_what_is_isolated(graphlode: Any, tmp_path: Path) -> None:
    path = tmp_path / "small.mtx"
    path.write_text("%%MatrixMarket matrix coordinate pattern general\n5 5 4\n1 2\n2 1\n3 3\n1 2\n")
    found = graphlode("info", path, "--json").json
    assert found["graph"]["num_vertices"] == 5 and found["graph"]["num_edges"] == 1
    assert (found["isolated"], found["self_loops_dropped"], found["duplicates_dropped"]) == (3, 1, 2)


def test_info_of_an_empty_graph_is_all_zero(graphlode: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("# nothing\n")
    found = graphlode("info", path, "--json").json
    assert found["graph"]["num_vertices"] == 0 and found["density"] == 0 and found["ids"] is None
    assert graphlode("info", path).status == 0


@pytest.mark.parametrize("name", dataset_names())
def test_info_and_triangles_know_every_bundled_graph(graphlode: Any, name: str) -> None:
    assert name in graphlode("info", name).out
    assert graphlode("triangles", name, "--json").json["total"] == gl.count_triangles(dataset(name)).total


def test_a_file_wins_over_a_bundled_graph_of_its_name(
    graphlode: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("karate").write_text("1 2\n2 3\n3 1\n")
    assert graphlode("triangles", "karate", "--format", "text", "--json").json["total"] == 1


def test_triangles_in_json_has_the_documented_shape(graphlode: Any) -> None:
    found = graphlode("triangles", "karate", "--json").json
    assert list(found) == ["command", "graph", "total", "provenance"]
    assert (found["command"], found["graph"], found["total"]) == ("triangles", KARATE, 45)
    assert found["provenance"]["devices"] == gl.count_triangles(dataset("karate")).provenance.to_dict()["devices"]


def test_large_counts_are_json_integers(graphlode: Any, tmp_path: Path) -> None:
    path = tmp_path / "complete.npz"
    write(gl.from_edges(*np.triu_indices(400, 1)), path)
    total = graphlode("triangles", path, "--json").json["total"]
    assert isinstance(total, int) and total == 400 * 399 * 398 // 6


def test_triangles_by_vertex_shows_the_top_and_writes_all(graphlode: Any, tmp_path: Path) -> None:
    out = tmp_path / "by_vertex.csv"
    found = graphlode("triangles", "karate", "--by", "vertex", "--top", 2, "--out", out, "--json").json
    assert found["top"] == [{"vertex": 0, "triangles": 18}, {"vertex": 33, "triangles": 15}]
    with out.open(encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    expected = gl.count_triangles(dataset("karate"), by="vertex").by_vertex
    assert expected is not None
    assert [int(row["triangles"]) for row in rows] == expected.tolist()
    assert [int(row["vertex"]) for row in rows] == list(range(34))


@pytest.mark.parametrize("suffix", [".tsv", ".npz", ".parquet"])
def test_triangles_by_edge_can_be_written_in_every_format(graphlode: Any, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"by_edge{suffix}"
    found = graphlode("triangles", "polblogs", "--by", "edge", "--top", 1, "--out", out, "--json").json
    graph = dataset("polblogs", directed=False)
    expected = gl.count_triangles(graph, by="edge").by_edge
    assert expected is not None
    if suffix == ".tsv":
        u, v, counts = np.loadtxt(out, np.int64, skiprows=1, unpack=True)
    elif suffix == ".npz":
        with np.load(out) as columns:
            u, v, counts = columns["u"], columns["v"], columns["triangles"]
    else:
        import pyarrow.parquet

        u, v, counts = (column.to_numpy() for column in pyarrow.parquet.read_table(out).columns)
    assert np.array_equal(np.stack([u, v], 1), graph.edges())
    assert np.array_equal(counts, expected)
    assert found["top"][0]["triangles"] == expected.max()
    assert "undirected form" in found["provenance"]["notes"][0]


def test_cores_prints_degeneracy_sizes_and_the_innermost(graphlode: Any, tmp_path: Path) -> None:
    out = tmp_path / "cores.tsv"
    found = graphlode("cores", "karate", "--top", 3, "--out", out, "--json").json
    assert (found["command"], found["graph"], found["degeneracy"]) == ("cores", KARATE, 4)
    assert sum(found["sizes"].values()) == 34
    assert [row["core"] for row in found["top"]] == [4, 4, 4]
    vertices, values = np.loadtxt(out, np.int64, skiprows=1, unpack=True)
    assert np.array_equal(values, gl.core_numbers(dataset("karate")).values)
    assert np.array_equal(vertices, np.arange(34))


@pytest.mark.parametrize("devices", [["--device", "cpu,cpu"], ["--device", "cpu", "--device", "cpu"]])
def test_several_devices_by_commas_or_by_repeating(graphlode: Any, devices: list[str]) -> None:
    found = graphlode("triangles", "jazz", *devices, "--json").json
    assert found["total"] == 17899
    assert found["provenance"]["devices"] == ["cpu", "cpu"]


def test_threads_reaches_the_device(graphlode: Any) -> None:
    assert graphlode("triangles", "jazz", "--threads", 1, "--json").json["provenance"]["threads"] == 1


def test_the_reference_device_agrees(graphlode: Any) -> None:
    assert graphlode("triangles", "lesmis", "--device", "reference", "--json").json["total"] == 467


@pytest.mark.parametrize(
    "name", ["out.txt", "out.csv.gz", "out.mtx", "out.metis", "out.npz", "out.parquet", "out.gr.xz"]
)
def test_convert_writes_a_file_that_reads_back_equal(graphlode: Any, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    found = graphlode("convert", "karate", out, "--json").json
    assert found["graph"] == KARATE and found["file_bytes"] == out.stat().st_size
    assert np.array_equal(read(out).csr[1], dataset("karate").csr[1])


@pytest.mark.parametrize(("values", "kept"), [(None, "weights"), ("times", "times"), ("none", None)])
def test_the_third_column_is_what_values_says(
    graphlode: Any, tmp_path: Path, values: str | None, kept: str | None
) -> None:
    (tmp_path / "calls.txt").write_text("1 2 1700000000\n2 3 1700000060\n")
    options = [] if values is None else ["--values", values]
    found = graphlode("info", tmp_path / "calls.txt", *options, "--json").json
    assert {name for name in ("weights", "times") if found[name] is not None} == ({kept} if kept else set())
    graphlode("convert", tmp_path / "calls.txt", tmp_path / "calls.npz", *options, "--json")
    graph = gl.read(tmp_path / "calls.npz")
    assert {name for name in ("weights", "times") if getattr(graph, name) is not None} == ({kept} if kept else set())


def test_convert_takes_formats_that_suffixes_do_not_name(graphlode: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    assert graphlode("convert", "karate", first, "--out-format", "csv").status == 0
    assert graphlode("convert", first, second, "--format", "csv", "--out-format", "mtx").status == 0
    assert read(second, format="mtx").num_edges == 78


def test_directed_reads_both_directions_as_two_edges(graphlode: Any, tmp_path: Path) -> None:
    path = tmp_path / "both.txt"
    path.write_text("1 2\n2 1\n")
    assert graphlode("info", path, "--json").json["graph"]["num_edges"] == 1
    assert graphlode("info", path, "--directed", "--json").json["graph"]["num_edges"] == 2
    assert graphlode("info", "polblogs", "--undirected", "--json").json["graph"]["num_edges"] == 16715


@pytest.mark.parametrize(
    ("options", "num_vertices", "num_edges"),
    [
        (["complete", "-n", 7], 7, 21),
        (["cycle", "-n", 9], 9, 9),
        (["star", "-n", 6], 7, 6),
        (["path", "-n", 6], 6, 5),
        (["grid", "--rows", 3, "--columns", 4], 12, 17),
        (["erdos_renyi", "-n", 50, "-m", 99, "--seed", 2], 50, 99),
        (["barabasi_albert", "-n", 40, "-m", 2], 40, 76),
        (["planted_clique", "-n", 30, "-k", 5, "-p", 0], 30, 10),
    ],
)
def test_generate_makes_the_kind_it_is_asked_for(
    graphlode: Any, tmp_path: Path, options: list[Any], num_vertices: int, num_edges: int
) -> None:
    out = tmp_path / "made.txt"
    found = graphlode("generate", options[0], out, *options[1:], "--json").json
    assert (found["graph"]["num_vertices"], found["graph"]["num_edges"]) == (num_vertices, num_edges)
    assert (read(out).num_vertices, read(out).num_edges) == (num_vertices, num_edges)


@pytest.mark.parametrize("kind", ["rmat", "kronecker"])
def test_generate_depends_on_the_seed_alone(graphlode: Any, tmp_path: Path, kind: str) -> None:
    files = [tmp_path / f"{i}.txt" for i in range(3)]
    for file, seed, threads in zip(files, (1, 1, 2), (1, 2, 2), strict=True):
        options = ("--scale", 8, "--edge-factor", 4, "-a", 0.5, "-b", 0.2, "-c", 0.2, "--seed", seed)
        assert graphlode("generate", kind, file, *options, "--threads", threads).status == 0
    assert files[0].read_bytes() == files[1].read_bytes() != files[2].read_bytes()


@pytest.mark.parametrize(("options", "directed"), [((), True), (("--undirected",), False)])
def test_generate_makes_a_web_of_links_or_of_edges(
    graphlode: Any, tmp_path: Path, options: tuple[str, ...], directed: bool
) -> None:
    out = tmp_path / "web.npz"
    found = graphlode("generate", "web", out, "--scale", 7, "--edge-factor", 4, "--seed", 3, *options, "--json").json
    expected = web(7, 4, seed=3, directed=directed)
    assert found["graph"]["num_edges"] == expected.num_edges > 100 and read(out) == expected


def test_devices_lists_the_cpu_and_says_why_there_is_no_gpu(graphlode: Any) -> None:
    found = graphlode("devices", "--json").json
    cpu = next(each for each in found["devices"] if each["name"] == "cpu")
    assert cpu["model"] and cpu["threads"] >= 1 and 0 < cpu["memory_free"] <= cpu["memory"]
    has_cuda = any(each["kind"] == "cuda" for each in found["devices"])
    assert has_cuda == (found["no_cuda"] is None)
    assert set(found["default"]) <= {each["name"] for each in found["devices"]}
    assert cpu["model"].split()[0] in graphlode("devices").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["info", "polblogs"], ["1,224", "19,022 directed", "out-degree", "in-degree", "density"]),
        (["triangles", "jazz"], ["2,742", "17,899", "on cpu"]),
        (
            ["triangles", "karate", "--by", "edge", "--top", "1", "--device", "cpu"],
            ["most triangles by edge", "32", "10"],
        ),
        (
            ["cores", "jazz", "--top", "2", "--threads", "1", "--device", "cpu"],
            ["degeneracy", "29", "30 vertices", "1 thread"],
        ),
    ],
)
def test_tables_show_the_numbers_within_eighty_columns(graphlode: Any, arguments: list[str], words: list[str]) -> None:
    if arguments[:2] == ["triangles", "jazz"]:
        arguments = [*arguments, "--device", "cpu"]
    shown = graphlode(*arguments)
    assert shown.status == 0 and shown.err == ""
    assert all(word in shown.out for word in words), shown.out
    assert max(len(line) for line in shown.out.splitlines()) <= 80
