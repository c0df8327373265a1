"""Listing on a CUDA device: searches that pause in the middle resume there, and no clique is lost or repeated."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import pytest

from graphlode.common.control import Control
from graphlode.cuda.mining import clique_lists
from graphlode.errors import KernelFaultError
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.mining import clique_lists as oracle
from graphlode.types import Task
from kernel_bench import Bench, csr

Found = list[tuple[int, ...]]


def view_of(rows: Any, dtype: Any = np.int32) -> dict[str, Any]:
    view = csr(rows, dtype)
    lengths = np.diff(view["offsets"])
    longest = int(lengths.max(initial=0))
    view["row_counts"] = np.array([(lengths >= d).sum() for d in range(longest + 2)])
    return view


def random_view(size: int, density: float, dtype: Any = np.int32, seed: int = 1) -> dict[str, Any]:
    joined = np.triu(np.random.default_rng(seed).random((size, size)) < density, 1)
    return view_of([np.flatnonzero(row).tolist() for row in joined], dtype)


def whole(view: dict[str, Any]) -> list[Task]:
    return [Task(0, view["neighbors"].size)]


def listed(
    bench: Bench,
    view: dict[str, Any],
    k: int,
    tasks: list[Task],
    batch_size: int = 1000,
    ids: Any = None,
    control: Control | None = None,
) -> Found:
    batches: list[Any] = []

    def work() -> Any:
        there = {**bench.device.put(view), "row_counts": view["row_counts"]}
        return clique_lists.launch(
            bench.device,
            there,
            iter(tasks),
            control=control or Control(),
            k=k,
            batch_size=batch_size,
            ids=ids,
            sink=batches.append,
        )

    total = bench.do(work)["total"]
    assert all(isinstance(b, np.ndarray) and b.dtype == np.int64 and 1 <= len(b) <= batch_size for b in batches)
    assert total == sum(map(len, batches))
    return [tuple(row) for batch in batches for row in batch.tolist()]


def expected(view: dict[str, Any], k: int, tasks: list[Task]) -> Found:
    batches: list[Any] = []
    options = {"control": Control(), "k": k, "batch_size": 1000, "ids": None, "sink": batches.append}
    oracle.launch(ReferenceDevice(), view, iter(tasks), **options)
    return [tuple(row) for batch in batches for row in batch.tolist()]


@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
@pytest.mark.parametrize("k", [3, 4, 5, 7])
def test_rows_are_ranks_in_ascending_order(bench: Bench, dtype: Any, k: int) -> None:
    view = random_view(40, 0.5, dtype)
    assert sorted(listed(bench, view, k, whole(view))) == sorted(expected(view, k, whole(view)))


@pytest.mark.parametrize("k", [3, 4, 6])
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_walks_that_pause_after_a_few_steps_lose_nothing(
    bench: Bench, k: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clique_lists, "STEPS", steps)
    view = random_view(24, 0.6)
    assert sorted(listed(bench, view, k, whole(view))) == sorted(expected(view, k, whole(view)))


@pytest.mark.parametrize("k", [3, 4, 5])
def test_an_output_that_is_full_again_and_again_loses_nothing(
    bench: Bench, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clique_lists, "_OUTPUT_BYTES", 1)
    size = 30
    view = view_of([list(range(u + 1, size)) for u in range(size)])
    assert clique_lists.capacity(k, size - 1) == 32 * (size - 1) < comb(size, k)
    found = listed(bench, view, k, whole(view))
    assert len(found) == len(set(found)) == comb(size, k)


@pytest.mark.parametrize("size", [31, 32, 33, 64, 65, 66, 1025])
def test_candidates_at_the_borders_of_words_are_found(bench: Bench, size: int) -> None:
    """Two vertices joined to everything, and one edge between the last two candidates."""
    rows = [list(range(1, size + 2)), list(range(2, size + 2)), *([] for _ in range(size))]
    rows[size] = [size + 1]
    view = view_of(rows)
    assert listed(bench, view, 4, whole(view)) == [(0, 1, size, size + 1)]
    assert len(set(listed(bench, view, 3, whole(view)))) == size + 2


def test_tasks_may_begin_and_end_inside_rows(bench: Bench) -> None:
    view = random_view(30, 0.6)
    last = view["neighbors"].size
    cuts = [0, 1, 5, 6, 6, last // 2, last - 1, last]
    tasks = [Task(a, b) for a, b in zip(cuts, cuts[1:], strict=False)]
    for task in tasks:
        assert sorted(listed(bench, view, 4, [task])) == sorted(expected(view, 4, [task]))
    assert sorted(listed(bench, view, 4, tasks)) == sorted(expected(view, 4, whole(view)))


def test_few_warps_with_much_memory_each_do_the_same(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clique_lists, "_SCRATCH_BYTES", 1)
    view = random_view(40, 0.5)
    assert sorted(listed(bench, view, 4, whole(view))) == sorted(expected(view, 4, whole(view)))


@pytest.mark.parametrize("batch_size", [1, 7, 100_000])
def test_batches_hold_names_and_have_their_size(bench: Bench, batch_size: int) -> None:
    view = random_view(25, 0.5)
    ids = np.arange(25) * 10**15 - 7
    found = listed(bench, view, 3, whole(view), batch_size, ids)
    assert sorted(found) == sorted(tuple(ids[list(row)].tolist()) for row in expected(view, 3, whole(view)))


def test_a_clique_as_large_as_the_longest_row_allows(bench: Bench) -> None:
    size = 12
    view = view_of([list(range(u + 1, size)) for u in range(size)])
    assert listed(bench, view, size, whole(view)) == [tuple(range(size))]
    assert listed(bench, view, size + 1, whole(view)) == []


@pytest.mark.parametrize("bad", [-1, 99])
def test_a_neighbor_outside_of_the_graph_is_a_fault(bench: Bench, bad: int) -> None:
    view = view_of([[1, 2, 3], [2, 3], [3], []])
    view["neighbors"][2] = bad
    with pytest.raises(KernelFaultError, match=r"mining\.clique_lists .*\(code 1, index 2\)"):
        listed(bench, view, 3, whole(view))


def test_a_stop_takes_effect_between_launches(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clique_lists, "STEPS", 1)
    control = Control()
    view = random_view(24, 0.6)
    control.stop()
    with pytest.raises(InterruptedError):
        listed(bench, view, 4, whole(view), control=control)


def test_progress_counts_every_entry(bench: Bench) -> None:
    control = Control()
    view = random_view(30, 0.5)
    listed(bench, view, 4, whole(view), control=control)
    assert control.done == view["neighbors"].size
