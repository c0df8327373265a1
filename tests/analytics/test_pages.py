"""Operations on the pages of a store: the same answers as on rows, without writing out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.generate import kronecker, star
from graphlode.graph.store.dynamic import DynamicGraph
from graphlode.graph.views import Csr, Pages
from stores import even
from strategies import EdgeList, edge_lists


def stored(edges: EdgeList, directed: bool, devices: Any = "cpu") -> DynamicGraph:
    """A store that has lost some of its edges again, so that its pages have gaps."""
    store = DynamicGraph(directed=directed, devices=devices, shares=even(devices), num_vertices=edges.num_vertices)
    store.insert(edges.src, edges.dst)
    store.delete(edges.src[::3], edges.dst[::3])
    return store


def rows_of(store: DynamicGraph) -> gl.Graph:
    """The same graph without a store behind it."""
    snapshot = store.snapshot()
    return gl.from_csr(*snapshot.csr, directed=snapshot.directed)


def ran_on_pages(snapshot: gl.Graph) -> bool:
    return {view for _, view in snapshot.held} == {Pages()}


@settings(max_examples=25)
@given(edges=edge_lists(most_edges=6000), directed=st.booleans(), data=st.data())
def test_a_search_on_pages_finds_the_same_tree(edges: EdgeList, directed: bool, data: st.DataObject) -> None:
    if edges.num_vertices == 0:
        return
    store = stored(edges, directed)
    source = data.draw(st.integers(0, edges.num_vertices - 1))
    found = gl.bfs(store, source)
    assert ran_on_pages(store.snapshot())
    expected = gl.bfs(rows_of(store), source, devices="cpu")
    np.testing.assert_array_equal(found.levels, expected.levels)
    np.testing.assert_array_equal(found.parents, expected.parents)


@settings(max_examples=25)
@given(edges=edge_lists(most_edges=6000), directed=st.booleans())
def test_components_on_pages_are_the_same(edges: EdgeList, directed: bool) -> None:
    store = stored(edges, directed)
    found = gl.connected_components(store)
    assert ran_on_pages(store.snapshot())
    expected = gl.connected_components(rows_of(store), devices="cpu")
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.count == expected.count


@settings(max_examples=25)
@given(edges=edge_lists(most_edges=6000))
def test_few_iterations_on_pages_give_the_same_values(edges: EdgeList) -> None:
    store = stored(edges, directed=False)
    found = gl.pagerank(store, tol=0, max_iter=2)
    assert ran_on_pages(store.snapshot())
    expected = gl.pagerank(rows_of(store), tol=0, max_iter=2, devices="cpu")
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-12)


def test_many_iterations_are_worth_writing_the_rows_for() -> None:
    store = DynamicGraph(devices="cpu")
    store.insert([0, 1, 2], [1, 2, 0])
    assert gl.pagerank(store).values.tolist() == pytest.approx([1 / 3] * 3)
    assert not ran_on_pages(store.snapshot())


def test_rows_that_are_there_are_used() -> None:
    store = DynamicGraph(devices="cpu")
    store.insert([0, 1], [1, 2])
    snapshot = store.snapshot()
    gl.core_numbers(snapshot)
    gl.bfs(snapshot, 0)
    assert {view for _, view in snapshot.held} == {Csr()}


@pytest.mark.parametrize("devices", ["reference", "cuda-emulated"])
def test_another_device_than_the_shards_gets_rows(devices: str) -> None:
    store = DynamicGraph(devices="cpu")
    store.insert([0, 1], [1, 2])
    found = gl.bfs(store, 0, devices=devices)
    assert found.levels.tolist() == [0, 1, 2] and found.provenance.devices == (devices,)
    assert not ran_on_pages(store.snapshot())


@pytest.mark.parametrize("devices", ["reference", "cuda-emulated"])
def test_a_store_on_another_device_answers_there(devices: str) -> None:
    store = DynamicGraph(devices=devices, shares=even(devices))
    store.insert([0, 1, 5], [1, 2, 6])
    assert gl.bfs(store, 0).levels.tolist() == [0, 1, 2, -1, -1]
    assert gl.connected_components(store).labels.tolist() == [0, 0, 0, 1, 1]
    assert gl.bfs(store, 0).provenance.devices == (devices,)


def test_large_levels_on_pages_are_the_same_on_any_number_of_threads(threads: int) -> None:
    graph = kronecker(13, 16, seed=4)
    store = DynamicGraph(devices="cpu", num_vertices=graph.num_vertices)
    store.insert(*graph.edges(indices=True).T)
    hub = int(np.argmax(graph.degrees()))
    expected = gl.bfs(graph, hub, devices="cpu")
    with gl.configure(threads=threads):
        found = gl.bfs(store, hub)
        labels = gl.connected_components(store).labels
    np.testing.assert_array_equal(found.levels, expected.levels)
    np.testing.assert_array_equal(found.parents, expected.parents)
    np.testing.assert_array_equal(labels, gl.connected_components(graph, devices="cpu").labels)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3])
def test_a_search_finds_rows_that_batches_moved_within_their_leaves(share: float) -> None:
    """Inserts move them to the right, deletes to the left."""
    graph = kronecker(12, 16, seed=4)
    edges = np.random.default_rng(1).permutation(graph.edges(indices=True))
    some, more, rest = np.split(edges, [int(len(edges) * share), int(len(edges) * 2 * share)])
    store = DynamicGraph(devices="cpu", num_vertices=graph.num_vertices, strategy="in place")
    store.insert(*np.concatenate([some, rest]).T)
    for change, batch in (store.insert, more), (store.delete, some), (store.insert, some):
        change(*batch.T)
        rows = rows_of(store)
        for source in np.argsort(graph.degrees())[[-1, -100, -1000]].tolist():
            found, expected = gl.bfs(store, source), gl.bfs(rows, source, devices="reference")
            np.testing.assert_array_equal(found.levels, expected.levels)
            np.testing.assert_array_equal(found.parents, expected.parents)


def test_a_row_over_several_pages_is_walked_whole() -> None:
    store = DynamicGraph(devices="cpu", num_vertices=20_001)
    store.insert(*star(20_000).edges(indices=True).T)
    found = gl.bfs(store, 7)
    assert found.levels.tolist() == [1] + [0 if v == 7 else 2 for v in range(1, 20_001)]
    assert gl.connected_components(store).count == 1
    values = gl.pagerank(store, tol=0, max_iter=1).values
    assert values[0] == pytest.approx(0.85 * 20_000 / 20_001 + 0.15 / 20_001)


def test_sources_are_original_ids_in_order_of_arrival() -> None:
    store = DynamicGraph(devices="cpu")
    store.insert([30, 10], [20, 20])
    found = gl.bfs(store, 10)
    by_id = dict(zip(found.ids.tolist(), found.levels.tolist(), strict=True))
    assert by_id == {10: 0, 20: 1, 30: 2}
    parents = dict(zip(found.ids.tolist(), found.parents.tolist(), strict=True))
    assert parents == {10: -1, 20: 10, 30: 20}
