"""Raw arrays of orbits on CUDA devices: tables and counters by vertex, with and without local graphs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from motif_graphs import SMALL_GRAPHS, mixed, supported

import graphlode as gl
from graphlode.control import Control
from graphlode.cuda.mining import motif_tasks, orbit_pairs, orbits
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
    return reference.launch(device, view, whole, control=Control(), size=size, edges=edges)


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
    assert found.keys() >= wanted.keys()
    for name, array in found.items():
        assert array.dtype == np.int64
        np.testing.assert_array_equal(array, wanted.get(name, []), name)


@pytest.mark.parametrize(("size", "edges"), FORMS)
@pytest.mark.parametrize("graph", SMALL_GRAPHS.values(), ids=SMALL_GRAPHS)
def test_every_array_is_that_of_the_reference(bench: Bench, graph: Graph, size: int, edges: bool) -> None:
    check(count(bench, graph, size, edges), expected(graph, size, edges))


@pytest.mark.parametrize("edges", [False, True], ids=["vertices", "edges"])
def test_counters_by_vertex(bench: Bench, monkeypatch: pytest.MonkeyPatch, edges: bool) -> None:
    """With small tables, most vertices have their counters in global memory, in many launches."""
    monkeypatch.setattr(motif_tasks, "SMALL_WEDGES", 20)
    monkeypatch.setattr(orbit_pairs, "WEDGES_PER_LAUNCH", 500)
    check(count(bench, mixed, 5, edges), expected(mixed, 5, edges))


@pytest.mark.parametrize("edges", [False, True], ids=["vertices", "edges"])
def test_a_memory_limit_leaves_local_graphs_out(bench: Bench, edges: bool) -> None:
    with gl.configure(memory_limit=0):
        check(count(bench, mixed, 5, edges), expected(mixed, 5, edges))


@pytest.mark.parametrize("edges", [False, True], ids=["vertices", "edges"])
def test_tasks_are_answered_in_their_order(bench: Bench, edges: bool) -> None:
    tasks = [Task(0, 20), Task(20, 20), Task(20, 45)]
    check(count(bench, mixed, 4, edges, tasks), expected(mixed, 4, edges))
    last = count(bench, mixed, 4, edges, tasks[2:])
    wanted = expected(mixed, 4, edges)
    assert all(array.tolist() == wanted[name][-len(array) :].tolist() for name, array in last.items())


def test_more_edges_at_a_vertex_than_a_warp_holds(bench: Bench) -> None:
    """In a complete graph every triangle is in n - 3 4-cliques."""
    n = 70

    def complete() -> list[set[int]]:
        return symmetric(n, combinations(range(n), 2))

    found = count(bench, complete, 5, False)
    assert set(found["o70"].tolist()) == {comb(n - 1, 3) * (n - 4)}
    assert set(found["o72"].tolist()) == {comb(n - 1, 4)}


def test_a_stop_is_heard(bench: Bench) -> None:
    control = Control()
    control.stop()
    with pytest.raises(InterruptedError):
        count(bench, mixed, 5, False, control=control)
