"""Cliques enumerated on CUDA: every method, size class, way to cut the work and option gives the same exact counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from math import comb
from typing import Any

import numpy as np
import pytest

from graphlode.common.control import Control
from graphlode.cuda.cliques import credit as clique_credit
from graphlode.cuda.cliques import enumerate as clique_enumerate
from graphlode.cuda.cliques import plan as clique_plan
from graphlode.cuda.cliques import sets as clique_sets
from graphlode.cuda.cliques.enumerate import EnumerateOptions
from graphlode.errors import UnsupportedError
from graphlode.types import Task
from kernel_bench import Bench, Rows, csr

METHODS = ["enumerate", "set", "bitmap", "warp", "thread"]


def view_of(rows: Rows, dtype: Any = np.int32) -> dict[str, Any]:
    """The arrays of a `Roots` view; any orientation will do."""
    view = csr(rows, dtype)
    lengths = np.diff(view["offsets"])
    longest = int(lengths.max(initial=0))
    order = np.lexsort((np.arange(len(rows)), -lengths))
    view["roots"] = order[lengths[order] >= 2].astype(dtype)
    view["row_counts"] = np.array([(lengths >= d).sum() for d in range(longest + 2)], np.int64)
    return view


@cache
def planted_cliques(k: int) -> list[tuple[int, ...]]:
    return cliques_of(planted(), k)


def cliques_of(rows: Rows, k: int) -> list[tuple[int, ...]]:
    """All k-cliques of an oriented graph, one at a time."""
    sets = [set(row) for row in rows]
    found: list[tuple[int, ...]] = []

    def extend(clique: tuple[int, ...], candidates: set[int]) -> None:
        if len(clique) == k:
            found.append(clique)
            return
        for v in sorted(candidates):
            extend((*clique, v), candidates & sets[v])

    extend((), set(range(len(rows))))
    return found


def random_rows(n: int, density: float, seed: int) -> Rows:
    there = np.triu(np.random.default_rng(seed).random((n, n)) < density, 1)
    return [np.flatnonzero(row).tolist() for row in there]


def complete_rows(n: int) -> Rows:
    return [list(range(u + 1, n)) for u in range(n)]


def fan_rows(length: int) -> Rows:
    """One edge with `length` - 1 candidates; all other rows are short. Cliques of up to 6 vertices."""
    n = length + 1
    return [
        list(range(1, n)),
        list(range(2, n)),
        *(sorted({v for v in (u + 1, u + 2, u + 3, u + 64) if v < n}) for u in range(2, n)),
    ]


@cache
def planted() -> Rows:
    """Sparse, with a clique of 12 and a dense part of 36: cliques of every size up to 12."""
    rng = np.random.default_rng(3)
    there = np.triu(rng.random((90, 90)) < 0.1, 1)
    there[:12, :12] = np.triu(np.ones((12, 12), bool), 1)
    there[54:, 54:] = np.triu(rng.random((36, 36)) < 0.8, 1)
    return [np.flatnonzero(row).tolist() for row in there]


def on(bench: Bench, view: dict[str, Any], work: Callable[[dict[str, Any]], Any]) -> Any:
    arrays = {name: array for name, array in view.items() if name != "row_counts"}
    return bench.do(lambda: work({**bench.device.put(arrays), "row_counts": view["row_counts"]}))


def launch(
    bench: Bench,
    view: dict[str, Any],
    k: int,
    *,
    method: str = "enumerate",
    by: Any = None,
    tasks: Sequence[Task] | None = None,
    control: Control | None = None,
) -> Any:
    cut = [Task(0, len(view["neighbors"]))] if tasks is None else tasks
    return on(
        bench,
        view,
        lambda there: clique_enumerate.launch(
            bench.device, there, iter(cut), control=control or Control(), k=k, by=by, method=method
        ),
    )


def counted(bench: Bench, view: dict[str, Any], k: int, options: EnumerateOptions) -> int:
    task = Task(0, len(view["neighbors"]))
    return on(
        bench,
        view,
        lambda there: (
            clique_enumerate.count_tasks(bench.device, there, task, control=Control(), k=k, options=options).total
        ),
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [3, 4, 5, 6, 7, 8, 9, 13])
def test_every_method_counts_what_a_plain_search_finds(bench: Bench, method: str, k: int) -> None:
    rows = random_rows(30, 0.6, seed=7)
    assert launch(bench, view_of(rows), k, method=method) == {"total": len(cliques_of(rows, k)), "counts": None}


@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_wide_vertex_numbers(bench: Bench, k: int) -> None:
    view = view_of(complete_rows(20), np.int64)
    for method in ("enumerate", "set"):
        assert launch(bench, view, k, method=method)["total"] == comb(20, k)
    for by in ("vertex", "edge"):
        assert launch(bench, view, k, by=by)["total"] == comb(20, k)


@pytest.mark.parametrize("n", [33, 34, 35, 66])
def test_complete_graphs_around_a_word(bench: Bench, n: int) -> None:
    view = view_of(complete_rows(n))
    for k in (4, 5, 6, 8) if n == 34 else (4, 5, 6):
        assert launch(bench, view, k)["total"] == comb(n, k)


@pytest.mark.parametrize("length", [128, 129, 130, 256, 257, 258, 400, 512, 513, 514, 1026])
def test_sets_around_the_borders_of_the_size_classes(bench: Bench, length: int) -> None:
    """A warp takes up to 512 candidates, a block more, and all edges below a row of more than 1,024 entries."""
    rows = fan_rows(length)
    for k in (4, 5) if length > 1024 and bench.emulated else (4, 5, 6):  # a block of fibers per edge takes long
        assert launch(bench, view_of(rows), k)["total"] == len(cliques_of(rows, k))


def test_large_dense_sets_are_taken_apart(bench: Bench) -> None:
    """Two hubs above a complete multipartite graph of 5 parts of 120: sets stay large down to the last levels."""
    n, parts = 2 + 5 * 120, 5
    part = [(v - 2) % parts for v in range(n)]
    inner = [[v for v in range(u + 1, n) if part[v] != part[u]] if u % 29 == 2 else [] for u in range(n)]
    rows = [list(range(1, n)), list(range(2, n)), *inner[2:]]
    expected = {k: len(cliques_of(rows, k)) for k in (4, 5)}
    assert expected[4] > 10_000
    for k, total in expected.items():
        assert launch(bench, view_of(rows), k)["total"] == total


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [3, 4, 5])
def test_tasks_may_begin_and_end_inside_of_rows(bench: Bench, method: str, k: int) -> None:
    rows = planted()
    view = view_of(rows)
    entries = len(view["neighbors"])
    cuts = [0, 1, 5, 5, entries // 3, entries - 7, entries]
    tasks = [Task(a, b) for a, b in zip(cuts, cuts[1:], strict=False)]
    control = Control()
    found = [launch(bench, view, k, method=method, tasks=[task], control=control)["total"] for task in tasks]
    cliques = planted_cliques(k)
    first = view["offsets"].tolist()
    entry = {(u, v): first[u] + i for u, row in enumerate(rows) for i, v in enumerate(row)}
    assert found == [sum(t.begin <= entry[c[:2]] < t.end for c in cliques) for t in tasks]
    assert control.done == entries
    assert launch(bench, view, k, method=method, tasks=tasks)["total"] == len(cliques)


@pytest.mark.parametrize("by", ["vertex", "edge"])
@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_counts_by_vertex_and_edge(bench: Bench, by: Any, k: int) -> None:
    rows = planted()
    view = view_of(rows)
    first = view["offsets"].tolist()
    entry = {(u, v): first[u] + i for u, row in enumerate(rows) for i, v in enumerate(row)}
    expected = [0] * (len(rows) if by == "vertex" else len(entry))
    cliques = planted_cliques(k)
    for clique in cliques:
        for i, u in enumerate(clique):
            if by == "vertex":
                expected[u] += 1
            else:
                for v in clique[i + 1 :]:
                    expected[entry[u, v]] += 1
    entries = len(view["neighbors"])
    found = launch(bench, view, k, by=by, tasks=[Task(0, entries // 2), Task(entries // 2, entries)])
    assert found["total"] == len(cliques)
    assert found["counts"].dtype == np.uint64 and found["counts"].shape[0] == len(expected)
    assert found["counts"][:, 0].tolist() == expected and not found["counts"][:, 1:].any()


OPTIONS = [
    EnumerateOptions("thread"),
    EnumerateOptions("scheduled"),
    EnumerateOptions("queued", build_level=3),
    EnumerateOptions("queued", dynamic=True),
    EnumerateOptions("scheduled", dynamic=True, classes=True, at_once=0),
    EnumerateOptions("queued", classes=True, split=False),
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("k", [5, 7])
def test_the_parts_of_the_system_can_be_switched_one_by_one(bench: Bench, options: EnumerateOptions, k: int) -> None:
    assert counted(bench, view_of(planted()), k, options) == len(planted_cliques(k))


def test_a_density_in_between_decides_set_by_set(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clique_enumerate, "build_threshold", lambda k, level: 0.5)
    options = EnumerateOptions("queued", dynamic=True)
    for k in (6, 7):
        assert counted(bench, view_of(planted()), k, options) == len(planted_cliques(k))


@pytest.mark.parametrize("k", [4, 5, 7])
def test_heavy_edges_in_many_parts(bench: Bench, monkeypatch: pytest.MonkeyPatch, k: int) -> None:
    monkeypatch.setattr(clique_plan, "CLIQUES_PER_PART", 100)
    monkeypatch.setattr(clique_plan, "CLIQUES_PER_CELL", 0)
    clique_plan._layout.cache_clear()
    for method in ("enumerate", "bitmap"):
        assert launch(bench, view_of(planted()), k, method=method)["total"] == len(planted_cliques(k))
    clique_plan._layout.cache_clear()


@pytest.mark.parametrize("method", METHODS)
def test_long_searches_go_in_slices_and_hear_a_stop(bench: Bench, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setattr(clique_enumerate, "_CLIQUES_AT_ONCE", 0)
    monkeypatch.setattr(clique_enumerate, "_FIRST_SLICE", 3)
    monkeypatch.setattr(clique_sets, "_FIRST_SLICE", 3)
    rows, control = random_rows(30, 0.6, seed=7), Control()
    view = view_of(rows)
    assert launch(bench, view, 5, method=method, control=control)["total"] == len(cliques_of(rows, 5))
    assert control.done == len(view["neighbors"])
    control.stop()
    with pytest.raises(InterruptedError):
        launch(bench, view, 5, method=method, control=control)


def test_credits_in_slices(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clique_credit, "_FIRST_SLICE", 2)
    control = Control()
    view = view_of(complete_rows(12))
    assert launch(bench, view, 5, by="vertex", control=control)["counts"][:, 0].tolist() == [comb(11, 4)] * 12
    assert control.done == len(view["neighbors"])


@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_count(bench: Bench, method: str) -> None:
    for rows in ([], [[]], [[1], []], complete_rows(4)):
        view = view_of(rows)
        assert launch(bench, view, 5, method=method)["total"] == 0
        assert launch(bench, view, 5, method=method, tasks=[])["total"] == 0


def test_counts_by_vertex_say_which_methods_have_them(emulated: Bench) -> None:
    for method in METHODS[1:]:
        with pytest.raises(UnsupportedError, match='by="edge" works with method="enumerate" or "pivot"'):
            launch(emulated, view_of(complete_rows(4)), 3, method=method, by="edge")


def test_rows_that_do_not_fit_are_named(emulated: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clique_enumerate, "LONGEST_ROW", 10)
    monkeypatch.setattr(clique_credit, "LONGEST_ROW", 10)
    view = view_of(complete_rows(12))
    for by in (None, "vertex"):
        with pytest.raises(UnsupportedError, match="11"):
            launch(emulated, view, 5, by=by)


def test_active_lanes_are_counted(bench: Bench) -> None:
    def lanes(walk: Any) -> Any:
        options = EnumerateOptions(walk)
        return on(
            bench,
            view_of(planted()),
            lambda there: clique_enumerate.measure_lanes(bench.device, there, 6, options=options),
        )

    total = len(planted_cliques(6))
    for walk in ("thread", "scheduled"):
        found = lanes(walk)
        assert found["total"] == total and found["steps"] > 0 and 1 <= found["lanes"] <= 32
    if not bench.emulated:  # there each lane runs alone, so a step has one
        assert lanes("scheduled")["lanes"] > lanes("thread")["lanes"]


@pytest.mark.parametrize("build_level", [2, 3])
def test_tasks_are_measured_one_by_one(bench: Bench, build_level: int) -> None:
    view = view_of(complete_rows(40))
    found = on(
        bench,
        view,
        lambda there: clique_enumerate.measure_construction(
            bench.device, there, 6, build_level=build_level, walk="queued"
        ),
    )
    sizes = sorted(40 - 1 - v for v in range(1, 40) for _ in range(v) if 40 - 1 - v >= 4)
    assert sorted(found["size"].tolist()) == sizes
    assert found["density"].tolist() == [1.0] * len(sizes)
    assert (found["ticks"] > 0).all()


def test_measuring_where_no_edge_is_worth_a_task_finds_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clique_enumerate, "_CLIQUES_AT_ONCE", -1)  # so that launches are cut into slices
    view = view_of([list(range(1, 9)), *([] for _ in range(8))])
    options = EnumerateOptions("queued", measure=True)
    task = Task(0, len(view["neighbors"]))
    counted = on(
        bench,
        view,
        lambda there: clique_enumerate.count_tasks(bench.device, there, task, control=Control(), k=5, options=options),
    )
    assert counted.total == 0 and sum(len(record) for record in counted.records) == 0


@pytest.mark.parametrize(
    ("size", "needed", "cliques", "parts"),
    [(0, 3, 10, 1), (5, 3, 10, 1), (40, 5, 10**9, 1), (40, 5, 10**5, 2), (40, 5, 1, 2), (40, 8, 10**5, 40)],
)
def test_parts_follow_the_number_of_cliques_and_never_exceed_the_branches(
    size: int, needed: int, cliques: int, parts: int
) -> None:
    assert clique_plan.parts_of(size, needed, cliques) == parts


def test_slices_aim_at_a_fifth_of_a_second() -> None:
    assert clique_plan.next_slice(64, 0.001) == 512
    assert clique_plan.next_slice(64, 0.05) == 128
    assert clique_plan.next_slice(64, 0.2) == 64
    assert clique_plan.next_slice(64, 3.0) == 32
    assert clique_plan.next_slice(1, 3.0) == 1


def test_matrices_are_built_with_four_vertices_to_go() -> None:
    for k in range(5, 20):
        built = [level for level in range(2, k) if clique_enumerate.build_threshold(k, level) < 1.0]
        assert built == list(range(max(2, k - 4), k))


def test_lanes_share_their_work_only_in_deep_searches() -> None:
    assert [k for k in range(3, 12) if clique_enumerate.schedules(k)] == [8, 9, 10, 11]


@pytest.mark.parametrize(
    ("size", "width"), [(1, 1), (32, 1), (33, 2), (64, 2), (65, 4), (129, 8), (257, 12), (512, 16)]
)
def test_rows_are_built_as_wide_as_searches_are_compiled(size: int, width: int) -> None:
    assert clique_enumerate.width_for(size, 16) == width
