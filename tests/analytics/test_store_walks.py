"""BFS, components and PageRank of a store: on every mix of devices what the reference says of its rows, on the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import signature
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.analytics import sharded_bfs
from graphlode.common.control import Control
from graphlode.cpu.analytics import components
from graphlode.cpu.device import CpuDevice
from graphlode.cuda.analytics import bfs as cuda_bfs
from graphlode.cuda.walks import pagerank_sums
from graphlode.execute.operation import BACKENDS
from graphlode.generate import kronecker, path, star
from graphlode.graph.store.dynamic import DynamicGraph
from graphlode.graph.views import Csr, Pages, Transposed
from stores import even
from strategies import EdgeList, edge_lists

Devices = str | list[str]
DIRECTED = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


def plain(graph: gl.Graph) -> gl.Graph:
    """The same without a store behind it."""
    return gl.from_csr(*graph.csr, directed=graph.directed)


def agree(store: DynamicGraph | gl.Graph, sources: list[int], *, max_iter: int = 20) -> None:
    """All answers about a store, or a snapshot of one, are those of the reference."""
    snapshot = store.snapshot() if isinstance(store, DynamicGraph) else store
    trees = [gl.bfs(snapshot, source, indices=True) for source in sources]
    labeled = gl.connected_components(snapshot)
    ranks = gl.pagerank(snapshot, tol=1e-9, max_iter=max_iter)
    rows = plain(snapshot)
    for source, found in zip(sources, trees, strict=True):
        expected = gl.bfs(rows, source, indices=True, devices="reference")
        np.testing.assert_array_equal(found.levels, expected.levels)
        np.testing.assert_array_equal(found.parents, expected.parents)
        assert (found.reached, found.depth) == (expected.reached, expected.depth)
    together = gl.connected_components(rows, devices="reference")
    np.testing.assert_array_equal(labeled.labels, together.labels)
    assert labeled.count == together.count
    values = gl.pagerank(rows, tol=1e-9, max_iter=max_iter, devices="reference")
    np.testing.assert_allclose(ranks.values, values.values, rtol=1e-10)
    assert (ranks.iterations, ranks.converged) == (values.iterations, values.converged)


def in_batches(store: DynamicGraph, edges: Any, count: int, seed: int = 1) -> None:
    order = np.random.default_rng(seed).permutation(len(edges))
    for part in np.array_split(order, count):
        store.insert(*edges[part].T)


@settings(max_examples=6)
@given(edges=edge_lists(most_vertices=130, most_edges=1500), directed=st.booleans())
def test_answers_are_those_of_the_reference(devices: Devices, edges: EdgeList, directed: bool) -> None:
    store = DynamicGraph(directed=directed, devices=devices, shares=even(devices), num_vertices=edges.num_vertices)
    store.insert(edges.src, edges.dst)
    store.delete(edges.src[::3], edges.dst[::3])
    agree(store, [0, edges.num_vertices - 1] if edges.num_vertices else [])


@DIRECTED
def test_pages_that_were_split_and_merged_again_are_read_right(devices: Devices, directed: bool) -> None:
    graph = kronecker(10, 20, seed=5)
    edges = graph.edges(indices=True)
    store = DynamicGraph(
        directed=directed, devices=devices, shares=even(devices), num_vertices=graph.num_vertices, strategy="in place"
    )
    hub = int(np.argmax(graph.degrees()))
    in_batches(store, edges, 4)
    assert any(shard["pages"] > 1 for shard in store.statistics().values())
    agree(store, [hub, 0])
    order = np.random.default_rng(2).permutation(len(edges))
    for part in np.array_split(order[: len(edges) * 4 // 5], 3):
        store.delete(*edges[part].T)
    agree(store, [hub])


def test_vertices_that_arrive_later_are_there(devices: Devices) -> None:
    store = DynamicGraph(devices=devices, shares=even(devices))
    for first in (0, 700, 1400, 5000):
        ends = np.random.default_rng(first).integers(first, first + 900, (2, 500))
        store.insert(*ends)
        agree(store, [0, store.num_vertices - 1], max_iter=5)


@DIRECTED
def test_a_hub_over_several_pages_is_walked_whole(devices: Devices, directed: bool) -> None:
    hub = star(6000).edges(indices=True)
    store = DynamicGraph(directed=directed, devices=devices, shares=even(devices), num_vertices=6003)
    in_batches(store, hub, 2)
    store.delete(*hub[::10].T)
    agree(store, [0, 7, 6002], max_iter=3)


@pytest.mark.parametrize("num_vertices", [0, 1, 33])
def test_a_store_without_edges_has_only_isolated_vertices(devices: Devices, num_vertices: int) -> None:
    store = DynamicGraph(devices=devices, shares=even(devices), num_vertices=num_vertices)
    agree(store, [0] if num_vertices else [])
    assert gl.connected_components(store).count == num_vertices
    np.testing.assert_allclose(gl.pagerank(store).values, np.full(num_vertices, 1 / max(num_vertices, 1)))


def test_an_older_version_is_read_while_the_store_goes_on(devices: Devices) -> None:
    graph = kronecker(8, 8, seed=2)
    store = DynamicGraph(devices=devices, shares=even(devices), num_vertices=graph.num_vertices)
    in_batches(store, graph.edges(indices=True), 2)
    older = store.snapshot()
    ends = np.random.default_rng(4).integers(0, graph.num_vertices, (2, 4000))
    store.insert(*ends)
    store.delete(*graph.edges(indices=True)[::2].T)
    agree(older, [0, 9])
    agree(store, [0, 9])


def test_a_search_goes_on_while_the_store_is_written(devices: Devices) -> None:
    """Memory of the store may move between the levels of a search."""
    store = DynamicGraph(devices=devices, shares=even(devices), num_vertices=4000)
    store.insert(*path(40).edges(indices=True).T)
    snapshot = store.snapshot()
    batches = iter(np.array_split(np.random.default_rng(3).integers(0, 4000, (2, 30_000)), 30, axis=1))

    def write(done: int, total: int) -> None:
        if (batch := next(batches, None)) is not None:
            store.insert(*batch)

    found = gl.bfs(snapshot, 0, progress=write)
    assert found.levels[:41].tolist() == [*range(40), -1] and found.reached == 40


@pytest.fixture(params=["forwards", "backwards", "in turns"])
def direction(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every level of a search on CUDA devices and over shards goes this way."""
    name: str = request.param
    turns: Iterator[bool] = cycle([name != "forwards", name == "backwards"])
    for module in (cuda_bfs, sharded_bfs):
        monkeypatch.setattr(module, "worth_looking_back", lambda *_: next(turns))
    monkeypatch.setattr(cuda_bfs, "_TAIL_ENTRIES", -1)
    return name


def test_every_direction_finds_the_same_tree_on_pages(devices: Devices, direction: str) -> None:
    graph = kronecker(9, 8, seed=3)
    store = DynamicGraph(devices=devices, shares=even(devices), num_vertices=graph.num_vertices)
    in_batches(store, np.concatenate([graph.edges(indices=True), star(400).edges(indices=True)]), 3)
    for source in (0, 5, int(np.argmax(graph.degrees()))):
        found = gl.bfs(store, source)
        expected = gl.bfs(plain(store.snapshot()), source, devices="reference")
        np.testing.assert_array_equal(found.levels, expected.levels)
        np.testing.assert_array_equal(found.parents, expected.parents)


def test_rows_of_any_number_of_leaves_are_summed(devices: Devices, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a lane, by a warp and, with a low bound for what is long, by a block."""
    monkeypatch.setattr(pagerank_sums, "LONGEST", 30)
    store = DynamicGraph(devices=devices, shares=even(devices), num_vertices=3000)
    for hub, degree in ((0, 2900), (1, 700), (2, 100)):
        store.insert(np.full(degree, hub), np.arange(3, 3 + degree))
    agree(store, [0], max_iter=4)


@pytest.mark.parametrize("operation", [gl.connected_components, lambda store: gl.bfs(store, 0)], ids=["cc", "bfs"])
def test_no_rows_are_written(devices: Devices, operation: Callable[[Any], Any]) -> None:
    store = DynamicGraph(devices=devices, shares=even(devices))
    store.insert([0, 1], [1, 2])
    snapshot = store.snapshot()
    operation(snapshot)
    one = len(snapshot.shards) == 1
    kept = {Csr()} if devices == "reference" else {Pages()} if one else set()
    assert {view for _, view in snapshot.held} == kept


@DIRECTED
def test_ranks_are_pulled_from_pages_where_that_is_faster(devices: Devices, directed: bool) -> None:
    store = DynamicGraph(devices=devices, shares=even(devices), directed=directed)
    store.insert([0, 1], [1, 2])
    snapshot = store.snapshot()
    gl.pagerank(snapshot)
    views = {view for _, view in snapshot.held}
    if len(snapshot.shards) > 1:
        assert views == set()
    elif directed:
        assert views == {Csr(), Transposed()}
    else:
        assert views == ({Pages()} if str(devices).startswith("cuda") else {Csr()})


def test_a_long_chain_is_followed_forwards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking backwards is as much work as all vertices; the chain's own entries are counted by estimate only."""
    looked_back: list[bool] = []
    worth = sharded_bfs.worth_looking_back

    def noted(*sizes: int) -> bool:
        looked_back.append(worth(*sizes))
        return False

    monkeypatch.setattr(sharded_bfs, "worth_looking_back", noted)
    store = DynamicGraph(devices=["cpu", "cpu"])
    store.insert(*path(1000).edges(indices=True).T)
    assert gl.bfs(store, 0).depth == 999
    assert sum(looked_back) < 50


@pytest.mark.gpu
@DIRECTED
@pytest.mark.parametrize("several", ["cuda:0", ["cuda:0", "cpu"], ["cuda:0", "cuda:0"]], ids=["one", "mixed", "twice"])
def test_many_blocks_at_once_agree_with_the_cpu(several: Devices, directed: bool) -> None:
    """Large enough for races that the emulation does not have."""
    graph = kronecker(16, 16, seed=6)
    edges = graph.edges(indices=True)
    store = DynamicGraph(directed=directed, devices=several, shares=even(several), num_vertices=graph.num_vertices)
    in_batches(store, edges, 5)
    store.delete(*edges[::4].T)
    snapshot, rows = (
        store.snapshot(),
        gl.from_edges(*np.delete(edges, np.s_[::4], 0).T, num_vertices=graph.num_vertices),
    )
    assert len(snapshot.shards) == (1 if isinstance(several, str) else len(several))
    if directed:
        rows = gl.from_edges(*rows.edges(indices=True).T, num_vertices=graph.num_vertices, directed=True)
    for source in (int(np.argmax(graph.degrees())), 1):
        found, expected = gl.bfs(snapshot, source), gl.bfs(rows, source, devices="cpu")
        np.testing.assert_array_equal(found.levels, expected.levels)
        np.testing.assert_array_equal(found.parents, expected.parents)
    labels = [gl.connected_components(snapshot).labels, gl.connected_components(rows, devices="cpu").labels]
    np.testing.assert_array_equal(*labels)
    values = [gl.pagerank(snapshot).values, gl.pagerank(rows, devices="cpu").values]
    np.testing.assert_allclose(*values, rtol=1e-9)


@pytest.mark.parametrize(
    ("labels", "joined"),
    [
        ([[]], []),
        ([[0, 1, 2, 3]], [0, 1, 2, 3]),
        ([[0, 1, 1, 2], [0, 0, 1, 2]], [0, 0, 0, 1]),
        ([[0, 1, 0, 1, 2], [0, 1, 2, 3, 3], [0, 1, 2, 3, 4]], [0, 1, 0, 1, 1]),
    ],
)
def test_forests_are_joined(labels: list[list[int]], joined: list[int]) -> None:
    found = components.join(CpuDevice("cpu"), [np.array(each, np.int32) for each in labels], control=Control())
    assert found["labels"].tolist() == joined and found["count"] == max(joined, default=-1) + 1


@pytest.mark.parametrize("labels", [[[1, 0]], [[0, -1]], [[0, 1], [0]]])
def test_what_is_no_forest_is_refused(labels: list[list[int]]) -> None:
    with pytest.raises(ValueError, match="labels must"):
        components.join(CpuDevice("cpu"), [np.array(each, np.int32) for each in labels], control=Control())


@pytest.mark.parametrize(
    "function", ["bfs_step.begin", "bfs_step.enter", "bfs_step.step", "pagerank_step.begin", "pagerank_step.pull"]
)
def test_what_a_shard_does_looks_alike_on_every_backend(function: str) -> None:
    assert len({shape(backend, function) for backend in BACKENDS}) == 1


def shape(backend: str, function: str) -> tuple[int, frozenset[str]]:
    """The number of arguments by place, and the options."""
    module, name = function.split(".")
    parameters = signature(getattr(import_module(f"graphlode.{backend}.analytics.{module}"), name)).parameters.values()
    options = frozenset(each.name for each in parameters if each.kind is each.KEYWORD_ONLY)
    return len(parameters) - len(options), options


def test_the_method_names_the_shards() -> None:
    devices = ["cpu", "reference"]
    store = DynamicGraph(devices=devices, shares=even(devices))
    store.insert([0, 1], [1, 2])
    for found in (gl.connected_components(store), gl.pagerank(store), gl.bfs(store, 0)):
        assert found.provenance.method.endswith("over 2 shards")
        assert found.provenance.devices == ("cpu", "reference")


def test_progress_over_shards_ends_with_everything() -> None:
    store = DynamicGraph(devices=["cpu", "cpu"])
    store.insert(*path(50).edges(indices=True).T)
    told: list[tuple[int, int]] = []
    gl.pagerank(store, tol=0, max_iter=7, progress=lambda done, total: told.append((done, total)))
    assert told == [(50 * i // 7, 50) for i in range(1, 8)]
    told.clear()
    gl.connected_components(store, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (100, 100)
