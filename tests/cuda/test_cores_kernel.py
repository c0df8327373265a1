"""Peeling by grid and by block: frontiers of every size, more rounds than one launch takes, both widths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphlode.common.control import Control
from graphlode.cuda.analytics import cores
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.errors import KernelFaultError
from graphlode.reference.analytics.cores import peel
from graphlode.types import Task
from kernel_bench import Bench, csr, symmetric


def launch(bench: Bench, rows: list[set[int]], dtype: Any = np.int32, control: Control | None = None) -> dict[str, Any]:
    def work() -> Any:
        there = bench.device.put(csr(rows, dtype))
        return cores.launch(bench.device, there, iter([Task(0, len(rows))]), control=control or Control())

    found: dict[str, Any] = bench.do(work)
    return found


def check(bench: Bench, rows: list[set[int]], dtype: Any = np.int32) -> None:
    control = Control()
    found = launch(bench, rows, dtype, control)
    core, rounds = peel(rows, Control())
    assert found["core"].tolist() == core
    assert found["round"].tolist() == rounds
    assert control.done == len(rows)


def random_rows(num_vertices: int, num_edges: int, seed: int) -> list[set[int]]:
    ends = np.random.default_rng(seed).integers(0, num_vertices, (num_edges, 2)).tolist()
    return symmetric(num_vertices, ((u, v) for u, v in ends if u != v))


@pytest.mark.parametrize("num_vertices", [2, 3, 20_000, 20_001])
def test_a_path_has_as_many_rounds_as_half_its_length(bench: Bench, num_vertices: int) -> None:
    """Ten thousand rounds of two vertices: more than one launch of the tail performs."""
    rows = symmetric(num_vertices, ((v, v + 1) for v in range(num_vertices - 1)))
    found = launch(bench, rows)
    assert (found["core"] == 1).all()
    v = np.arange(num_vertices)
    np.testing.assert_array_equal(found["round"], np.minimum(v, num_vertices - 1 - v))


@pytest.mark.parametrize("tail_rounds", [1, 2, 7])
def test_the_bound_on_rounds_per_launch_changes_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tail_rounds: int
) -> None:
    monkeypatch.setattr(cores, "_TAIL_ROUNDS", tail_rounds)
    check(bench, random_rows(300, 900, 1))


@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
def test_a_star_has_a_wide_round_and_a_long_row(bench: Bench, dtype: Any) -> None:
    check(bench, symmetric(20_000, ((0, v) for v in range(1, 20_000))), dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
def test_a_tree_shrinks_from_wide_rounds_to_narrow_ones(bench: Bench, dtype: Any) -> None:
    check(bench, symmetric((1 << 15) - 1, (((v - 1) // 2, v) for v in range(1, (1 << 15) - 1))), dtype)


def test_a_narrow_round_can_make_the_next_one_wide(bench: Bench) -> None:
    """100 vertices of degree 30 hold 3000 others, of degree 31, above the level."""
    few, many, degree = 100, 3000, 30
    spokes = ((x, few + degree * x + i) for x in range(few) for i in range(degree))
    ring = ((few + y, few + (y + step) % many) for y in range(many) for step in range(1, degree // 2 + 1))
    rows = symmetric(few + many, [*spokes, *ring])
    check(bench, rows)
    assert launch(bench, rows)["round"].tolist() == [0] * few + [1] * many


@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
def test_more_vertices_than_one_block_scans(bench: Bench, dtype: Any) -> None:
    check(bench, random_rows(10_000, 30_000, 3), dtype)


@pytest.mark.parametrize(("entries", "remaining"), [(0, 0), (0, 1 << 30), (1 << 30, 0), (64, 64)])
def test_grid_and_block_find_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, entries: int, remaining: int
) -> None:
    """For every border between the tail and the grid."""
    monkeypatch.setattr(cores, "_TAIL_ENTRIES", entries)
    monkeypatch.setattr(cores, "_TAIL_REMAINING", remaining)
    check(bench, random_rows(700, 4000, 4))


@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
def test_the_estimate_covers_what_is_allocated(monkeypatch: pytest.MonkeyPatch, dtype: Any) -> None:
    device, rows, allocated = EmulatedDevice(), symmetric(1000, [(0, 1)]), []
    make = device.empty

    def counted(shape: Any, dtype: Any) -> Any:
        allocated.append(make(shape, dtype).nbytes)
        return make(shape, dtype)

    monkeypatch.setattr(device, "empty", counted)
    cores.peel(device, csr(rows, dtype), control=Control())
    estimate = cores.memory(device, {"num_vertices": 1000, "vertex_bytes": np.dtype(dtype).itemsize})
    assert estimate == sum(allocated) + 4 * 1000  # and the degrees, which are made by arithmetic


def test_isolated_vertices_go_first(bench: Bench) -> None:
    for num_vertices in (1, 31, 33, 1000):
        found = launch(bench, symmetric(num_vertices, []))
        assert not found["core"].any() and not found["round"].any()


def test_without_a_task_there_is_no_partial(bench: Bench) -> None:
    assert bench.do(lambda: cores.launch(bench.device, csr([]), iter([]), control=Control())) is None


def test_a_stop_takes_effect(bench: Bench) -> None:
    control = Control()
    control.stop()
    with pytest.raises(InterruptedError):
        launch(bench, random_rows(50, 100, 5), np.int32, control)


@pytest.mark.parametrize("bad", [-1, 40, 1 << 30])
def test_a_neighbor_outside_of_the_graph_is_a_fault(bench: Bench, bad: int) -> None:
    view = csr(symmetric(40, ((v, (v + 1) % 40) for v in range(40))))
    view["neighbors"][17] = bad

    def work() -> Any:
        return cores.launch(bench.device, bench.device.put(view), iter([Task(0, 40)]), control=Control())

    with pytest.raises(KernelFaultError, match=r"^analytics\.cores on .*\(code 1, index 17\)$"):
        bench.do(work)
