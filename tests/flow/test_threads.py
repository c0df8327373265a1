"""The whole flow from several Python threads at once, on one graph and on many."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.generate import erdos_renyi_edges, kronecker
from graphlode.graph.views import Oriented


def work_on(graph: gl.Graph) -> dict[str, Callable[[], Any]]:
    return {
        "total": lambda: gl.count_triangles(graph, devices="cpu").total,
        "by vertex": lambda: _listed(gl.count_triangles(graph, by="vertex", devices="cpu").by_vertex),
        "by edge": lambda: _listed(gl.count_triangles(graph, by="edge", devices=["cpu", "cpu"]).by_edge),
        "shared": lambda: gl.count_triangles(graph, devices=["cpu", "cpu"]).total,
        "cores": lambda: _listed(gl.core_numbers(graph, devices="cpu").order),
        "levels": lambda: _listed(gl.bfs(graph, 0, indices=True, devices="cpu").parents),
        "components": lambda: _listed(gl.connected_components(graph, devices="cpu").labels),
        "ranks": lambda: _listed(gl.pagerank(graph, devices="cpu").values),
        "view": lambda: _listed(graph.view(Oriented("approximate"))["neighbors"]),
        "edges": lambda: _listed(graph.edges()),
        "matrix": lambda: float(graph.to_scipy().sum()),
        "undirected": lambda: graph.undirected().num_edges,
    }


def _listed(array: Any) -> list[Any]:
    listed: list[Any] = array.tolist()
    return listed


@pytest.mark.parametrize("directed", [False, True])
def test_operations_on_one_graph_from_many_threads(directed: bool) -> None:
    src, dst = np.random.default_rng(8).integers(0, 3000, (2, 40_000))
    alone = {name: work() for name, work in work_on(gl.from_edges(src, dst, directed=directed)).items()}
    for _ in range(3):
        graph = gl.from_edges(src, dst, directed=directed)  # no view is there yet: all threads want them at once
        jobs = [(name, work) for name, work in work_on(graph).items() for _ in range(3)]
        np.random.default_rng(1).shuffle(jobs)  # type: ignore[arg-type]
        with ThreadPoolExecutor(8) as pool:
            for name, found in pool.map(lambda job: (job[0], job[1]()), jobs):
                assert found == alone[name], name


def test_graphs_are_built_and_counted_from_many_threads() -> None:
    def flow(seed: int) -> tuple[int, int, int]:
        graph = gl.from_edges(*erdos_renyi_edges(400, p=0.1, seed=seed))
        return (
            graph.num_edges,
            gl.count_triangles(graph, devices="cpu").total,
            gl.core_numbers(graph, devices="cpu").degeneracy,
        )

    expected = [flow(seed) for seed in range(12)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(flow, range(12))) == expected


def test_mixtures_of_devices_interleave(devices: Any) -> None:
    graph = kronecker(6, 6, seed=4)
    expected = gl.count_triangles(graph, by="vertex", devices="reference")
    with ThreadPoolExecutor(3) as pool:
        counting = [
            pool.submit(gl.count_triangles, graph, by="vertex", devices=chosen) for chosen in (devices, "cpu", devices)
        ]
        for future in counting:
            assert future.result().total == expected.total
            np.testing.assert_array_equal(future.result().by_vertex, expected.by_vertex)


def test_a_snapshot_outlives_what_it_came_from() -> None:
    def make() -> gl.Graph:
        src, dst = erdos_renyi_edges(200, p=0.2, seed=3)
        matrix = gl.from_edges(src, dst, num_vertices=200).to_scipy()
        return gl.from_csr(matrix.indptr.astype(np.int64), matrix.indices)

    assert gl.count_triangles(make(), devices="cpu").total == gl.count_triangles(make(), devices="reference").total
