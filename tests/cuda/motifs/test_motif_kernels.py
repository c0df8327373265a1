"""Sums of all motif passes on CUDA devices: all classes of tasks, with and without local graphs, fused and from lists."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from motif_graphs import GRAPHS, dense, hubs, supported, twins, uneven

import graphlode as gl
from graphlode.common.control import Control
from graphlode.cuda.mining import motifs, supports
from graphlode.cuda.motifs import cycles as motif_cycles
from graphlode.cuda.motifs import tasks as motif_tasks
from graphlode.cuda.motifs import twins as motif_twins
from graphlode.cuda.motifs import wedges as motif_wedges
from graphlode.cuda.motifs.graph import prepare
from graphlode.errors import DeviceMemoryError, KernelFaultError, UnsupportedError
from graphlode.execute.devices import resolve
from graphlode.mining.supports import Supported
from graphlode.reference.mining import motifs as reference
from graphlode.reference.mining import supports as reference_supports
from graphlode.types import Task
from kernel_bench import Bench, csr, symmetric

METHODS = ["fused", "materialize"]
Graph = Callable[[], list[set[int]]]


@cache
def expected(graph: Graph, size: int = 5) -> dict[str, int]:
    device: Any = resolve("reference")[0]
    view = supported(graph)
    whole = iter([Task(0, len(view["lower"]))])
    return reference.launch(device, view, whole, control=Control(), size=size, method="fused")


def count(
    bench: Bench,
    graph: Graph,
    tasks: list[Task] | None = None,
    *,
    size: int = 5,
    method: str = "fused",
    control: Control | None = None,
) -> dict[str, int]:
    view = supported(graph)
    given = [Task(0, len(view["lower"]))] if tasks is None else tasks

    def work() -> dict[str, int]:
        there = bench.device.put(view)
        return motifs.launch(bench.device, there, iter(given), control=control or Control(), size=size, method=method)

    found: dict[str, int] = bench.do(work)
    return found


def from_lists(bench: Bench, graph: Graph) -> dict[str, int]:
    """The other method as oracle: on graphs too large for the reference, two methods that share little must agree."""
    key = (bench.device.name, graph)
    if key not in _listed:
        _listed[key] = count(bench, graph, method="materialize")
    return _listed[key]


_listed: dict[tuple[str, Graph], dict[str, int]] = {}


def check(found: dict[str, int], wanted: dict[str, int]) -> None:
    assert found == {name: wanted.get(name, 0) for name in found}
    assert found.keys() >= wanted.keys()


@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
@pytest.mark.parametrize("graph", [*GRAPHS.values(), hubs], ids=[*GRAPHS, "hubs"])
def test_the_supported_view_is_that_of_the_reference(bench: Bench, graph: Graph, dtype: Any) -> None:
    base = csr(graph(), dtype)
    there: Any = resolve("reference")[0]
    wanted = reference_supports.build(there, base, Supported(), control=Control())

    def work() -> dict[str, Any]:
        built = supports.build(bench.device, bench.device.put(base), Supported(), control=Control())
        return {name: bench.device.get(array) for name, array in built.items()}

    found = bench.do(work)
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_a_neighbor_outside_of_the_graph_is_a_fault(bench: Bench) -> None:
    base = csr(symmetric(40, ((v, (v + 1) % 40) for v in range(40))))
    base["neighbors"][33] = 40
    with pytest.raises(KernelFaultError, match=r"\(code 1, index 33\)$"):
        bench.do(lambda: supports.build(bench.device, bench.device.put(base), Supported(), control=Control()))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_every_sum_is_that_of_the_reference(bench: Bench, graph: Graph, method: str) -> None:
    check(count(bench, graph, method=method), expected(graph))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [3, 4])
def test_smaller_sizes_have_their_sums_only(bench: Bench, size: int, method: str) -> None:
    found = count(bench, uneven, size=size, method=method)
    assert found == expected(uneven, size)


@pytest.mark.parametrize("method", METHODS)
def test_tasks_of_any_length_add_up(bench: Bench, method: str) -> None:
    n = 120
    parts = [[Task(0, 40), Task(40, 41), Task(41, 41), Task(41, 119)], [Task(119, n)]]
    partials = [count(bench, uneven, tasks, method=method) for tasks in parts]
    assert {name: sum(partial[name] for partial in partials) for name in partials[0]} == expected(uneven)


def test_hubs_with_more_than_a_thousand_neighbors(bench: Bench) -> None:
    """Leaves have from none to 3,000 wedges: both sides of every border between classes of tasks."""
    check(count(bench, hubs), from_lists(bench, hubs))


@pytest.mark.parametrize("packed", [False, True], ids=["wide", "packed"])
@pytest.mark.parametrize("cuts_bytes", [0, 1 << 20], ids=["searched", "cut"])
def test_ranges_of_vertices_that_fit_shared_memory(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, cuts_bytes: int, packed: bool
) -> None:
    """With few words for the counters of a large block, most tasks have no table, and pairs are cut into ranges."""
    if not packed:
        monkeypatch.setattr(motif_wedges, "_PACKED_LIMIT", 1)
    monkeypatch.setattr(motif_wedges, "_CUTS_BYTES", cuts_bytes)
    monkeypatch.setattr(motif_tasks, "SMALL_WEDGES", 130)
    monkeypatch.setattr(motifs, "large_words", lambda device: 532)
    check(count(bench, hubs), from_lists(bench, hubs))


@pytest.mark.parametrize("graph", [*GRAPHS.values(), twins], ids=[*GRAPHS, "twins"])
@pytest.mark.parametrize("words", [4 * 1024, 64], ids=["tables", "ranges"])
def test_hubs_with_the_same_neighbors_are_walked_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, graph: Graph, words: int
) -> None:
    monkeypatch.setattr(motif_twins, "WORTH_TWINS", 0)
    monkeypatch.setattr(motif_twins, "HUB_DEGREE", 3)
    monkeypatch.setattr(motif_tasks, "WARP_WEDGES", 2)
    monkeypatch.setattr(motif_tasks, "SMALL_WEDGES", 8)
    monkeypatch.setattr(motifs, "large_words", lambda device: words)
    check(count(bench, graph), expected(graph))


def test_twins_are_found_where_they_are(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(motif_twins, "WORTH_TWINS", 0)
    monkeypatch.setattr(motif_twins, "HUB_DEGREE", 40)

    def work() -> tuple[Any, Any, Any]:
        graph = prepare(bench.device, bench.device.put(supported(twins)), local_bytes=lambda wanted: wanted)
        first, leaders, sizes = motif_twins.twin_hubs(bench.device, graph, 10)
        return first, bench.device.get(leaders), bench.device.get(sizes)

    first, leaders, sizes = bench.do(work)
    assert sorted(sizes.tolist()) == [0] * 5 + [1, 3, 4]
    for place, leader in enumerate(leaders.tolist()):
        assert leader <= first + place and sizes[leader - first] >= 1


def test_many_launches_give_the_same_sums(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(motif_tasks, "SMALL_WEDGES", 130)
    monkeypatch.setattr(motif_wedges, "PAIR_WEDGES_PER_LAUNCH", 100_000)
    monkeypatch.setattr(motif_cycles, "CYCLE_WEDGES_PER_LAUNCH", 100_000)
    monkeypatch.setattr(motifs, "large_words", lambda device: 532)
    check(count(bench, hubs), from_lists(bench, hubs))


@pytest.mark.parametrize("local_bytes", [0, 20_000, 100_000, 1 << 30])
def test_local_graphs_of_none_of_some_and_of_all_vertices(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, local_bytes: int
) -> None:
    monkeypatch.setattr(motifs, "_local_bytes", lambda *args: local_bytes)
    view = supported(dense)
    graph = bench.do(lambda: prepare(bench.device, bench.device.put(view), local_bytes=lambda wanted: local_bytes))
    assert (graph.num_local == 0) == (local_bytes == 0)
    assert (graph.num_local == len(view["lower"])) == (local_bytes == 1 << 30)
    check(count(bench, dense), from_lists(bench, dense))


def test_a_memory_limit_leaves_local_graphs_out(bench: Bench) -> None:
    with gl.configure(memory_limit=0):
        check(count(bench, uneven), expected(uneven))


def test_lists_that_do_not_fit_are_refused_before_they_are_made(bench: Bench) -> None:
    with (
        gl.configure(memory_limit=100_000),
        pytest.raises(DeviceMemoryError, match=r"wedges needs \d+ bytes, 90000 are available; method=\"fused\""),
    ):
        count(bench, uneven, method="materialize")


def test_an_unknown_method_is_refused(bench: Bench) -> None:
    with pytest.raises(UnsupportedError, match="has the methods fused, materialize, not 'magic'"):
        count(bench, uneven, method="magic")


@pytest.mark.parametrize("method", METHODS)
def test_a_stop_takes_effect(bench: Bench, method: str) -> None:
    control = Control()
    control.stop()
    with pytest.raises(InterruptedError):
        count(bench, uneven, method=method, control=control)


def test_progress_is_counted_in_vertices(bench: Bench) -> None:
    control = Control()
    count(bench, uneven, control=control)
    assert control.done == 120
