"""The CPU kernels for motifs and orbits: threads, parts of the rows, hubs, widths of bit rows, long lists, memory."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import comb
from threading import Thread
from time import perf_counter, sleep
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.mining import motifs, orbits, supports
from graphlode.datasets import dataset
from graphlode.errors import UnsupportedError
from graphlode.mining.motif_formulas import counts_from_sums, raw_names
from graphlode.mining.supports import Supported
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.mining import motifs as reference
from graphlode.types import AnyArray, Task
from strategies import EdgeList, simple_edge_lists

View = dict[str, AnyArray]


class Cpu(CpuDevice):
    """A CPU with a fixed number of threads."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self._threads = threads

    @property
    def threads(self) -> int:
        return self._threads


def view_of(graph: gl.Graph, threads: int = 1) -> View:
    base = {"offsets": graph._offsets, "neighbors": graph._neighbors}
    return supports.build(Cpu(threads), base, Supported(), control=Control())


def tasks_of(view: View, cuts: Sequence[int]) -> list[Task]:
    ends = [0, *sorted(cuts), view["offsets"].size - 1]
    return [Task(begin, end) for begin, end in itertools.pairwise(ends)]


def sums_of(
    view: View, size: int = 5, *, threads: int = 1, cuts: Sequence[int] = (), control: Control | None = None
) -> dict[str, int]:
    tasks = iter(tasks_of(view, cuts))
    return motifs.launch(Cpu(threads), view, tasks, control=control or Control(), size=size, method="fused")


def raw_of(view: View, edges: bool, size: int = 5, threads: int = 1, control: Control | None = None) -> View:
    tasks = iter(tasks_of(view, ()))
    return orbits.launch(Cpu(threads), view, tasks, control=control or Control(), size=size, edges=edges)


def complete_bipartite(n: int) -> gl.Graph:
    u, v = np.divmod(np.arange(n * n), n)
    return gl.from_edges(u, n + v)


def web_graph(seed: int = 1) -> gl.Graph:
    """Hubs with thousands of leaves in a few classes of common hubs; edges among hubs, and some among leaves."""
    rng = np.random.default_rng(seed)
    hubs, leaves, kinds = 7, 6000, 9
    belongs = rng.random((kinds, hubs)) < 0.8
    which = rng.integers(kinds, size=leaves)
    leaf, hub = np.nonzero(belongs[which])
    among_hubs = np.array(list(itertools.combinations(range(hubs), 2)))[rng.random(comb(hubs, 2)) < 0.7]
    among_leaves = hubs + rng.integers(leaves, size=(3000, 2))
    community = hubs + np.array(list(itertools.combinations(range(30), 2)))  # so that not only hubs are in triangles
    pairs = np.concatenate([np.stack([hub, hubs + leaf], axis=1), among_hubs, among_leaves, community])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return gl.from_edges(pairs[:, 0], pairs[:, 1])


@settings(max_examples=30)
@given(simple_edge_lists(most_vertices=65, most_edges=260), st.data())
def test_parts_of_the_rows_add_up_to_the_sums_of_the_reference(edges: EdgeList, data: st.DataObject) -> None:
    view = view_of(gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices))
    cuts = data.draw(st.lists(st.integers(0, edges.num_vertices), max_size=4))
    for size in (3, 4, 5):
        tasks = iter(tasks_of(view, ()))
        expected = reference.launch(ReferenceDevice(), view, tasks, control=Control(), size=size, method="fused")
        expected = {name: expected.get(name, 0) for name in raw_names(size)}
        assert sums_of(view, size) == expected
        assert dict.fromkeys(raw_names(size), 0) | sums_of(view, size, cuts=cuts) == expected


@settings(max_examples=20)
@given(simple_edge_lists(most_vertices=33, most_edges=150), st.integers(0, 33), st.sampled_from([4, 5]))
def test_a_part_of_the_rows_has_the_sums_that_the_reference_gives_it(edges: EdgeList, cut: int, size: int) -> None:
    """Devices share the rows, so partial counts must be right, too."""
    view = view_of(gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices))
    cut = min(cut, edges.num_vertices)
    if cut in (0, edges.num_vertices):
        return
    tasks = iter([Task(0, cut)])
    expected = reference.launch(ReferenceDevice(), view, tasks, control=Control(), size=size, method="fused")
    found = motifs.launch(Cpu(1), view, iter([Task(0, cut)]), control=Control(), size=size, method="fused")
    assert found == {name: expected.get(name, 0) for name in raw_names(size)}


@pytest.mark.parametrize("name", ["jazz", "netscience"])
def test_the_number_of_threads_changes_nothing(name: str) -> None:
    graph = dataset(name)
    view = view_of(graph)
    for threads in (2, 5):
        for key, array in view_of(graph, threads).items():
            np.testing.assert_array_equal(array, view[key])
        assert sums_of(view, threads=threads) == sums_of(view)
        for edges in (False, True):
            alone, together = raw_of(view, edges), raw_of(view, edges, threads=threads)
            assert set(alone) == set(together)
            for key, array in alone.items():
                np.testing.assert_array_equal(together[key], array, err_msg=key)


def test_many_edges_are_ranked_alike_by_any_number_of_threads() -> None:
    graph = gl.erdos_renyi(3000, p=0.02, seed=3)
    view = view_of(graph)
    for threads in (2, 5):
        for key, array in view_of(graph, threads).items():
            np.testing.assert_array_equal(array, view[key])


def test_hubs_left_out_of_the_walks_lose_nothing() -> None:
    """A task with all rows avoids the hubs; tasks with parts of the rows enumerate every wedge."""
    view = view_of(web_graph())
    whole = sums_of(view)
    assert whole == sums_of(view, threads=2) == sums_of(view, cuts=[5000], threads=2)
    assert whole["wheels"] > 0 and whole["cliques5"] > 0


def test_hubs_that_share_all_their_leaves() -> None:
    hubs, leaves = 3, 100_000
    u, v = np.divmod(np.arange(hubs * leaves), leaves)
    sums = sums_of(view_of(gl.from_edges(u, hubs + v)))
    assert sums["squares"] == 2 * comb(hubs, 2) * comb(leaves, 2)
    assert sums["k23"] == comb(hubs, 2) * comb(leaves, 3) + comb(leaves, 2) * comb(hubs, 3)
    assert sums["stars4"] == hubs * comb(leaves, 4)


def test_a_row_is_split_between_many_threads() -> None:
    n = 600
    view = view_of(complete_bipartite(n))
    sums = sums_of(view, threads=43, cuts=[n])
    assert sums["squares"] == 2 * comb(n, 2) ** 2
    assert sums["k23"] == 2 * comb(n, 2) * comb(n, 3)
    assert sums["five_cycles"] == sums["houses"] == 0
    assert sums_of(view, threads=43) == sums


@pytest.mark.parametrize("n", [5, 64, 65, 66, 130])
def test_complete_graphs_have_their_closed_forms(n: int) -> None:
    """Copies of a pattern on k of n vertices: k! / automorphisms for each choice."""
    copies = [
        3,
        1,
        4,
        12,
        12,
        3,
        6,
        1,
        5,
        60,
        60,
        30,
        60,
        60,
        60,
        12,
        15,
        60,
        60,
        60,
        10,
        10,
        20,
        60,
        30,
        15,
        30,
        10,
        1,
    ]
    sizes = [3] * 2 + [4] * 6 + [5] * 21
    view = view_of(gl.complete(n))
    expected = [comb(n, size) * number for size, number in zip(sizes, copies, strict=True)]
    assert counts_from_sums(sums_of(view), 5) == expected
    assert counts_from_sums(sums_of(view, cuts=[n // 2]), 5) == expected
    assert counts_from_sums(sums_of(view, 4), 4) == expected[:8]


def test_neighborhoods_of_any_density_give_the_same() -> None:
    """Dense graphs use bit rows of many widths, sparse ones lists; parts of the rows are counted in another way."""
    rng = np.random.default_rng(5)
    block = np.arange(400)
    dense = [(u, v) for u, v in itertools.combinations(block[:150], 2) if rng.random() < 0.5]
    thin = rng.integers(400, size=(6000, 2))
    around = [(400, v) for v in block]
    pairs = np.array([*dense, *map(tuple, thin[thin[:, 0] != thin[:, 1]].tolist()), *around])
    view = view_of(gl.from_edges(pairs[:, 0], pairs[:, 1]))
    assert sums_of(view) == sums_of(view, cuts=[100, 200, 380], threads=2)


def test_lists_of_a_row_longer_than_16_bits() -> None:
    """A hub with 66,000 leaves and a few hundred neighbors that are joined with each other, all in parts of rows."""
    few = gl.erdos_renyi(300, p=0.03, seed=2).edges()
    far = np.arange(66_300)
    graph = gl.from_edges(
        np.concatenate([few[:, 0], np.full(far.size, 66_300)]), np.concatenate([few[:, 1], far]), num_vertices=66_301
    )
    view = view_of(graph)
    sums = sums_of(view)
    assert sums == sums_of(view, cuts=[66_000])
    inner = sums_of(view_of(gl.from_edges(few[:, 0], few[:, 1], num_vertices=300)), 4)
    assert counts_from_sums(sums, 5)[25] >= counts_from_sums(inner, 4)[5]  # every 4-cycle is the rim of a wheel


def test_sums_do_not_overflow_64_bits() -> None:
    leaves = 10**6
    sums = sums_of(view_of(gl.star(leaves)))
    assert sums["stars4"] == comb(leaves, 4) > 2**64


@pytest.mark.parametrize("size", [3, 4, 5])
def test_progress_counts_every_row_once(size: int) -> None:
    view = view_of(dataset("jazz"))
    control = Control()
    sums_of(view, size, control=control)
    assert control.done == 198
    if size > 3:
        for edges in (False, True):
            control = Control()
            raw_of(view, edges, size, control=control)
            assert control.done == 198


@pytest.mark.parametrize("what", ["motifs", "orbits"])
def test_a_stop_takes_effect_at_once(what: str) -> None:
    view = view_of(complete_bipartite(1500 if what == "motifs" else 800))
    control = Control()
    ended: list[float] = []

    def work() -> None:
        with pytest.raises(InterruptedError):
            sums_of(view, control=control) if what == "motifs" else raw_of(view, True, control=control)
        ended.append(perf_counter())

    thread = Thread(target=work)
    thread.start()
    sleep(0.2)
    stopped = perf_counter()
    control.stop()
    thread.join()
    assert ended[0] - stopped < 2.0  # 0.3 s on an idle machine


def test_other_methods_are_refused() -> None:
    view = view_of(dataset("karate"))
    with pytest.raises(UnsupportedError, match="materialize"):
        motifs.launch(Cpu(1), view, iter([]), control=Control(), size=5, method="materialize")


@pytest.mark.parametrize("graph", [dataset("jazz"), web_graph(), gl.erdos_renyi(3000, p=0.02, seed=3)], ids=str)
def test_memory_stays_within_bounds(graph: gl.Graph) -> None:
    """16 bytes per triangle at an edge and 64 per edge, in addition to the memory of each thread per vertex."""
    n, m = graph.num_vertices, graph.num_edges
    shape = {"num_vertices": n, "num_edges": m}
    _native.reset_peak_bytes()
    before = _native.live_bytes()
    view = view_of(graph, 2)
    assert _native.peak_bytes() - before <= supports.memory(Cpu(2), shape)
    incidences = int(view["triangles"].sum())
    _native.reset_peak_bytes()
    sums_of(view, threads=2)
    assert _native.peak_bytes() - before <= 16 * incidences + 64 * m + 2 * 64 * n
    held = _native.live_bytes()
    _native.reset_peak_bytes()
    sums_of(view, threads=2)
    assert _native.peak_bytes() - held <= motifs.memory(Cpu(2), shape, size=5, method="fused") + 8 * incidences
    for edges in (False, True) if n < 5000 else ():  # orbits use hubs, too
        _native.reset_peak_bytes()
        raw_of(view, edges, threads=2)
        assert _native.peak_bytes() - held <= orbits.memory(Cpu(2), shape, size=5, edges=edges) + 8 * incidences


def test_wrong_arrays_are_refused() -> None:
    view: dict[str, Any] = dict(view_of(dataset("karate")))
    with pytest.raises(ValueError, match="fit together"):
        _native.MotifCounter(view["offsets"], view["neighbors"], view["lower"][1:], view["edges"], view["triangles"], 5)
    counter = _native.MotifCounter(
        view["offsets"], view["neighbors"], view["lower"], view["edges"], view["triangles"], 5
    )
    with pytest.raises(ValueError, match="outside"):
        counter.count(0, 35, 1, Control().words)
