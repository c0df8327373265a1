"""METIS files."""

from __future__ import annotations

import numpy as np
import pytest

from graphlode.cpu import _native
from graphlode.cpu.io.metis import parse_adjacency
from graphlode.errors import InputError
from graphlode.io import read_edges

TRIANGLE = "3 3\n2 3\n1 3\n1 2\n"


def put(folder, content):
    path = folder / "a.metis"
    path.write_bytes(content.encode())
    return path


def pairs(edges):
    return list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))


@pytest.mark.parametrize(
    "content",
    [
        TRIANGLE,
        TRIANGLE.rstrip("\n"),
        TRIANGLE.replace("\n", "\r\n"),
        "% note\n\n" + TRIANGLE.replace("\n1 3", "\n% inside\n  1\t3  "),
        TRIANGLE + "\n\n% end\n",
        "3 3 0\n2 3\n1 3\n1 2\n",
        "3 3 010\n9 2 3\n8 1 3\n7 1 2\n",
        "3 3 10 2\n9 9 2 3\n8 8 1 3\n7 7 1 2\n",
        "3 3 110 2\n5 9 9 2 3\n5 8 8 1 3\n5 7 7 1 2\n",
    ],
)
def test_a_triangle_in_every_layout(tmp_path, content):
    edges = read_edges(put(tmp_path, content))
    assert pairs(edges) == [(0, 1), (0, 2), (1, 2)]
    assert edges.num_vertices == 3 and edges.directed is False and edges.values is None


def test_edge_weights_with_and_without_vertex_weights(tmp_path):
    for content in ("3 2 1\n2 5 3 0.5\n1 5\n1 0.5\n", "3 2 011\n1 2 5 3 0.5\n1 1 5\n1 1 0.5\n"):
        edges = read_edges(put(tmp_path, content))
        assert pairs(edges) == [(0, 1), (0, 2)] and edges.weights.tolist() == [5.0, 0.5]
    times = read_edges(put(tmp_path, f"2 1 001\n2 {2**62 + 1}\n1 {2**62 + 1}\n"), values="times")
    assert times.times.tolist() == [2**62 + 1]
    assert read_edges(put(tmp_path, "2 1 001\n2 5\n1 5\n"), values=None).values is None


@pytest.mark.parametrize("content", ["4 1\n\n3\n2\n\n", "4 1\n\n3\n2\n", "4 1\n  \n3\n2\n%\n\n\n"])
def test_a_blank_line_is_a_vertex_without_neighbors(tmp_path, content):
    edges = read_edges(put(tmp_path, content))
    assert pairs(edges) == [(1, 2)] and edges.num_vertices == 4


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: expected vertices, edges"),
        ("% only\n", "line 1: expected vertices, edges"),
        ("x y\n", "line 1: expected vertices, edges"),
        ("3\n", "line 1: expected vertices, edges"),
        ("2 1 7\n2\n1\n", "line 1: expected vertices, edges"),
        ("2 1 0011\n2\n1\n", "line 1: expected vertices, edges"),
        ("3 2\n2 3\n1 3\n1 2\n", "line 1: 2 edges are announced, the file has 3"),
        ("% c\n3 4\n2 3\n1 3\n1 2\n", "line 2: 4 edges are announced, the file has 3"),
        ("3 3\n2 3\n%\n1 4\n1 2\n", r"line 4: the vertex 4 is not in 1\.\.3"),
        ("3 3\n2 3\n0 3\n1 2\n", r"line 3: the vertex 0 is not in 1\.\.3"),
        ("3 3\n2 3\n1 2 3\n1 2\n", "line 3: vertex 2 lists itself"),
        ("3 3\n2 3\n1 x\n1 2\n", 'line 3: expected the number of a vertex, found "x"'),
        ("3 3\n2 3\n1 3.5\n1 2\n", 'line 3: expected the number of a vertex, found "3.5"'),
        (f"3 3\n2 3\n1 {2**70}\n1 2\n", "line 3: .* does not fit in 64 bits"),
        ("3 3\n2 3\n1 3\n1 2\n1\n", "line 5: a line after those of the 3 vertices"),
        ("5 3\n2 3\n1 3\n1 2\n", "line 5: the file ends after the lines of 3 of 5 vertices"),
        ("3 2\n2 3\n1\n% c\n\n", "line 2: vertex 1 lists 3 more often than vertex 3 lists 1"),
        ("3 2\n\n% c\n3 1\n2\n", "line 4: vertex 2 lists 1 more often than vertex 1 lists 2"),
        ("2 1 1\n2 5\n1 6\n", "line 2: vertex 1 gives the edge to 2 another weight"),
        ("2 1 1\n2 5\n1\n", "line 3: expected the weight of the last edge"),
        ("2 1 1\n2 5\n1 nan\n", "line 3: expected a finite number as weight"),
        ("2 1 10\n1 2\n\n", "line 3: expected 1 numbers about the vertex, found 0"),
        ("999999999999 0\n", "line 1: 999999999999 vertices are announced"),
    ],
)
def test_malformed_files_are_named(tmp_path, content, message):
    with pytest.raises(InputError, match=rf"a\.metis, {message}"):
        read_edges(put(tmp_path, content))


def sample(rng, n, m):
    edges = {(min(u, v), max(u, v)) for u, v in rng.integers(0, n, (m, 2)).tolist() if u != v}
    rows = [[] for _ in range(n)]
    for u, v in edges:
        rows[u].append(v)
        rows[v].append(u)
    return rows


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("chunk_bytes", [1, 3, 50, 1 << 20])
def test_threads_and_chunks_do_not_change_the_rows(threads, chunk_bytes):
    rows = sample(np.random.default_rng(2), 80, 150)
    lines = []
    for row in rows:
        lines += ["% note"] * (len(row) % 3 == 1) + [" ".join(str(v + 1) for v in row)]
    text = np.frombuffer("\n".join(lines).encode() + b"\n", np.uint8)
    found = parse_adjacency(text, 80, None, threads=threads, chunk_bytes=chunk_bytes)
    assert np.diff(found.offsets).tolist() == [len(row) for row in rows]
    assert found.neighbors.tolist() == [v for row in rows for v in row]
    assert found.symmetric


@pytest.mark.parametrize("chunk_bytes", [1, 40, 1 << 20])
def test_the_first_error_is_reported_whatever_the_chunks(chunk_bytes):
    lines = [" ".join(str(v + 1) for v in row) for row in sample(np.random.default_rng(4), 300, 600)]
    lines[250] += " oops"
    lines[270] += " 0"
    with pytest.raises(InputError, match='^line 252: expected the number of a vertex, found "oops"$'):
        parse_adjacency(
            np.frombuffer("\n".join(lines).encode(), np.uint8),
            300,
            None,
            first_line=2,
            chunk_bytes=chunk_bytes,
            threads=2,
        )


def test_one_missing_entry_among_many_is_noticed():
    rng = np.random.default_rng(6)
    for _ in range(50):
        rows = sample(rng, 40, 100)
        u = next(v for v in rng.permutation(40).tolist() if rows[v])
        rows[u].pop()
        text = "\n".join(" ".join(str(v + 1) for v in row) for row in rows).encode() + b"\n"
        assert not parse_adjacency(np.frombuffer(text, np.uint8), 40, None).symmetric


def test_a_failed_allocation_is_a_memory_error_and_leaks_nothing():
    text = np.frombuffer(b"2 5 3 5\n1 5 3 5\n1 5 2 5\n", np.uint8)
    before = _native.live_bytes()
    failures = 0
    while True:
        _native.fail_allocation(failures + 1)
        try:
            found = parse_adjacency(text, 3, "weights", weighted=True, threads=2, chunk_bytes=8)
        except MemoryError:
            assert _native.live_bytes() == before
            failures += 1
            continue
        finally:
            _native.fail_allocation(0)
        break
    assert failures == 4  # the chunks, the offsets, the neighbors, the weights
    del found
    assert _native.live_bytes() == before
