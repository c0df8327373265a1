"""Matrix Market files."""

from __future__ import annotations

import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from graphlode.errors import InputError, UnsupportedError
from graphlode.io import read, read_edges

BANNER = "%%MatrixMarket matrix coordinate"


def put(folder, content):
    path = folder / "a.mtx"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_general_pattern(tmp_path):
    edges = read_edges(put(tmp_path, f"{BANNER} pattern general\n% note\n\n4 4 3\n1 2\n% note\n2 1\n4 4\n"))
    assert edges.src.tolist() == [0, 1, 3] and edges.dst.tolist() == [1, 0, 3]
    assert edges.num_vertices == 4 and edges.directed is None and edges.values is None


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "end"])
def test_a_symmetric_real_matrix_with_any_line_ends(tmp_path, newline, last):
    lines = [f"{BANNER.upper()} Real Symmetric", "3 3 3", "2 1 0.5", "3 1 -1e3", "3  3\t7"]
    edges = read_edges(put(tmp_path, newline.join(lines) + (newline if last else "")))
    assert edges.src.tolist() == [1, 2, 2] and edges.dst.tolist() == [0, 0, 2]
    assert edges.weights.tolist() == [0.5, -1000.0, 7.0] and edges.directed is False


def test_a_general_matrix_is_undirected_unless_asked(tmp_path):
    path = put(tmp_path, f"{BANNER} pattern general\n3 3 2\n1 2\n3 1\n")
    assert not read(path).directed
    assert read(path, directed=True).edges().tolist() == [[0, 1], [2, 0]]


def test_what_scipy_writes(tmp_path):
    matrix = scipy.sparse.random_array((30, 30), density=0.1, rng=np.random.default_rng(1))
    target = io.BytesIO()
    scipy.io.mmwrite(target, matrix, comment="by scipy", precision=17)
    edges = read_edges(put(tmp_path, target.getvalue()))
    again = scipy.sparse.coo_array((edges.weights, (edges.src, edges.dst)), shape=(30, 30))
    assert np.array_equal(again.toarray(), matrix.toarray())


def test_scipy_reads_what_is_written(tmp_path):
    from graphlode.graph.build import from_edges
    from graphlode.io import write

    graph = from_edges([0, 1, 3], [1, 2, 0], num_vertices=5, weights=[0.1, 2.0, -3.5])
    write(graph, tmp_path / "g.mtx")
    assert np.array_equal(scipy.io.mmread(tmp_path / "g.mtx").toarray(), graph.to_scipy().toarray())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: expected the banner"),
        ("1 2\n", "line 1: expected the banner"),
        ("%%MatrixMarket matrix\n", "line 1: expected the banner"),
        (f"{BANNER} pattern general\n% only comments\n", "line 2: the file ends before"),
        (f"{BANNER} pattern general\n3 3\n1 2\n", "line 2: expected rows, columns and entries"),
        (f"{BANNER} pattern general\n3 3 -1\n", "line 2: expected rows, columns and entries"),
        (f"{BANNER} pattern general\n3 3 x\n", "line 2: expected rows, columns and entries"),
        (f"{BANNER} pattern general\n3 4 1\n1 2\n", "line 2: an adjacency matrix is square"),
        (f"{BANNER} pattern general\n%\n3 3 2\n1 2\n", "line 3: 2 entries are announced, the file has 1"),
        (f"{BANNER} pattern general\n3 3 1\n1 2\n2 3\n", "line 2: 1 entries are announced, the file has 2"),
        (f"{BANNER} pattern general\n3 3 0\n1 2\n", "line 2: 0 entries are announced, the file has 1"),
        (f"{BANNER} pattern general\n3 3 2\n1 2\n0 1\n", r"line 4: the vertex 0 is not in 1\.\.3"),
        (f"{BANNER} pattern general\n3 3 2\n1 2\n\n% x\n1 4\n", r"line 6: the vertex 4 is not in 1\.\.3"),
        (f"{BANNER} pattern general\n3 3 1\n-1 2\n", r"line 3: the vertex -1 is not in 1\.\.3"),
        (f"{BANNER} pattern general\n3 3 1\n1 2 3\n", "line 3: 3 columns where 2 are expected"),
        (f"{BANNER} real general\n3 3 1\n1 2\n", "line 3: 2 columns where 3 are expected"),
        (f"{BANNER} real general\n3 3 1\n1 2 nan\n", "line 3: expected a finite number"),
        (f"{BANNER} pattern symmetric\n3 3 2\n2 1\n1 2\n", "line 4: an entry above the diagonal"),
        (f"{BANNER} pattern general\n3 3 1\na b\n", "line 3: expected an integer id"),
    ],
)
def test_malformed_files_are_named(tmp_path, content, message):
    with pytest.raises(InputError, match=rf"a\.mtx, {message}"):
        read_edges(put(tmp_path, content))


@pytest.mark.parametrize(
    "kind",
    ["coordinate complex general", "coordinate real skew-symmetric", "array real general", "coordinate real hermitian"],
)
def test_other_kinds_are_not_offered(tmp_path, kind):
    with pytest.raises(UnsupportedError, match="is not offered; matrix coordinate"):
        read_edges(put(tmp_path, f"%%MatrixMarket matrix {kind}\n1 1 1\n1 1 1 1\n"))


def test_integer_values_as_times_are_exact(tmp_path):
    path = put(tmp_path, f"{BANNER} integer general\n2 2 1\n1 2 9007199254740993\n")
    assert read_edges(path, values="times").times.tolist() == [9007199254740993]
    assert read_edges(path, values=None).values is None
