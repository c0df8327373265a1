"""write, then read: an equal graph in every format, and what each format keeps."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphlode.errors import InputError, UnsupportedError
from graphlode.graph.build import from_edges
from graphlode.io import read, read_edges, write

WRITE_MODULE = sys.modules["graphlode.io.write"]  # the package's attribute of that name is the function
TEXT_SUFFIXES = [".txt", ".edges", ".el", ".tsv", ".csv", ".mtx", ".metis", ".graph", ".gr"]
COMPRESSIONS = ["", ".gz", ".bz2", ".xz", ".zst"]
EVERY_NAME = [s + c for s in TEXT_SUFFIXES for c in COMPRESSIONS] + [".npz", ".parquet"]
ONE_OF_EACH = [".txt", ".csv", ".mtx", ".metis", ".gr", ".npz", ".parquet"]


def some_graph(kind=None, directed=False, isolated=3):
    rng = np.random.default_rng(7)
    src, dst = rng.integers(0, 60, (2, 300))
    values = {
        None: {},
        "weights": {"weights": rng.normal(size=300)},
        "times": {"times": rng.integers(-(2**62), 2**62, 300)},
        "both": {"weights": rng.normal(size=300), "times": rng.integers(-(2**62), 2**62, 300)},
    }[kind]
    return from_edges(src, dst, num_vertices=60 + isolated, directed=directed, **values)


@pytest.mark.parametrize("name", EVERY_NAME)
def test_every_format_and_compression(tmp_path, name):
    graph = some_graph()
    write(graph, tmp_path / f"g{name}")
    assert read(tmp_path / f"g{name}") == graph
    assert [p.name for p in tmp_path.iterdir()] == [f"g{name}"]


@pytest.mark.parametrize("suffix", ONE_OF_EACH)
@pytest.mark.parametrize("kind", [None, "weights", "times"])
@pytest.mark.parametrize("directed", [False, True])
def test_values_and_directions(tmp_path, suffix, kind, directed):
    graph = some_graph(kind, directed)
    path = tmp_path / f"g{suffix}"
    if suffix == ".metis" and directed:
        with pytest.raises(UnsupportedError, match="undirected"):
            write(graph, path)
        assert not list(tmp_path.iterdir())
        return
    write(graph, path)
    again = read(path)
    assert again == graph
    assert again.provenance.source == str(path)


@pytest.mark.parametrize("suffix", ONE_OF_EACH)
@pytest.mark.parametrize("size", [0, 1, 5])
def test_graphs_without_edges_keep_their_vertices(tmp_path, suffix, size):
    graph = from_edges([], [], num_vertices=size)
    write(graph, tmp_path / f"g{suffix}")
    assert read(tmp_path / f"g{suffix}") == graph


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".npz", ".parquet"])
def test_original_ids_are_kept(tmp_path, suffix):
    graph = from_edges([-(2**63), 2**63 - 1, 5], [7, -(2**63), 7], weights=[0.5, 2.0, 1e-9])
    write(graph, tmp_path / f"g{suffix}")
    assert read(tmp_path / f"g{suffix}") == graph


@pytest.mark.parametrize("suffix", [".mtx", ".metis", ".gr"])
def test_numbered_formats_number_the_vertices(tmp_path, suffix):
    graph = from_edges([10, 20], [20, 90])
    write(graph, tmp_path / f"g{suffix}")
    assert read(tmp_path / f"g{suffix}") == from_edges([0, 1], [1, 2], num_vertices=3)


def test_npz_keeps_ids_of_vertices_without_edges_and_both_values(tmp_path):
    from graphlode.graph.graph import Graph

    path = tmp_path / "g.npz"
    plain = some_graph("both")
    ids = np.arange(plain.num_vertices) * 10 - 100
    graph = Graph(*plain.csr, directed=False, ids=ids, weights=plain.weights, times=plain.times)
    write(graph, path)
    assert read(path) == graph
    only_times = read(path, values="times")
    assert only_times.weights is None and np.array_equal(only_times.times, graph.times)
    assert read(path, values=None).weights is None
    edges = read_edges(path)
    assert np.array_equal(np.stack([edges.src, edges.dst], 1), graph.edges())
    assert np.array_equal(edges.weights, graph.weights) and np.array_equal(edges.times, graph.times)


def test_parquet_keeps_both_values(tmp_path):
    graph = some_graph("both")
    write(graph, tmp_path / "g.parquet")
    assert read(tmp_path / "g.parquet") == graph


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".mtx", ".metis", ".gr"])
def test_text_formats_refuse_weights_and_times_together(tmp_path, suffix):
    with pytest.raises(UnsupportedError, match="one value per edge"):
        write(some_graph("both"), tmp_path / f"g{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", ONE_OF_EACH)
def test_an_undirected_file_read_as_directed_has_both_directions(tmp_path, suffix):
    graph = some_graph("weights")
    write(graph, tmp_path / f"g{suffix}")
    again = read(tmp_path / f"g{suffix}", directed=True)
    u, v = graph.edges(indices=True).T
    expected = from_edges(
        np.concatenate([u, v]),
        np.concatenate([v, u]),
        num_vertices=graph.num_vertices,
        directed=True,
        weights=np.tile(graph.weights, 2),
    )
    assert again == expected


def test_the_mark_is_not_needed_and_not_trusted(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("# graphlode num_vertices=4 directed=1 values=times\n0 1 5\n")
    graph = read(path)
    assert graph.num_vertices == 4 and graph.directed and graph.times.tolist() == [5]
    assert read(path, directed=False, values="weights").weights.tolist() == [5.0]
    path.write_text("# graphlode num_vertices=4 directed=0 values=none\n0 1\n9 -7\n")
    assert read(path).ids.tolist() == [-7, 0, 1, 9]
    path.write_text("# graphlode num_vertices=1000000000000000000000 directed=2 values=x\n0 1\n")
    assert read(path).num_vertices == 2
    path.write_text("0 1\n")
    assert read(path, num_vertices=4, directed=True) == from_edges([0], [1], num_vertices=4, directed=True)


def test_num_vertices_too_small_names_the_file(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("0 9\n")
    with pytest.raises(InputError, match=r"g\.txt: "):
        read(path, num_vertices=3)


def test_format_overrides_the_suffix(tmp_path):
    graph = some_graph("weights")
    write(graph, tmp_path / "g.dat", format="mtx")
    assert (tmp_path / "g.dat").read_text().startswith("%%MatrixMarket matrix coordinate real symmetric\n")
    assert read(tmp_path / "g.dat", format="mtx") == graph
    write(graph, tmp_path / "out.dat.gz", format="text")
    assert read(tmp_path / "out.dat.gz", format="text") == graph


def test_dropped_edges_are_counted(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("1 2\n2 1\n3 3\n1 2\n")
    graph = read(path)
    assert graph.num_edges == 1
    assert (graph.provenance.edges_given, graph.provenance.self_loops_dropped) == (4, 1)
    assert graph.provenance.duplicates_dropped == 2


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "g.txt"
    write(some_graph(), path)
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(WRITE_MODULE, "format_edges", fail)
    with pytest.raises(OSError, match="disk full"):
        write(some_graph("times"), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["g.txt"]


def test_a_graph_larger_than_one_piece_of_text(tmp_path, monkeypatch):
    monkeypatch.setattr(WRITE_MODULE, "_LINES", 7)
    graph = some_graph("weights")
    for suffix in ONE_OF_EACH:
        write(graph, tmp_path / f"g{suffix}")
        assert read(tmp_path / f"g{suffix}") == graph


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), size=st.sampled_from([0, 1, 2, 31, 33, 65]), directed=st.booleans())
def test_random_graphs(tmp_path, data, size, directed):
    vertex = st.integers(0, max(size - 1, 0))
    edges = data.draw(st.lists(st.tuples(vertex, vertex), max_size=80 if size else 0))
    weights = data.draw(
        st.none() | st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=len(edges), max_size=len(edges))
    )
    src, dst = np.array(edges, np.int64).reshape(-1, 2).T
    graph = from_edges(src, dst, num_vertices=size, directed=directed, weights=weights)
    suffix = data.draw(st.sampled_from([s for s in ONE_OF_EACH if not (directed and s == ".metis")]))
    write(graph, tmp_path / f"g{suffix}")
    assert read(tmp_path / f"g{suffix}") == graph
