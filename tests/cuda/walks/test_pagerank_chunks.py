"""PageRank in even shares of rows and entries: rows of any length, cut anywhere, on real and emulated devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.common.control import Control
from graphlode.cuda.analytics import pagerank
from graphlode.cuda.walks.pagerank_chunks import CHUNK
from graphlode.types import AnyArray, Task
from kernel_bench import Bench

ITERATIONS = 10


def ranked(bench: Bench, graph: gl.Graph, max_iter: int = ITERATIONS, **options: Any) -> Any:
    offsets, neighbors = graph.csr
    settings = {"damping": 0.85, "tolerance": 0.0, "max_iter": max_iter, "restart": None, "weights": None} | options
    device = bench.device

    def work() -> Any:
        view = device.put({"offsets": offsets, "neighbors": neighbors})
        return pagerank.launch(device, view, iter([Task(0, graph.num_vertices)]), control=Control(), **settings)

    return bench.do(work)


def expected(graph: gl.Graph, max_iter: int = ITERATIONS) -> AnyArray:
    return gl.pagerank(graph, tol=0, max_iter=max_iter, layout="rows", devices="cpu").values


def stars(*leaves: int, gap: int = 0) -> gl.Graph:
    """Consecutive stars, with `gap` vertices without edges before and after each."""
    src, dst, at = [], [], 0
    for count in leaves:
        at += gap
        src += [at] * count
        dst += range(at + 1, at + 1 + count)
        at += 1 + count
    return gl.from_edges(src, dst, num_vertices=at + gap)


@pytest.mark.parametrize(
    "graph",
    [
        stars(1),
        stars(7, 8, 9),
        stars(CHUNK - 3, CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1),  # rows that end where chunks do
        stars(5 * CHUNK + 17, 3, 2 * CHUNK),  # rows over several chunks
        stars(3, 400, 3, gap=CHUNK + 5),  # chunks with ends of rows only
        gl.rmat(10, 8, seed=1),
    ],
    ids=["an edge", "small", "ends of chunks", "over several chunks", "empty rows", "rmat"],
)
@pytest.mark.parametrize("max_iter", [3, ITERATIONS])  # a few iterations do not renumber the vertices
def test_values_are_those_of_the_cpu(bench: Bench, graph: gl.Graph, max_iter: int) -> None:
    found = ranked(bench, graph, max_iter)
    np.testing.assert_allclose(found["values"], expected(graph, max_iter), rtol=1e-11)
    assert found["iterations"] == max_iter and not found["converged"]


def test_a_device_gives_the_same_answer_every_time(bench: Bench) -> None:
    graph = gl.rmat(11, 8, seed=2)
    assert ranked(bench, graph)["values"].tobytes() == ranked(bench, graph)["values"].tobytes()


def test_isolated_vertices_count_when_values_hardly_move(bench: Bench) -> None:
    graph = stars(20, 30, gap=200)
    for tolerance in (1e-2, 1e-4, 1e-8):
        found = ranked(bench, graph, 100, tolerance=tolerance)
        alike = gl.pagerank(graph, tol=tolerance / graph.num_vertices, devices="reference")
        assert (found["iterations"], found["converged"]) == (alike.iterations, True)
        np.testing.assert_allclose(found["values"], alike.values, rtol=1e-11)
        assert found["values"].sum() == pytest.approx(1)


def test_more_iterations_than_are_under_way_at_once_are_all_made(bench: Bench) -> None:
    graph = stars(5, 9)
    found = ranked(bench, graph, 3 * pagerank._MAX_QUEUED_ITERATIONS + 1)
    assert found["iterations"] == 3 * pagerank._MAX_QUEUED_ITERATIONS + 1
    np.testing.assert_allclose(found["values"], expected(graph, found["iterations"]), rtol=1e-11)
