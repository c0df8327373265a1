"""Cliques by pivoting on CUDA devices: every width of bit rows, shared and unfinished searches, sums of any size."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest

from graphlode.common.control import Control
from graphlode.common.counts import from_limbs
from graphlode.cuda.cliques import pivot as clique_pivot
from graphlode.cuda.cliques import rows as clique_rows
from graphlode.cuda.mining import all_cliques, cliques
from graphlode.errors import KernelFaultError
from graphlode.types import Task
from kernel_bench import Bench, Rows, csr

ALWAYS, NEVER = -(10**6), 10**6


def view_of(rows: Rows, dtype: Any = np.int32) -> dict[str, Any]:
    """Oriented rows as the view that cliques are searched in."""
    view = csr(rows, dtype)
    lengths = np.diff(view["offsets"])
    order = np.argsort(-lengths, kind="stable")
    row_counts = np.append(np.bincount(lengths, minlength=1)[::-1].cumsum()[::-1], 0)
    return view | {"roots": order[lengths[order] >= 2].astype(dtype), "row_counts": row_counts}


def on_device(bench: Bench, view: dict[str, Any]) -> dict[str, Any]:
    arrays = {name: array for name, array in view.items() if name != "row_counts"}
    return bench.device.put(arrays) | {"row_counts": view["row_counts"]}


def random_rows(n: int, density: float, seed: int = 1) -> Rows:
    rng = np.random.default_rng(seed)
    return [(np.flatnonzero(rng.random(n - u - 1) < density) + u + 1).tolist() for u in range(n)]


def complete_rows(n: int) -> Rows:
    return [list(range(u + 1, n)) for u in range(n)]


def turan_rows(parts: int, size: int) -> Rows:
    """Complete between parts, nothing within: vertices u and v are apart if they are equal modulo `parts`."""
    n = parts * size
    return [[v for v in range(u + 1, n) if v % parts != u % parts] for u in range(n)]


def cliques_of(rows: Rows, k: int) -> list[list[int]]:
    """All k-cliques, one at a time."""
    sets = [set(row) for row in rows]

    def grow(clique: list[int], candidates: list[int]) -> list[list[int]]:
        if len(clique) == k:
            return [clique]
        return [found for v in candidates for found in grow([*clique, v], [w for w in candidates if w in sets[v]])]

    return [found for u, row in enumerate(rows) for found in grow([u], row)]


def count(bench: Bench, view: dict[str, Any], k: int, tasks: list[Task] | None = None, by: Any = None) -> Any:
    whole = [Task(0, len(view["neighbors"]))]

    def work() -> Any:
        there = on_device(bench, view)
        return cliques.launch(
            bench.device, there, iter(whole if tasks is None else tasks), control=Control(), k=k, by=by, method="pivot"
        )

    return bench.do(work)


def count_all(bench: Bench, view: dict[str, Any], max_k: int | None, tasks: list[Task] | None = None) -> list[int]:
    whole = [Task(0, len(view["neighbors"]))]

    def work() -> Any:
        there = on_device(bench, view)
        return all_cliques.launch(
            bench.device, there, iter(whole if tasks is None else tasks), control=Control(), max_k=max_k
        )

    found: list[int] = bench.do(work)["counts"]
    return found


def in_parts(view: dict[str, Any]) -> list[Task]:
    """Tasks that begin and end inside of rows; one of them is a single edge, one is empty."""
    m = len(view["neighbors"])
    return [Task(0, m // 3), Task(m // 3, m // 3 + 1), Task(m // 3 + 1, m // 3 + 1), Task(m // 3 + 1, m)]


@pytest.mark.parametrize("n", [33, 34, 65, 66, 129, 130, 258])
def test_rows_of_every_width(bench: Bench, n: int) -> None:
    """The first row has n - 1 neighbors: on both sides of 1, 2, 4 and 8 words."""
    view = view_of(complete_rows(n))
    assert count(bench, view, 5)["total"] == comb(n, 5)
    assert count(bench, view_of(turan_rows(3, n // 3)), 3)["total"] == (n // 3) ** 3


def test_rows_longer_than_shared_memory_has_bits_for(bench: Bench) -> None:
    """One row of 600 neighbors, the first 50 of which have long rows, too."""
    n, long = 600, 50
    rng = np.random.default_rng(3)
    rows = [
        list(range(1, n)),
        *(sorted(rng.choice(np.arange(u + 1, n), 150, replace=False).tolist()) for u in range(1, long)),
    ]
    rows += [[] for _ in range(long, n)]
    view = view_of(rows)
    for k in (3, 4):
        expected = len(cliques_of(rows, k))
        assert count(bench, view, k)["total"] == expected
        assert count(bench, view, k, in_parts(view))["total"] == expected
    assert count_all(bench, view, 4)[3:] == [len(cliques_of(rows, 3)), len(cliques_of(rows, 4))]


@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
@pytest.mark.parametrize(
    ("n", "density", "k"), [(40, 0.7, 3), (40, 0.7, 5), (100, 0.3, 4), (150, 0.2, 4), (36, 0.9, 6)]
)
def test_random_graphs_as_a_whole_and_in_parts(bench: Bench, n: int, density: float, k: int, dtype: Any) -> None:
    rows = random_rows(n, density)
    view, expected = view_of(rows, dtype), len(cliques_of(rows, k))
    assert count(bench, view, k)["total"] == expected
    assert count(bench, view, k, in_parts(view))["total"] == expected


@pytest.mark.parametrize("k", [3, 4, 6, 9])
def test_many_roots_with_few_neighbors(bench: Bench, k: int) -> None:
    """Graphs of 9 vertices side by side, from sparse ones to cliques: several roots are built and counted at once."""
    rows: list[list[int]] = []
    for i in range(60):
        base = len(rows)
        rows += [[v + base for v in row] for row in random_rows(9, (i + 1) / 60, seed=i)]
    view, expected = view_of(rows), len(cliques_of(rows, k))
    assert expected > 0
    assert count(bench, view, k)["total"] == expected
    assert count(bench, view, k, in_parts(view))["total"] == expected
    assert count_all(bench, view, 9)[k] == expected


@pytest.mark.parametrize("give_when", [ALWAYS, NEVER], ids=["always", "never"])
@pytest.mark.parametrize(("n", "density", "k"), [(60, 0.7, 6), (170, 0.35, 5)])
def test_branches_given_to_other_warps_are_counted_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, give_when: int, n: int, density: float, k: int
) -> None:
    view = view_of(random_rows(n, density))
    expected = count(bench, view, k)["total"]
    monkeypatch.setattr(clique_pivot, "GIVE_WHEN", give_when)
    assert count(bench, view, k)["total"] == expected
    assert count(bench, view, k, in_parts(view))["total"] == expected


@pytest.mark.parametrize(("attribute", "value"), [("NODES_PER_LAUNCH", 40), ("QUEUE_RECORDS", 64)])
def test_launches_that_end_early_and_queues_that_fill_lose_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, attribute: str, value: int
) -> None:
    view = view_of(random_rows(60, 0.7))
    expected = count(bench, view, 6)["total"]
    monkeypatch.setattr(clique_pivot, attribute, value)
    monkeypatch.setattr(clique_pivot, "GIVE_WHEN", ALWAYS)
    assert count(bench, view, 6)["total"] == expected


def test_stacks_that_overflow_go_on_in_global_memory(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    view = view_of(random_rows(60, 0.7))
    expected = count(bench, view, 6)["total"]
    small = replace(cliques.SOURCE, defines={**cliques.SOURCE.defines, "STACK_WORDS": ("12",)})
    kernel = clique_pivot.PivotKernel(small, as_leaves=False, defines={"STACK_WORDS": "12"})
    monkeypatch.setattr(clique_pivot, "_STACK_WORDS", 12)
    monkeypatch.setattr(cliques, "_kernel", lambda *_: kernel)
    assert count(bench, view, 6)["total"] == expected
    monkeypatch.setattr(clique_pivot, "GIVE_WHEN", ALWAYS)
    assert count(bench, view, 6)["total"] == expected


def test_a_stop_takes_effect_between_launches(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clique_pivot, "NODES_PER_LAUNCH", 1)
    control = Control()
    control.stop()
    view = view_of(random_rows(40, 0.7))

    def work() -> None:
        task = Task(0, len(view["neighbors"]))
        cliques.launch(
            bench.device, on_device(bench, view), iter([task]), control=control, k=5, by=None, method="pivot"
        )

    with pytest.raises(InterruptedError):
        bench.do(work)


def test_roots_in_several_batches_add_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = random_rows(100, 0.4)
    view, expected = view_of(rows), len(cliques_of(rows, 4))
    monkeypatch.setattr(clique_rows, "SLAB_WORDS", 500)
    assert count(bench, view, 4)["total"] == expected
    by_vertex = count(bench, view, 4, by="vertex")
    assert by_vertex["total"] == expected


@pytest.mark.parametrize(("parts", "size", "k"), [(7, 3, 4), (7, 3, 7), (7, 3, 8), (30, 2, 20), (45, 2, 5)])
def test_turan_graphs(bench: Bench, parts: int, size: int, k: int) -> None:
    """Cliques have at most one vertex of each part. With parts of two the graph is complete except for a matching."""
    assert count(bench, view_of(turan_rows(parts, size)), k)["total"] == comb(parts, k) * size**k


@pytest.mark.parametrize(("n", "k"), [(70, 35), (160, 80)])
def test_counts_beyond_64_and_128_bits(bench: Bench, n: int, k: int) -> None:
    view = view_of(complete_rows(n))
    assert comb(n, k) > 2**64
    assert count(bench, view, k)["total"] == comb(n, k)
    found = count(bench, view, k, by="vertex")
    assert found["total"] == comb(n, k)
    assert set(from_limbs(found["counts"]).tolist()) == {comb(n - 1, k - 1)}


@pytest.mark.parametrize("split", [False, True], ids=["whole", "parts"])
@pytest.mark.parametrize(("n", "density", "k"), [(40, 0.5, 3), (40, 0.6, 5), (24, 0.9, 6), (140, 0.15, 4)])
def test_counts_by_vertex_and_edge(bench: Bench, n: int, density: float, k: int, split: bool) -> None:
    rows = random_rows(n, density)
    view, found = view_of(rows), cliques_of(rows, k)
    tasks = in_parts(view) if split else None
    entry = {(u, v): view["offsets"][u] + i for u, row in enumerate(rows) for i, v in enumerate(row)}
    by_vertex, by_edge = [0] * n, [0] * len(view["neighbors"])
    for clique in found:
        for u in clique:
            by_vertex[u] += 1
        for pair in combinations(clique, 2):
            by_edge[entry[pair]] += 1
    for by, expected in (("vertex", by_vertex), ("edge", by_edge)):
        counted = count(bench, view, k, tasks, by)
        assert counted["total"] == len(found)
        assert counted["counts"].shape[1] == 1 and counted["counts"][:, 0].tolist() == expected


@pytest.mark.parametrize("max_k", [None, 2, 3, 5, 50])
@pytest.mark.parametrize(("n", "density"), [(30, 0.6), (150, 0.15)])
def test_all_sizes_at_once_are_each_size_alone(bench: Bench, n: int, density: float, max_k: int | None) -> None:
    view = view_of(random_rows(n, density))
    sizes = [count(bench, view, k)["total"] for k in range(3, 15)]
    expected = [size for size in sizes[: None if max_k is None else max(0, max_k - 2)] if size]
    for tasks in (None, in_parts(view)):
        found = count_all(bench, view, max_k, tasks)
        assert [size for size in found[3:] if size] == expected


def test_all_sizes_of_a_complete_graph_beyond_128_bits(bench: Bench) -> None:
    n = 140
    assert count_all(bench, view_of(complete_rows(n)), None)[3:] == [comb(n, k) for k in range(3, n + 1)]


def test_nothing_is_found_where_nothing_is(bench: Bench) -> None:
    view = view_of([[1, 2], [2], []])
    assert count(bench, view, 9)["total"] == 0
    assert count(bench, view_of([]), 3, [])["total"] == 0
    assert count(bench, view, 3, [], "vertex")["counts"].tolist() == [[0], [0], [0]]
    assert count_all(bench, view, None, []) == []


@pytest.mark.parametrize("bad", [0, 1, 5000, -1], ids=["lower", "itself", "beyond", "negative"])
@pytest.mark.parametrize("length", [4, 100, 600])
def test_a_neighbor_that_breaks_the_order_is_a_fault(bench: Bench, length: int, bad: int) -> None:
    view = view_of([[], list(range(2, 2 + length)), *([] for _ in range(length))])
    view["neighbors"][length // 2] = bad
    with pytest.raises(KernelFaultError, match=rf"\(code 1, index {length // 2}\)$"):
        count(bench, view, 3)


def test_the_estimate_samples_heavy_roots_and_ranks_the_methods(bench: Bench) -> None:
    """In a large clique, enumeration takes astronomically long and pivoting almost no time."""
    view = view_of(complete_rows(60))
    found = bench.do(lambda: cliques.estimate(bench.device, on_device(bench, view), control=Control(), k=20, by=None))
    assert 0 < found["pivot"] < 1e-2 < 1e3 < found["enumerate"]
    assert found["sampled"] == 41 and "41 of 41" in found["why"]
