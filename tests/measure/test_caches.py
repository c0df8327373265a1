"""Simulated caches: traces counted by hand, a second and slow implementation, and the published trend."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphlode as gl
from graphlode.common.control import Control
from graphlode.cpu.measure.caches import Caches
from graphlode.errors import InputError
from graphlode.locality import EdgeOrder
from graphlode.measure import CacheLevel, simulate_caches
from graphlode.measure.caches import PAPER_LEVELS
from graphlode.reference.locality import progressive as reference

Counts = list[list[int]]


class SlowCaches:
    """The same caches, each set a dictionary in the order of use."""

    def __init__(self, levels: list[CacheLevel], order: EdgeOrder, vertex_bytes: int, bypass: bool) -> None:
        self.levels = levels
        self.sets: list[list[OrderedDict[int, None]]] = [
            [OrderedDict() for _ in range(level.num_sets)] for level in levels
        ]
        self.first_vertex = -(-order.num_edges * 8 // 4096) * 4096
        self.vertex_bytes, self.bypass = vertex_bytes, bypass

    def run_pass(self, order: EdgeOrder, places: list[int]) -> Counts:
        """Per level: hits and misses of vertices, hits and misses of edges."""
        counts = [[0, 0, 0, 0] for _ in self.levels]
        src, dst = order.src.tolist(), order.dst.tolist()
        for turn, place in enumerate(places):
            self._access(8 * (turn if self.bypass else place), 1 if self.bypass else None, counts, 2)
            for vertex in (src[place], dst[place]):
                self._access(self.first_vertex + vertex * self.vertex_bytes, None, counts, 0)
        return counts

    def _access(self, address: int, reached: int | None, counts: Counts, column: int) -> None:
        for level, sets, count in list(zip(self.levels, self.sets, counts, strict=True))[:reached]:
            line = address // level.line
            chosen = sets[line % level.num_sets]
            if line in chosen:
                chosen.move_to_end(line)
                count[column] += 1
                return
            chosen[line] = None
            if len(chosen) > level.ways:
                chosen.popitem(last=False)
            count[column + 1] += 1


def numbers(found: Any) -> list[Counts]:
    return [
        [[each.vertices.hits, each.vertices.misses, each.edges.hits, each.edges.misses] for each in one.levels]
        for one in found.passes
    ]


def test_two_vertices_that_share_a_set_drive_each_other_out() -> None:
    # Two lines of 64 bytes. Vertex data begins at 4096, 16 bytes each: vertices 0 and 8 share set 0, and 4 is in set 1.
    # The list has one line, in set 0.
    direct = [CacheLevel(128, 1, 64)]
    order = EdgeOrder([0, 0, 4], [8, 4, 4])
    (found,) = numbers(simulate_caches(order, 1, levels=direct, warm=False))
    # edge: miss, 0: miss, 8: miss | edge: miss, 0: miss, 4: miss | edge: miss, 4: hit, 4: hit
    assert found == [[2, 4, 0, 3]]


def test_the_least_recently_used_line_goes() -> None:
    # One set of three lines. Edges are on line 0 of the list; vertices 0, 4, 8 on lines a, b, c.
    order = EdgeOrder([0, 4, 8], [0, 4, 0])
    (found,) = numbers(simulate_caches(order, 1, levels=[CacheLevel(192, 3, 64)], warm=False))
    # e a a -> m m h; e b b -> h m h; e c -> h m drives a out (last used before e b); a -> m
    assert found == [[2, 4, 2, 1]]


def test_the_second_level_is_asked_for_what_the_first_missed_in_its_own_lines() -> None:
    levels = [CacheLevel(64, 1, 64), CacheLevel(256, 2, 128)]
    order = EdgeOrder([0, 0], [4, 4])
    (found,) = numbers(simulate_caches(order, 1, levels=levels, warm=False))
    # One line in the first level: all six accesses miss it. In the second, vertices 0 and 4 share a line of 128 bytes.
    assert found == [[0, 4, 0, 2], [3, 1, 1, 1]]


def test_a_bypassing_list_meets_the_first_level_alone() -> None:
    levels = [CacheLevel(64, 1, 64), CacheLevel(256, 2, 128)]
    (found,) = numbers(simulate_caches(EdgeOrder([0, 0], [4, 4]), 1, levels=levels, warm=False, bypass=True))
    assert found == [[0, 4, 0, 2], [3, 1, 0, 0]]


def test_warm_caches_hold_what_the_list_left_there() -> None:
    order = EdgeOrder([0, 1, 2], [3, 2, 1])
    cold, warm = (simulate_caches(order, 1, warm=warm).passes[0].levels[0] for warm in (False, True))
    assert (cold.misses, warm.misses, warm.hits) == (2, 0, 9)


LEVELS = [
    [CacheLevel(64, 1, 64)],
    [CacheLevel(256, 4, 16), CacheLevel(1024, 2, 64)],
    [CacheLevel(512, 2, 32), CacheLevel(4096, 8, 128), CacheLevel(16384, 16, 128)],
]


@given(
    length=st.integers(0, 400),
    seed=st.integers(0, 1000),
    levels=st.sampled_from(LEVELS),
    order=st.sampled_from(["none", "sorted", "progressive"]),
    key=st.sampled_from(["source", "destination"]),
    lanes=st.sampled_from([2, 3, 16, 64]),
    skip=st.integers(0, 2),
    bypass=st.sampled_from([None, False, True]),
    vertex_bytes=st.sampled_from([4, 16, 24]),
)
def test_counts_are_those_of_a_second_implementation(
    length: int, seed: int, levels: Any, order: Any, key: Any, lanes: int, skip: int, bypass: Any, vertex_bytes: int
) -> None:
    src, dst = np.random.default_rng(seed).integers(0, 120, (2, length))
    edges = EdgeOrder(src, dst, order=order, key=key, lanes=lanes, skip=skip)
    found = simulate_caches(edges, 4, levels=levels, bypass=bypass, vertex_bytes=vertex_bytes)
    slow = SlowCaches(levels, edges, vertex_bytes, order == "progressive" if bypass is None else bypass)
    in_order = list(range(length))
    slow.run_pass(edges, in_order)
    for counts in numbers(found):
        steps = reference.steps(length, lanes, edges.level + 1) if edges.reorders_next else [in_order]
        assert counts == slow.run_pass(edges, [place for step in steps for place in step])
        edges.next_pass()


def test_every_access_is_counted_once_per_level_that_it_reaches() -> None:
    src, dst = gl.rmat(12, 8, seed=2, directed=True).edges(indices=True).T
    for order in ("none", "sorted", "progressive"):
        edges = EdgeOrder(src, dst, order=order)  # type: ignore[arg-type]
        found = simulate_caches(edges, 3, levels=[CacheLevel(1024, 4, 64), CacheLevel(8192, 8, 128)])
        assert edges.passes == 0 and found.num_edges == src.size and found.bypass == (order == "progressive")
        for one in found.passes:
            first, second = one.levels
            assert first.vertices.hits + first.vertices.misses == 2 * src.size
            assert first.edges.hits + first.edges.misses == src.size
            assert second.vertices.hits + second.vertices.misses == first.vertices.misses
            assert second.edges.hits + second.edges.misses == (0 if found.bypass else first.edges.misses)
        assert found.to_dict()["passes"][0]["levels"][0]["vertices"]["hits"] == found.passes[0].levels[0].vertices.hits


def test_more_lanes_and_more_passes_mean_more_hits() -> None:
    src, dst = gl.rmat(14, 16, seed=2, directed=True).edges(indices=True).T
    shuffled = np.random.default_rng(1).permutation(src.size)
    levels = [CacheLevel(2048, 4, 64), CacheLevel(16384, 8, 128)]

    def first_level(**options: Any) -> list[int]:
        order = EdgeOrder(src[shuffled], dst[shuffled], **options)
        return [one.levels[0].hits for one in simulate_caches(order, 3, levels=levels).passes]

    random, few, many = (
        first_level(),
        first_level(order="progressive", lanes=4),
        first_level(order="progressive", lanes=64),
    )
    best = first_level(order="sorted")
    assert few == sorted(few) and many == sorted(many)
    assert random[2] < few[2] < many[2] < best[2]


# L1 and L2 in KB, then by M (0: sorted) L1 hits over those of the shuffled list, and the change of L2 misses in %.
TABLE = {
    "cnr-2000": (
        *(32, 128),
        {4: (1.07, -20), 16: (1.23, -50), 32: (1.36, -68), 64: (1.54, -81), 128: (1.75, -84), 0: (2.17, -94)},
    ),
    "uk-2007-05-100k": (
        *(4, 128),
        {4: (1.09, -32), 16: (1.26, -71), 32: (1.37, -89), 64: (1.50, -94), 128: (1.67, -92), 0: (2.71, -94)},
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_real_graphs_follow_the_published_trend(name: str, real_graph: Callable[..., gl.Graph]) -> None:
    first, second, expected = TABLE[name]
    levels = [CacheLevel(first << 10, 4, 64), CacheLevel(second << 10, 8, 128)]
    src, dst = real_graph(name, directed=True).edges(indices=True).T
    shuffled = np.random.default_rng(0).permutation(src.size)

    def third_pass(**options: Any) -> tuple[int, int]:
        order = EdgeOrder(src[shuffled], dst[shuffled], **options)
        last = simulate_caches(order, 3, levels=levels).passes[2]
        return last.levels[0].hits, last.levels[1].misses

    hits, misses = third_pass()
    for lanes, (times, change) in expected.items():
        options = {"order": "progressive", "lanes": lanes, "reorderings": 2} if lanes else {"order": "sorted"}
        found = third_pass(**options)
        assert found[0] / hits == pytest.approx(times, rel=0.03), lanes
        assert 100 * (found[1] / misses - 1) == pytest.approx(change, abs=2), lanes


def test_a_simulation_can_be_stopped() -> None:
    order = EdgeOrder(np.arange(1000), np.arange(1000))
    caches = Caches([(64, 1, 64)], 1000, edge_bytes=8, vertex_bytes=16, bypass=False)
    control = Control()
    caches.run_pass(order.edges, by_destination=False, lanes=0, level=1, control=control)
    assert control.done == 1000
    control.stop()
    with pytest.raises(InterruptedError):
        caches.run_pass(order.edges, by_destination=False, lanes=0, level=1, control=control)


@pytest.mark.parametrize("shape", [(100, 1, 64), (64, 1, 48), (192, 1, 64), (0, 1, 64), (64, 0, 64)])
def test_caches_that_cannot_be_are_refused(shape: tuple[int, int, int]) -> None:
    with pytest.raises(InputError):
        CacheLevel(*shape)


@pytest.mark.parametrize("wrong", [{"levels": []}, {"passes": -1}, {"vertex_bytes": 0}])
def test_simulations_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        simulate_caches(EdgeOrder([0], [1]), **wrong)


def test_the_caches_of_the_paper() -> None:
    assert [level.num_sets for level in PAPER_LEVELS] == [128, 8192]
