"""Tiles of a store: equal to its rows after any batches, sorted in within a budget, ranked like the store itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.errors import InputError, StateError
from graphlode.graph.views import Tiled
from graphlode.locality import TiledEdges

FAR = 70_000  # ids that far apart lie in different tiles
IDS = st.integers(0, 5).map(lambda i: i * FAR // 2) | st.integers(0, 12)
BATCHES = st.lists(st.lists(st.tuples(IDS, IDS, st.booleans()), max_size=40), max_size=8)


def batch_of(updates: list[tuple[int, int, bool]]) -> gl.Batch:
    columns = np.array(updates, np.int64).reshape(-1, 3).T
    return gl.Batch(columns[0], columns[1], delete=columns[2].astype(bool))


def edges_of(tiles: TiledEdges) -> set[tuple[int, int]]:
    tile_offsets, edges = tiles.arrays()
    at = np.repeat(np.arange(tile_offsets.size - 1), np.diff(tile_offsets))
    rows, columns = np.divmod(at, max(1, -(-tiles.store.num_vertices >> 16)))
    sources, destinations = columns << 16 | edges >> np.uint32(16), rows << 16 | edges & np.uint32(0xFFFF)
    ids = tiles.store.ids
    found = list(zip(ids[sources].tolist(), ids[destinations].tolist(), strict=True))
    assert len(found) == len(set(found))
    return set(found)


@given(
    batches=BATCHES,
    directed=st.booleans(),
    fixed=st.booleans(),
    budgets=st.lists(st.integers(0, 30), min_size=8, max_size=8),
)
def test_tiles_equal_a_set_of_edges_after_any_batches(
    batches: list[list[tuple[int, int, bool]]], directed: bool, fixed: bool, budgets: list[int]
) -> None:
    store = gl.DynamicGraph(directed, devices="cpu", num_vertices=3 * FAR if fixed else None)
    tiles = TiledEdges(store)
    expected: set[tuple[int, int]] = set()
    for updates, budget in zip(batches, budgets, strict=False):
        tiles.apply(batch_of(updates))
        for u, v, delete in updates:
            for edge in {(u, v)} if directed else {(u, v), (v, u)}:
                if delete:
                    expected.discard(edge)
                elif u != v:
                    expected.add(edge)
        tiles.refine(budget)
        assert tiles.num_entries == len(expected)
    assert edges_of(tiles) == expected
    view = store.snapshot().view(Tiled())
    for ours, theirs in zip(tiles.arrays(), (view["tile_offsets"], view["edges"]), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), directed=st.booleans())
def test_pagerank_on_tiles_that_change_is_that_of_the_store(seed: int, directed: bool) -> None:
    random = np.random.default_rng(seed)
    tiles = TiledEdges(gl.DynamicGraph(directed, devices="cpu", num_vertices=FAR))
    for _ in range(4):
        tiles.insert(*random.integers(0, FAR, (2, 500)))
        tiles.delete(*random.integers(0, FAR, (2, 50)))
        found, expected = tiles.pagerank(tol=1e-12), gl.pagerank(tiles.store, tol=1e-12, layout="rows")
        np.testing.assert_allclose(found.values, expected.values, rtol=1e-12)
        assert (found.iterations, found.converged) == (expected.iterations, expected.converged)


def test_tails_are_sorted_in_within_a_budget() -> None:
    random = np.random.default_rng(5)
    store = gl.DynamicGraph(True, devices="cpu", num_vertices=4 * FAR)
    store.insert(*random.integers(0, 4 * FAR, (2, 20_000)))
    tiles = TiledEdges(store)
    assert tiles.num_loose == 0
    tiles.insert(*random.integers(0, 4 * FAR, (2, 2_000)))
    loose, of_a_tile = tiles.num_loose, tiles.num_entries / 25
    assert loose > 1_900
    assert tiles.refine(0) == 0 and tiles.num_loose == loose
    assert 1 <= tiles.refine(1) < 2 * of_a_tile and 0 < tiles.num_loose < loose
    while tiles.refine(5_000):
        pass
    assert tiles.num_loose == 0


def test_an_iteration_sorts_tails_in_on_the_way() -> None:
    random = np.random.default_rng(5)
    tiles = TiledEdges(gl.DynamicGraph(True, devices="cpu", num_vertices=2 * FAR), share_per_iteration=0.25)
    tiles.insert(*random.integers(0, 2 * FAR, (2, 5_000)))
    loose = tiles.num_loose
    tiles.pagerank(tol=0, max_iter=1)
    assert 0 < tiles.num_loose < loose
    tiles.pagerank(tol=0, max_iter=9)
    assert tiles.num_loose == 0


def test_a_store_that_was_written_elsewhere_is_an_error() -> None:
    tiles = TiledEdges(gl.DynamicGraph(devices="cpu"))
    tiles.store.insert([1], [2])
    with pytest.raises(StateError, match="the store has version 1, its tiles 0"):
        tiles.insert([2], [3])
    with pytest.raises(StateError, match="make new tiles"):
        tiles.pagerank()


def test_a_share_out_of_range_is_an_input_error() -> None:
    with pytest.raises(InputError, match="share_per_iteration must be 0 to 1"):
        TiledEdges(gl.DynamicGraph(devices="cpu"), share_per_iteration=2)
