"""PageRank over lists of edges: any order gives the same values as rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import graphlode as gl
from graphlode.common.control import Control
from graphlode.cpu.locality.edge_rank import Ranker
from graphlode.errors import InputError
from graphlode.execute.devices import cpu
from graphlode.locality import EdgeOrder, rank_edges
from strategies import EdgeList, edge_lists

ORDERS: list[dict[str, Any]] = [
    {"order": "none"},
    {"order": "sorted"},
    {"order": "sorted", "key": "destination"},
    {"order": "progressive", "lanes": 4},
    {"order": "progressive", "lanes": 33, "key": "destination", "skip": 1},
]


@pytest.mark.parametrize("options", ORDERS, ids=lambda options: "-".join(map(str, options.values())))
@given(edges=edge_lists(most_edges=3000))
def test_values_are_those_of_pagerank_in_any_order(options: dict[str, Any], edges: EdgeList) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=True)
    src, dst = np.array(graph.edges(indices=True)).reshape(-1, 2).T
    found = rank_edges(EdgeOrder(src, dst, **options), num_vertices=graph.num_vertices, tol=1e-9)
    expected = gl.pagerank(graph, tol=1e-9, devices="reference")
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-9, atol=1e-12)
    assert found.converged == expected.converged and abs(found.iterations - expected.iterations) <= 1


def test_iterations_are_passes_that_reorder_the_list_on_the_way() -> None:
    src, dst = np.random.default_rng(1).integers(0, 2**15, (2, 50_000))
    fused = EdgeOrder(src, dst, order="progressive", lanes=32, skip=1)
    apart = fused.copy()
    found = rank_edges(fused, tol=0, max_iter=5)
    assert found.reordered == (True, False, True, False, True) and not found.converged
    assert len(found.seconds) == found.iterations == 5 and min(found.seconds) > 0
    assert [apart.next_pass() for _ in range(5)] == list(found.reordered)
    np.testing.assert_array_equal(fused.edges, apart.edges)
    first, second, same, *_ = found.lines_per_edge
    assert first > second == same > found.lines_per_edge[-1]


def test_edges_that_occur_twice_count_twice() -> None:
    twice = rank_edges(EdgeOrder([0, 0, 0, 1, 2], [1, 1, 2, 0, 0]), tol=1e-12, max_iter=1000).values
    assert twice[1] - 0.05 == pytest.approx(2 * (twice[2] - 0.05))


def test_there_may_be_nothing_at_all() -> None:
    nothing = rank_edges(EdgeOrder([], []))
    assert nothing.values.size == 0 and nothing.converged
    alone = rank_edges(EdgeOrder([], []), num_vertices=4)
    assert alone.values.tolist() == [0.25] * 4


def test_values_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="an edge ends at vertex 3, but there are 3 vertices"):
        rank_edges(EdgeOrder([0], [3]), num_vertices=3)
    with pytest.raises(InputError, match="damping must be 0 to 1"):
        rank_edges(EdgeOrder([0], [3]), damping=1.5)


@pytest.mark.parametrize("lanes", [0, 4])
def test_an_iteration_stops_on_request_and_counts_its_edges(lanes: int) -> None:
    order = EdgeOrder(np.arange(1000), np.arange(1000)[::-1])
    ranker = Ranker(cpu(), order.edges, np.ones(1000, np.int64), 0.85, by_destination=False)
    control = Control()
    ranker.iterate(lanes=lanes, level=1, control=control)
    assert control.done == 1000
    control.stop()
    with pytest.raises(InterruptedError):
        ranker.iterate(lanes=lanes, level=1, control=control)
