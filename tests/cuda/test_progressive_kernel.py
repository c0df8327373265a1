"""Progressive order on kernel devices: passes equal the reference, and PageRank equals that of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.common.control import Control
from graphlode.cuda.locality import progressive
from graphlode.cuda.locality.edge_rank import Ranker
from graphlode.locality import EdgeOrder, rank_edges
from graphlode.reference.locality import progressive as reference
from kernel_bench import Bench

LENGTHS = (1, 2, 31, 33, 64, 127, 1000, 2111)


def random_list(length: int, seed: int = 0, num_vertices: int = 500) -> tuple[Any, Any]:
    src, dst = np.random.default_rng(seed).integers(0, num_vertices, (2, length))
    return src, dst


@pytest.mark.parametrize("lanes", [2, 3, 4, 7, 32, 33, 128, 256])
def test_every_pass_over_a_list_of_any_length_is_that_of_the_reference(bench: Bench, lanes: int) -> None:
    for length in LENGTHS:
        order = EdgeOrder(*random_list(length, lanes), order="progressive", lanes=lanes)
        while not order.settled:
            expected = reference.reorder(order.edges, lanes, order.level + 1)
            assert order.next_pass(bench.device.name)
            np.testing.assert_array_equal(order.edges, expected, f"{length} edges, level {order.level}")


def test_a_pass_permutes_and_narrows_the_keys_of_blocks_as_on_the_cpu(bench: Bench) -> None:
    length, lanes = 2**14 + 77, 16
    keys = np.random.default_rng(5).permutation(length)
    order = EdgeOrder(keys, keys[::-1], order="progressive", lanes=lanes)
    beside = order.copy()
    spreads = []
    for level in (1, 2):
        order.next_pass(bench.device.name)
        beside.next_pass("cpu")
        np.testing.assert_array_equal(order.edges, beside.edges)
        assert np.array_equal(np.sort(order.src), np.arange(length))
        cuts = [block * length // lanes**level for block in range(1, lanes**level)]
        spreads.append(float(np.mean([block.std() for block in np.split(order.src, cuts)])))
    assert 0.5 * lanes**0.5 < spreads[0] / spreads[1] < 1.5 * lanes**0.5


@pytest.mark.parametrize(
    "options",
    [
        {"order": "none"},
        {"order": "sorted"},
        {"order": "sorted", "key": "destination"},
        {"order": "progressive", "lanes": 32},
        {"order": "progressive", "lanes": 5, "key": "destination", "skip": 1},
        {"order": "progressive", "lanes": 64, "reorderings": 1},
    ],
    ids=lambda options: "-".join(map(str, options.values())),
)
def test_ranks_are_those_of_rows_and_the_list_comes_back_reordered(bench: Bench, options: dict[str, Any]) -> None:
    graph = gl.rmat(9, 6, seed=3, directed=True)
    src, dst = np.random.default_rng(1).permutation(graph.edges(indices=True)).T
    order = EdgeOrder(src, dst, **options)
    apart = order.copy()
    found = rank_edges(order, num_vertices=graph.num_vertices, tol=0, max_iter=6, devices=bench.device.name)
    expected = gl.pagerank(graph, tol=0, max_iter=6, devices="cpu", layout="rows")
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-9, atol=1e-15)
    assert found.iterations == len(found.seconds) == len(found.lines_per_edge) == 6
    assert [apart.next_pass() for _ in range(6)] == list(found.reordered)
    np.testing.assert_array_equal(order.edges, apart.edges)


def test_runs_of_edges_to_one_vertex_add_up(bench: Bench) -> None:
    src = np.arange(100)
    dst = np.repeat([7, 3, 7, 9], [40, 1, 36, 23])  # runs across warps, and of one vertex twice within a warp
    found = rank_edges(EdgeOrder(src, dst), num_vertices=100, tol=0, max_iter=3, devices=bench.device.name)
    beside = rank_edges(EdgeOrder(src, dst), num_vertices=100, tol=0, max_iter=3)
    np.testing.assert_allclose(found.values, beside.values, rtol=1e-12)


def test_there_may_be_no_edges(bench: Bench) -> None:
    alone = rank_edges(EdgeOrder([], []), num_vertices=4, devices=bench.device.name)
    assert alone.values.tolist() == [0.25] * 4


def test_passes_can_be_stopped_and_count_their_edges(bench: Bench) -> None:
    edges = EdgeOrder(*random_list(500)).edges
    device, control = bench.device, Control()
    bench.do(lambda: progressive.reorder(device, edges, 16, 1, control))
    assert control.done == edges.size
    ranker = bench.do(
        lambda: Ranker(device, edges, np.bincount(edges >> 32, minlength=500), 0.85, by_destination=False)
    )
    control.stop()
    for lanes in (0, 16):
        with pytest.raises(InterruptedError):
            bench.do(lambda lanes=lanes: ranker.iterate(lanes=lanes, level=2, control=control))
