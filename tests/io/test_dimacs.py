"""DIMACS shortest-path files (.gr)."""

from __future__ import annotations

import pytest

from graphlode.errors import InputError, UnsupportedError
from graphlode.io import read, read_edges


def put(folder, content):
    path = folder / "a.gr"
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_arcs_with_lengths(tmp_path, newline):
    lines = ["c note", "c", "p sp 4 3", "c inside", "a 1 2 803", "a 2 1 803", "", "a 4 1 2.5"]
    path = put(tmp_path, newline.join(lines))
    edges = read_edges(path)
    assert edges.src.tolist() == [0, 1, 3] and edges.dst.tolist() == [1, 0, 0]
    assert edges.weights.tolist() == [803.0, 803.0, 2.5]
    assert edges.num_vertices == 4 and edges.directed is None
    graph = read(path)
    assert not graph.directed and graph.num_edges == 2 and graph.num_vertices == 4
    assert read(path, directed=True).num_edges == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", 'line 1: expected the line "p sp'),
        ("c only\n", 'line 1: expected the line "p sp'),
        ("a 1 2 3\n", 'line 1: expected the line "p sp'),
        ("c\np sp 3\n", 'line 2: expected the line "p sp'),
        ("p sp 3 x\n", "line 1: expected vertices and arcs"),
        ("p sp 3 2\na 1 2 5\n", "line 1: 2 arcs are announced, the file has 1"),
        ("p sp 3 1\na 1 2 5\na 2 1 5\n", "line 1: 1 arcs are announced, the file has 2"),
        ("p sp 3 2\na 1 2 5\nc\na 1 4 5\n", r"line 4: the vertex 4 is not in 1\.\.3"),
        ("p sp 3 1\na 0 1 5\n", r"line 2: the vertex 0 is not in 1\.\.3"),
        ("p sp 3 1\na 1 2\n", "line 2: 2 columns where 3 are expected"),
        ("p sp 3 1\na 1\n", "line 2: expected 2 columns, found 1"),
        ("p sp 3 1\na\n", 'line 2: expected a line that starts with "a"'),
        ("p sp 3 1\ne 1 2 5\n", 'line 2: expected a line that starts with "a", found "e"'),
        ("p sp 3 1\n1 2 5\n", 'line 2: expected a line that starts with "a", found "1"'),
        ("p sp 3 1\np sp 3 1\na 1 2 5\n", 'line 2: expected a line that starts with "a", found "p"'),
        ("p sp 3 1\na 1 2 inf\n", "line 2: expected a finite number"),
    ],
)
def test_malformed_files_are_named(tmp_path, content, message):
    with pytest.raises(InputError, match=rf"a\.gr, {message}"):
        read_edges(put(tmp_path, content))


def test_other_problems_are_not_offered(tmp_path):
    with pytest.raises(UnsupportedError, match=r'a\.gr, line 1: a problem of the kind "tw" is not offered; sp is'):
        read_edges(put(tmp_path, "p tw 3 1\n1 2\n"))
