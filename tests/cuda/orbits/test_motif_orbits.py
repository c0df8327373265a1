"""Raw arrays of orbits on CUDA devices: tables and counters by vertex, with and without local graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from motif_graphs import SMALL_GRAPHS, mixed, supported, twins

import graphlode as gl
from graphlode.common.control import Control
from graphlode.cpu.mining.orbit_formulas import compose
from graphlode.cuda.mining import orbits
from graphlode.cuda.motifs import tasks as motif_tasks
from graphlode.cuda.motifs import twins as motif_twins
from graphlode.cuda.motifs import wedges as motif_wedges
from graphlode.cuda.orbits import cycles as orbit_cycles
from graphlode.cuda.orbits import pairs as orbit_pairs
from graphlode.execute.devices import resolve
from graphlode.reference.mining import orbits as reference
from graphlode.types import Task
from kernel_bench import Bench, symmetric

Graph = Callable[[], list[set[int]]]
FORMS = [(4, False), (4, True), (5, False), (5, True)]


@cache
def expected(graph: Graph, size: int, edges: bool) -> dict[str, Any]:
    device: Any = resolve("reference")[0]
    view = supported(graph)
    whole = iter([Task(0, len(view["lower"]))])
    found = reference.launch(device, view, whole, control=Control(), size=size, edges=edges)
    named = view | {"vertices": np.arange(len(view["lower"]))}
    return found | (compose(named, found, edges=edges, threads=1, control=Control()) if size == 5 else {})


def count(
    bench: Bench,
    graph: Graph,
    size: int,
    edges: bool,
    tasks: list[Task] | None = None,
    control: Control | None = None,
) -> dict[str, Any]:
    view = supported(graph)
    given = [Task(0, len(view["lower"]))] if tasks is None else tasks

    def work() -> dict[str, Any]:
        there = bench.device.put(view)
        return orbits.launch(bench.device, there, iter(given), control=control or Control(), size=size, edges=edges)

    found: dict[str, Any] = bench.do(work)
    return found


def check(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    for name, array in found.items():
        assert array.dtype == np.int64
        np.testing.assert_array_equal(array, wanted[name], name)


@pytest.mark.parametrize(("size", "edges"), FORMS)
@pytest.mark.parametrize("graph", SMALL_GRAPHS.values(), ids=SMALL_GRAPHS)
def test_every_array_is_that_of_the_reference(bench: Bench, graph: Graph, size: int, edges: bool) -> None:
    check(count(bench, graph, size, edges), expected(graph, size, edges))


@pytest.mark.parametrize("edges", [False, True], ids=["vertices", "edges"])
@pytest.mark.parametrize(
    ("most_ranges", "cuts_bytes"), [(0, 0), (64, 0), (64, 1 << 20)], ids=["listed", "ranges searched", "ranges cut"]
)
def test_vertices_with_more_wedges_than_a_table_takes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, edges: bool, most_ranges: int, cuts_bytes: int
) -> None:
    """With small tables, most have counters by vertex: all in global memory, or some at a time; in many launches."""
    monkeypatch.setattr(motif_tasks, "WARP_WEDGES", 10)
    monkeypatch.setattr(motif_tasks, "SMALL_WEDGES", 20)
    monkeypatch.setattr(motif_tasks, "large_wedges", lambda words: 20)
    monkeypatch.setattr(orbit_pairs, "large_words", lambda device: 30)
    monkeypatch.setattr(orbit_pairs, "MOST_RANGES", most_ranges)
    monkeypatch.setattr(motif_wedges, "_CUTS_BYTES", cuts_bytes)
    monkeypatch.setattr(orbit_pairs, "WEDGES_PER_LAUNCH", 500)
    monkeypatch.setattr(orbit_cycles, "CYCLE_WEDGES_PER_LAUNCH", 500)
    check(count(bench, mixed, 5, edges), expected(mixed, 5, edges))


@pytest.mark.parametrize("graph", [mixed, twins, SMALL_GRAPHS["complete"]], ids=["mixed", "twins", "complete"])
@pytest.mark.parametrize("small", [1024, 20], ids=["tables", "ranges"])
def test_hubs_with_the_same_neighbors_are_walked_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, graph: Graph, small: int
) -> None:
    monkeypatch.setattr(motif_twins, "WORTH_TWINS", 0)
    monkeypatch.setattr(motif_twins, "HUB_DEGREE", 3)
    monkeypatch.setattr(motif_tasks, "WARP_WEDGES", 10)
    monkeypatch.setattr(motif_tasks, "SMALL_WEDGES", small)
    monkeypatch.setattr(orbit_pairs, "large_words", lambda device: 50)
    check(count(bench, graph, 5, False), expected(graph, 5, False))
    check(count(bench, graph, 4, False), expected(graph, 4, False))


@pytest.mark.parametrize("edges", [False, True], ids=["vertices", "edges"])
def test_a_memory_limit_leaves_local_graphs_out(bench: Bench, edges: bool) -> None:
    with gl.configure(memory_limit=0):
        check(count(bench, mixed, 5, edges), expected(mixed, 5, edges))


@pytest.mark.parametrize(("size", "edges"), FORMS)
def test_what_tasks_add_is_what_the_reference_adds(bench: Bench, size: int, edges: bool) -> None:
    """Row by row, so that devices of any kind may share the rows; sums over other arrays take all of them."""
    whole = expected(mixed, size, edges)
    begin, *cuts = (0, 7, 20, 20, 44, 45)
    total: dict[str, Any] = {}
    for end in cuts:
        found = count(bench, mixed, size, edges, [Task(begin, end)])
        device: Any = resolve("reference")[0]
        part = iter([Task(begin, end)])
        wanted = reference.launch(device, supported(mixed), part, control=Control(), size=size, edges=edges)
        if begin < end:
            check(found, wanted)
        total = {name: total.get(name, 0) + array for name, array in found.items()} or total
        begin = end
    assert whole.keys() - total.keys() == (orbits.COMPOSED & whole.keys() if size == 5 else set())
    check(total, {name: whole[name] for name in total})
    check(count(bench, mixed, size, edges, [Task(0, 20), Task(20, 20), Task(20, 45)]), whole)


@pytest.mark.parametrize("edges", [False, True], ids=["vertices", "edges"])
def test_long_rows_of_local_graphs_meet_short_ones(bench: Bench, edges: bool) -> None:
    """Two hubs that are neighbors, 1,100 leaves of both, and edges among the leaves."""
    leaves = np.arange(2, 1102)
    pairs = [(0, 1), *((hub, leaf) for hub in (0, 1) for leaf in leaves)]
    pairs += [(leaf, leaf + step) for leaf in range(2, 90) for step in (1, 2, 5)]
    graph = gl.from_edges(*np.array(pairs).T)
    found = gl.count_orbits(graph, edges=edges, devices=bench.device.name)
    np.testing.assert_array_equal(found.values, gl.count_orbits(graph, edges=edges, devices="cpu").values)


def test_more_edges_at_a_vertex_than_a_warp_holds(bench: Bench) -> None:
    """In a complete graph every triangle is in n - 3 4-cliques."""
    n = 70

    def complete() -> list[set[int]]:
        return symmetric(n, combinations(range(n), 2))

    found = count(bench, complete, 5, False)
    assert set(found["o70"].tolist()) == {comb(n - 1, 3) * (n - 4)}
    assert set(found["o72"].tolist()) == {comb(n - 1, 4)}


def test_a_stop_takes_effect(bench: Bench) -> None:
    control = Control()
    control.stop()
    with pytest.raises(InterruptedError):
        count(bench, mixed, 5, False, control=control)
