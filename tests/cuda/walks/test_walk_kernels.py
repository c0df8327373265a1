"""BFS, components and PageRank on kernel devices: every direction and row length, both widths, stops and faults."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from graphlode.common.control import Control
from graphlode.cuda.analytics import bfs, components, pagerank
from graphlode.cuda.graph import transposed
from graphlode.cuda.walks import pagerank_sums
from graphlode.errors import KernelFaultError
from graphlode.graph.views import Transposed
from graphlode.reference.analytics import bfs as bfs_oracle
from graphlode.reference.analytics import components as components_oracle
from graphlode.reference.analytics import pagerank as pagerank_oracle
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph import transposed as transposed_oracle
from graphlode.types import Task
from kernel_bench import Bench, csr, symmetric

WIDTHS = pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
RANK = {"damping": 0.85, "tolerance": 1e-9, "max_iter": 50, "restart": None, "weights": None}


def launch(
    bench: Bench, kernel: ModuleType, view: dict[str, Any], control: Control | None = None, **options: Any
) -> Any:
    size = len(view["offsets"]) - 1

    def work() -> Any:
        there = bench.device.put(view)
        return kernel.launch(bench.device, there, iter([Task(0, size)]), control=control or Control(), **options)

    return bench.do(work)


def expected(oracle: ModuleType, view: dict[str, Any], **options: Any) -> Any:
    size = len(view["offsets"]) - 1
    return oracle.launch(ReferenceDevice(), view, iter([Task(0, size)]), control=Control(), **options)


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(found[name], value, rtol=1e-11)
        else:
            np.testing.assert_array_equal(found[name], value)


def random_rows(num_vertices: int, num_edges: int, seed: int) -> list[set[int]]:
    ends = np.random.default_rng(seed).integers(0, num_vertices, (num_edges, 2)).tolist()
    return symmetric(num_vertices, ((u, v) for u, v in ends if u != v))


def star(num_leaves: int) -> list[set[int]]:
    return symmetric(num_leaves + 1, ((0, v) for v in range(1, num_leaves + 1)))


def turned(patch: pytest.MonkeyPatch, *turns: bool) -> None:
    """Uses the directions in `turns` again and again; True is backwards."""
    again = cycle(turns)
    patch.setattr(bfs, "worth_looking_back", lambda *_: next(again))


DIRECTIONS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "as it turns out": lambda patch: None,
    "by the grid, forwards": lambda patch: patch.setattr(bfs, "_TAIL_ENTRIES", -1),
    "by one block, few levels per launch": lambda patch: patch.setattr(bfs, "_TAIL_LEVELS", 2),
    "backwards": lambda patch: turned(patch, True),
    "in turns": lambda patch: turned(patch, True, False),
}


@WIDTHS
@pytest.mark.parametrize("direction", sorted(DIRECTIONS))
def test_every_direction_finds_the_same_tree(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, dtype: Any, direction: str
) -> None:
    DIRECTIONS[direction](monkeypatch)
    for rows in (random_rows(300, 700, 1), random_rows(100, 1500, 2), star(3000)):
        view = csr(rows, dtype)
        for source in (0, 7):
            options = {"source": source, "symmetric": True}
            same(launch(bench, bfs, view, **options), expected(bfs_oracle, view, **options))


@pytest.mark.parametrize(
    ("entries", "left", "unreached", "read_anyway", "worth"),
    [
        (300, 1000, 100, 0, True),
        (300, 1000, 100, 2400, True),
        (300, 1000, 100, 2401, False),
        (10, 0, 50, 0, False),
        (0, 0, 0, 0, False),
    ],
)
def test_reading_all_pages_for_a_few_is_not_worth_while(
    entries: int, left: int, unreached: int, read_anyway: int, worth: bool
) -> None:
    assert bfs.worth_looking_back(entries, left, unreached, read_anyway) is worth


@WIDTHS
def test_arcs_are_followed_forwards_only(bench: Bench, dtype: Any) -> None:
    ends = np.random.default_rng(3).integers(0, 200, (500, 2)).tolist()
    rows = [{v for u, v in ends if u == w and v != w} for w in range(200)]
    options = {"source": 5, "symmetric": False}
    same(launch(bench, bfs, csr(rows, dtype), **options), expected(bfs_oracle, csr(rows, dtype), **options))


def test_a_path_longer_than_a_launch_has_all_its_levels(bench: Bench) -> None:
    length = 2 * bfs._TAIL_LEVELS + 5
    found = launch(
        bench, bfs, csr(symmetric(length, ((v, v + 1) for v in range(length - 1)))), source=0, symmetric=False
    )
    np.testing.assert_array_equal(found["levels"], np.arange(length))
    np.testing.assert_array_equal(found["parents"], np.arange(length) - 1)
    assert (found["reached"], found["depth"]) == (length, length - 1)


@WIDTHS
@pytest.mark.parametrize("symmetric_rows", [True, False])
def test_components_of_many_sizes(bench: Bench, dtype: Any, symmetric_rows: bool) -> None:
    for rows in (random_rows(500, 300, 4), random_rows(200, 3000, 5), star(100), symmetric(33, [])):
        options = {"symmetric": symmetric_rows}
        same(
            launch(bench, components, csr(rows, dtype), **options),
            expected(components_oracle, csr(rows, dtype), **options),
        )


@WIDTHS
@pytest.mark.parametrize("longest", [pagerank_sums.LONGEST, 20])
def test_rows_of_every_length_are_summed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, dtype: Any, longest: int
) -> None:
    """A lane, a warp and a block each get rows."""
    monkeypatch.setattr(pagerank_sums, "LONGEST", longest)
    for rows in (random_rows(300, 1000, 6), star(70), symmetric(40, [(0, 1)])):
        view = csr(rows, dtype)
        restart = np.arange(len(rows)) / sum(range(len(rows)))
        weights = np.arange(len(view["neighbors"])) % 5 / 2
        for options in (RANK, RANK | {"restart": restart}, RANK | {"weights": weights}):
            same(launch(bench, pagerank, view, **options), expected(pagerank_oracle, view, **options))


@WIDTHS
@pytest.mark.parametrize("num_vertices", [0, 1, 40])
def test_the_transposed_view_is_that_of_the_reference(bench: Bench, dtype: Any, num_vertices: int) -> None:
    ends = np.random.default_rng(8).integers(0, max(num_vertices, 1), (3 * num_vertices, 2)).tolist()
    base = csr([{v for u, v in ends if u == w and v != w} for w in range(num_vertices)], dtype)

    def work() -> Any:
        built = transposed.build(bench.device, bench.device.put(base), Transposed(), control=Control())
        return {name: bench.device.get(array) for name, array in built.items()}

    same(bench.do(work), transposed_oracle.build(ReferenceDevice(), base, Transposed(), control=Control()))


KERNELS: dict[str, tuple[ModuleType, dict[str, Any]]] = {
    "bfs": (bfs, {"source": 0, "symmetric": False}),
    "components": (components, {"symmetric": False}),
    "pagerank": (pagerank, RANK),
}


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_walks_can_be_stopped_and_report_progress(bench: Bench, name: str) -> None:
    kernel, options = KERNELS[name]
    control = Control()
    launch(bench, kernel, csr(random_rows(50, 100, 5)), control, **options)
    assert control.done == 50
    control.stop()
    with pytest.raises(InterruptedError):
        launch(bench, kernel, csr(random_rows(50, 100, 5)), control, **options)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_a_walk_without_a_task_has_no_partial(bench: Bench, name: str) -> None:
    kernel, options = KERNELS[name]
    assert bench.do(lambda: kernel.launch(bench.device, csr([]), iter([]), control=Control(), **options)) is None


@pytest.mark.parametrize("bad", [-1, 40, 1 << 30])
@pytest.mark.parametrize("name", ["bfs", "components"])
def test_walks_report_a_neighbor_outside_of_the_graph(bench: Bench, name: str, bad: int) -> None:
    view = csr(symmetric(40, ((v, (v + 1) % 40) for v in range(40))))
    view["neighbors"][17] = bad
    kernel, options = KERNELS[name]
    with pytest.raises(KernelFaultError, match=rf"^analytics\.{name} on .*\(code 1, index 17\)$"):
        launch(bench, kernel, view, **options)


def test_looking_back_reports_a_neighbor_outside_of_the_graph(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    DIRECTIONS["backwards"](monkeypatch)
    view = csr(symmetric(40, ((v, (v + 1) % 40) for v in range(40))))
    view["neighbors"][17] = 99
    with pytest.raises(KernelFaultError, match=r"^analytics\.bfs on .*\(code 1, index 17\)$"):
        launch(bench, bfs, view, source=0, symmetric=True)
