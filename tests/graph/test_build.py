"""The native build equals the reference build, on every path through it and for any number of threads."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import graphlode as gl
from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.graph.build import build
from graphlode.generate import kronecker_edges
from graphlode.reference.graph.build import build as reference_build
from graphlode.types import vertex_dtype
from strategies import EdgeList, edge_lists, edge_lists_with_ids

NAMES = ("offsets", "neighbors", "ids", "positions", "num_edges", "self_loops", "duplicates")


def assert_same(made: dict[str, Any], expected: dict[str, Any]) -> None:
    for name in NAMES:
        if expected[name] is None or isinstance(expected[name], int):
            assert made[name] == expected[name], name
        else:
            np.testing.assert_array_equal(made[name], expected[name], err_msg=name)


def both(src: Any, dst: Any, *, num_vertices: int | None, directed: bool, keep_positions: bool = False) -> None:
    options: dict[str, Any] = {
        "num_vertices": num_vertices,
        "directed": directed,
        "keep_positions": keep_positions,
        "control": Control(),
    }
    expected = reference_build(src, dst, **options)
    for threads in (1, 2, 5):
        with gl.configure(threads=threads):
            assert_same(build(src, dst, **options), expected)
    wide = _native.graph_build_wide(
        np.asarray(src, np.int64),
        np.asarray(dst, np.int64),
        -1 if num_vertices is None else num_vertices,
        directed,
        keep_positions,
        2,
        Control().words,
    )
    assert wide[1].dtype == np.int64
    assert_same(dict(zip(NAMES, wide, strict=True)), expected)


@given(edges=edge_lists(most_edges=3000), directed=st.booleans(), given=st.booleans(), positions=st.booleans())
@example(edges=EdgeList(1, np.zeros(3, np.int64), np.zeros(3, np.int64)), directed=False, given=True, positions=True)
def test_native_rows_equal_reference_rows(edges: EdgeList, directed: bool, given: bool, positions: bool) -> None:
    num_vertices = edges.num_vertices if given else None
    both(edges.src, edges.dst, num_vertices=num_vertices, directed=directed, keep_positions=positions)


@given(edges=edge_lists_with_ids(most_edges=2000), directed=st.booleans(), positions=st.booleans())
def test_any_64_bit_ids_are_mapped_in_ascending_order(edges: EdgeList, directed: bool, positions: bool) -> None:
    both(edges.src, edges.dst, num_vertices=None, directed=directed, keep_positions=positions)


@given(edges=edge_lists(most_edges=1000), spread=st.sampled_from([1, 3, 2**21 - 3]))
def test_32_bit_ids_may_be_far_apart_and_negative(edges: EdgeList, spread: int) -> None:
    src, dst = ((ends * spread - 2**30).astype(np.int32) for ends in (edges.src, edges.dst))
    both(src, dst, num_vertices=None, directed=False)


@pytest.mark.parametrize("size", [1, 2, 95, 96, 97, 190, 191, 192, 193, 194, 400])
@pytest.mark.parametrize("directed", [False, True])
def test_buckets_around_the_size_where_the_sort_changes(size: int, directed: bool) -> None:
    rng = np.random.default_rng(size)
    src, dst = rng.integers(0, 40, (2, size))
    both(src, dst, num_vertices=40, directed=directed, keep_positions=True)


@pytest.mark.parametrize("num_vertices", [2**16, 2**16 + 1, 2**20 + 3, 2**25])
def test_keys_of_32_and_of_64_bits(num_vertices: int) -> None:
    """Two ids of 16 bits share one 32-bit key; wider ones need 64 bits or the help of buckets."""
    rng = np.random.default_rng(num_vertices)
    src, dst = rng.integers(0, num_vertices, (2, 3000))
    src[:1500], dst[:1500] = src[1500:], dst[1500:]
    options: dict[str, Any] = {"directed": False, "keep_positions": False, "control": Control()}
    made = build(src, dst, num_vertices=num_vertices, **options)
    small = reference_build(src, dst, num_vertices=None, **options)
    assert made["num_edges"] == small["num_edges"] and made["duplicates"] == small["duplicates"]
    kept = np.flatnonzero(np.diff(made["offsets"]))
    np.testing.assert_array_equal(kept, small["ids"])
    np.testing.assert_array_equal(made["neighbors"], small["ids"][small["neighbors"]])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("ids", ["dense", "offset", "scattered"])
def test_many_buckets_on_several_threads(ids: str, directed: bool) -> None:
    """A million edges make dozens of buckets; numpy's sort is the judge."""
    rng = np.random.default_rng(7)
    src, dst = (rng.random((2, 2**20 + 17)) ** 3 * 200_000).astype(np.int64)  # skewed: buckets of very different sizes
    names = {
        "dense": np.arange(200_000),
        "offset": np.arange(200_000) * 2 - 10**12,
        "scattered": np.sort(np.random.default_rng(1).choice(2**62, 200_000)),
    }[ids]
    pairs = np.stack([src, dst], 1)[src != dst]
    if not directed:
        pairs.sort(axis=1)
    expected = np.unique(pairs[:, 0] * 200_000 + pairs[:, 1])
    src, dst = names[src], names[dst]
    graph = gl.from_edges(src, dst, directed=directed)
    np.testing.assert_array_equal(graph.edges(), names[np.stack(np.divmod(expected, 200_000), 1)])
    np.testing.assert_array_equal(graph.ids, np.union1d(src, dst))
    with gl.configure(threads=1):
        assert gl.from_edges(src, dst, directed=directed) == graph
    with gl.configure(threads=5):
        assert gl.from_edges(src, dst, directed=directed) == graph


@pytest.mark.parametrize(
    ("options", "times"),
    [({"num_vertices": 2**15}, 3), ({}, 3), ({"directed": True}, 3), ({"weights": True}, 4)],
    ids=str,
)
def test_building_takes_little_more_memory_than_the_graph(options: dict[str, Any], times: int) -> None:
    src, dst = kronecker_edges(15, 16, seed=1)
    if "weights" in options:
        options = {"weights": np.ones(src.size)}
    gc.collect()
    before = _native.live_bytes()
    _native.reset_peak_bytes()
    graph = gl.from_edges(src, dst, **options)
    assert _native.peak_bytes() - before <= times * graph.nbytes


def test_a_hub_with_all_the_edges_is_one_bucket() -> None:
    leaves = np.random.default_rng(3).permutation(200_000) + 1
    graph = gl.from_edges(np.zeros_like(leaves), leaves)
    np.testing.assert_array_equal(graph.neighbors(0), np.arange(1, 200_001))
    assert graph.degrees()[1:].max() == 1


def test_vertex_indices_are_narrow_up_to_2_to_the_31() -> None:
    assert vertex_dtype(2**31) == np.int32
    assert vertex_dtype(2**31 + 1) == np.int64


def test_wide_graphs_give_the_same_views_and_counts() -> None:
    """Graphs beyond 2^31 vertices do not fit a test, so the 64-bit kernels run on a small one."""
    edges = np.random.default_rng(5).integers(0, 300, (2, 5000))
    narrow = gl.from_edges(*edges, num_vertices=300)
    wide = gl.Graph(narrow.csr[0], narrow.csr[1].astype(np.int64), directed=False)
    assert wide == narrow
    assert gl.count_triangles(wide, devices="cpu").total == gl.count_triangles(narrow, devices="cpu").total
    for by in ("vertex", "edge"):
        ours, theirs = (gl.count_triangles(graph, by=by, devices="cpu") for graph in (wide, narrow))
        np.testing.assert_array_equal(getattr(ours, f"by_{by}"), getattr(theirs, f"by_{by}"))
    np.testing.assert_array_equal(
        gl.core_numbers(wide, devices="cpu").order, gl.core_numbers(narrow, devices="cpu").order
    )
