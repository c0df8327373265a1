"""Triangles in rows so long that no small graph has them: every size class, both widths, several tasks."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from graphlode.common.control import Control
from graphlode.cuda.analytics import triangles
from graphlode.errors import KernelFaultError
from graphlode.types import Task
from kernel_bench import Bench, Rows, csr, triangles_of

BY = [None, "vertex", "edge"]
NUM_ROWS = 5300

# Around what a warp takes (64 or 128 neighbors), what makes one part (257) and what fits a table (1024 or 2048).
LENGTHS = [5000, 64, 65, 128, 129, 256, 257, 258, 513, 1024, 1025, 1026, 2048, 2049, 2050, 4097, 0, 1, 2, 3, 31, 32, 33]


@cache
def long_rows() -> tuple[Rows, tuple[int, list[int], list[int]]]:
    """A row of each length from the front; all others have a few neighbors, near and far. With the answers."""
    rng = np.random.default_rng(5)
    rows: Rows = [list(range(1, 1 + LENGTHS[0]))]
    for u, length in enumerate(LENGTHS[1:], start=1):
        rows.append(sorted(rng.choice(np.arange(u + 1, NUM_ROWS), length, replace=False).tolist()))
    for u in range(len(rows), NUM_ROWS):
        near = range(u + 1, min(NUM_ROWS, u + 3))
        far = rng.integers(u + 1, NUM_ROWS, 2).tolist() if u + 1 < NUM_ROWS else []
        rows.append(sorted({*near, *far}))
    return rows, triangles_of(rows)


def launch(bench: Bench, view: dict[str, Any], tasks: list[Task], by: Any, control: Control | None = None) -> Any:
    def work() -> Any:
        there = bench.device.put(view)
        return triangles.launch(bench.device, there, iter(tasks), control=control or Control(), by=by)

    return bench.do(work)


def check(partial: dict[str, Any], by: Any, expected: tuple[int, list[int], list[int]]) -> None:
    assert partial["total"] == expected[0]
    if by is None:
        assert partial["counts"] is None
    else:
        assert partial["counts"].tolist() == expected[1 if by == "vertex" else 2]


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
def test_rows_of_every_size_class(bench: Bench, dtype: Any, by: Any) -> None:
    rows, expected = long_rows()
    check(launch(bench, csr(rows, dtype), [Task(0, NUM_ROWS)], by), by, expected)


@pytest.mark.parametrize("by", BY)
def test_tasks_add_up(bench: Bench, by: Any) -> None:
    rows, expected = long_rows()
    control = Control()
    tasks = [Task(0, 1), Task(1, 1), Task(1, 7), Task(7, 2000), Task(2000, NUM_ROWS)]
    check(launch(bench, csr(rows), tasks, by, control), by, expected)
    assert control.done == NUM_ROWS


@pytest.mark.parametrize("by", BY)
def test_a_task_in_pieces_is_the_same(bench: Bench, monkeypatch: pytest.MonkeyPatch, by: Any) -> None:
    rows, expected = long_rows()
    monkeypatch.setattr(triangles, "_ENTRIES_PER_PIECE", 3000)
    check(launch(bench, csr(rows), [Task(0, 3), Task(3, NUM_ROWS)], by), by, expected)


def test_a_stop_takes_effect_between_pieces(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triangles, "_ENTRIES_PER_PIECE", 3000)
    control = Control()
    control.stop()
    with pytest.raises(InterruptedError):
        launch(bench, csr(long_rows()[0]), [Task(0, NUM_ROWS)], None, control)
    assert control.done == 0


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 33, 70, 140])
def test_complete_graphs(bench: Bench, n: int, by: Any) -> None:
    """Each row is full: all members are hit."""
    found = launch(bench, csr([range(u + 1, n) for u in range(n)]), [Task(0, n)], by)
    assert found["total"] == n * (n - 1) * (n - 2) // 6
    if by is not None and n > 1:
        assert set(found["counts"].tolist()) == {(n - 1) * (n - 2) // 2 if by == "vertex" else n - 2}


def test_no_tasks_count_nothing(bench: Bench) -> None:
    found = launch(bench, csr([[1, 2], [2], []]), [], "vertex")
    assert found["total"] == 0 and found["counts"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("bad", [0, 1, 5000, -1], ids=["lower", "itself", "beyond", "negative"])
@pytest.mark.parametrize("length", [4, 3000])
def test_a_neighbor_that_breaks_the_order_is_a_fault(bench: Bench, length: int, bad: int) -> None:
    """Not a crash and not a number: the entry is named."""
    view = csr([[], range(2, 2 + length), *([] for _ in range(length))])
    view["neighbors"][length // 2] = bad
    says = rf"^analytics\.triangles on {bench.device.name}: .*\(code 1, index {length // 2}\)$"
    for by in BY:
        with pytest.raises(KernelFaultError, match=says):
            launch(bench, view, [Task(0, length + 2)], by)


@pytest.mark.parametrize(("rows", "warps"), [(0, 1), (1, 1), (10**3, 64), (10**6, 64), (10**9, 1), (10**9, 10**4)])
def test_rows_per_draw_are_few_and_never_none(rows: int, warps: int) -> None:
    drawn = triangles.rows_per_draw(rows, warps)
    assert 1 <= drawn <= 32
    assert drawn == 1 or rows // drawn >= 16 * warps
