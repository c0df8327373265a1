"""Shortest paths and label propagation on kernel devices: row lengths, launch shapes, widths, stops and faults."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from graphlode.common.control import Control
from graphlode.cuda.analytics import label_propagation, shortest_paths
from graphlode.cuda.graph import weighted
from graphlode.errors import InputError, KernelFaultError
from graphlode.graph.views import Weighted
from graphlode.reference.analytics import label_propagation as label_propagation_oracle
from graphlode.reference.analytics import shortest_paths as shortest_paths_oracle
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph import weighted as weighted_oracle
from graphlode.types import Task
from kernel_bench import Bench, csr, symmetric

WIDTHS = pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
FROM_0: dict[str, Any] = {"source": 0, "symmetric": False, "delta": None}
FEW_ITERATIONS: dict[str, Any] = {"max_iter": 4, "seed": 9}
KERNELS: dict[str, tuple[ModuleType, ModuleType, dict[str, Any]]] = {
    "shortest_paths": (shortest_paths, shortest_paths_oracle, FROM_0),
    "label_propagation": (label_propagation, label_propagation_oracle, FEW_ITERATIONS),
}


def measured(rows: list[set[int]], dtype: Any = np.int32, seed: int = 1, lengths: Any = (0.0, 0.5, 1.0, 7.0)) -> Any:
    view = csr(rows, dtype)
    weights = np.random.default_rng(seed).choice(lengths, len(view["neighbors"]))
    return view | {"weights": weights, "mean_weight": float(weights.mean()) if weights.size else 0.0}


def random_arcs(num_vertices: int, num_edges: int, seed: int) -> list[set[int]]:
    rows: list[set[int]] = [set() for _ in range(num_vertices)]
    for u, v in np.random.default_rng(seed).integers(0, num_vertices, (num_edges, 2)).tolist():
        if u != v:
            rows[u].add(v)
    return rows


def random_edges(num_vertices: int, num_edges: int, seed: int) -> list[set[int]]:
    rows = random_arcs(num_vertices, num_edges, seed)
    return symmetric(num_vertices, ((u, v) for u, row in enumerate(rows) for v in row))


def star(num_leaves: int) -> list[set[int]]:
    return symmetric(num_leaves + 1, ((0, v) for v in range(1, num_leaves + 1)))


def launch(bench: Bench, kernel: ModuleType, view: Any, control: Control | None = None, **options: Any) -> Any:
    size = len(view["offsets"]) - 1

    def work() -> Any:
        arrays = {name: value for name, value in view.items() if isinstance(value, np.ndarray)}
        there = view | bench.device.put(arrays)
        return kernel.launch(bench.device, there, iter([Task(0, size)]), control=control or Control(), **options)

    return bench.do(work)


def same(bench: Bench, name: str, view: Any, **changed: Any) -> None:
    kernel, oracle, options = KERNELS[name]
    size = len(view["offsets"]) - 1
    wanted = oracle.launch(ReferenceDevice(), view, iter([Task(0, size)]), control=Control(), **options | changed)
    found = launch(bench, kernel, view, **options | changed)
    assert found.keys() == wanted.keys()
    for key, value in wanted.items():
        np.testing.assert_array_equal(found[key], value)


SHAPES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "as it turns out": lambda patch: None,
    "rounds by the grid": lambda patch: patch.setattr(shortest_paths, "_TAIL_ENTRIES", -1),
    "scans by the grid": lambda patch: patch.setattr(shortest_paths, "_TAIL_LISTED", -1),
    "few rounds per launch": lambda patch: patch.setattr(shortest_paths, "_TAIL_ROUNDS", 2),
}


@WIDTHS
@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("delta", [None, 0.25])
def test_every_shape_of_a_search_finds_the_same_tree(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, dtype: Any, shape: str, delta: float | None
) -> None:
    SHAPES[shape](monkeypatch)
    for rows in (random_arcs(300, 900, 1), random_arcs(100, 2500, 2), star(2500)):
        same(bench, "shortest_paths", measured(rows, dtype), delta=delta)


def test_a_chain_without_length_has_its_parents_round_by_round(bench: Bench) -> None:
    chain = symmetric(70, ((v, v + 1) for v in range(69)))
    found = launch(bench, shortest_paths, measured(chain, lengths=[0.0]), **FROM_0 | {"source": 20})
    assert found["parents"].tolist() == [*range(1, 21), -1, *range(20, 69)]
    assert not found["distances"].any() and found["reached"] == 70


def test_very_unequal_lengths_are_summed_as_the_reference_does(bench: Bench) -> None:
    lengths = 10.0 ** np.arange(-300, 300, 7)
    same(bench, "shortest_paths", measured(random_arcs(200, 900, 4), lengths=lengths))


def test_ranges_suit_what_a_warp_does_at_once() -> None:
    assert shortest_paths.range_width(0.5, 16.0) == 1.0
    assert shortest_paths.range_width(0.0, 16.0) == 1.0


@WIDTHS
def test_labels_of_rows_of_every_length_are_counted(bench: Bench, dtype: Any) -> None:
    for rows in (random_edges(300, 700, 3), random_edges(90, 2000, 5), star(2500), symmetric(40, [(0, 1)])):
        same(bench, "label_propagation", csr(rows, dtype))


@WIDTHS
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("num_vertices", [0, 1, 60])
def test_the_weighted_view_is_that_of_the_reference(
    bench: Bench, dtype: Any, directed: bool, num_vertices: int
) -> None:
    make = random_arcs if directed else random_edges
    base = csr(make(num_vertices, 4 * num_vertices, 8) if num_vertices else [], dtype)
    entries = len(base["neighbors"])
    view = Weighted(directed, lambda: np.arange(entries if directed else entries // 2) / 4)

    def work() -> Any:
        built = weighted.build(bench.device, bench.device.put(base), view, control=Control())
        return {name: bench.device.get(built[name]) for name in ("offsets", "neighbors", "weights")}

    wanted = weighted_oracle.build(ReferenceDevice(), base, view, control=Control())
    for name, array in bench.do(work).items():
        np.testing.assert_array_equal(array, wanted[name])


def test_negative_weights_are_found_on_the_device(bench: Bench) -> None:
    base = csr([{1}, {0}])
    view = Weighted(False, lambda: np.array([-2.0]))
    with pytest.raises(InputError, match="must not be negative or NaN, got -2"):
        bench.do(lambda: weighted.build(bench.device, bench.device.put(base), view, control=Control()))


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_kernels_can_be_stopped_and_report_progress(bench: Bench, name: str) -> None:
    kernel, _, options = KERNELS[name]
    control = Control()
    view = measured(random_edges(50, 100, 5))
    launch(bench, kernel, view, control, **options)
    assert control.done == 50
    control.stop()
    with pytest.raises(InterruptedError):
        launch(bench, kernel, view, control, **options)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_a_launch_without_a_task_has_no_partial(bench: Bench, name: str) -> None:
    kernel, _, options = KERNELS[name]
    view = measured([])
    assert bench.do(lambda: kernel.launch(bench.device, view, iter([]), control=Control(), **options)) is None


@pytest.mark.parametrize("bad", [-1, 40, 1 << 30])
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_kernels_report_a_neighbor_outside_of_the_graph(bench: Bench, name: str, bad: int) -> None:
    view = measured(symmetric(40, ((v, (v + 1) % 40) for v in range(40))), lengths=[1.0])
    view["neighbors"][17] = bad
    kernel, _, options = KERNELS[name]
    with pytest.raises(KernelFaultError, match=rf"^analytics\.{name} on .*\(code 1, index 17\)$"):
        launch(bench, kernel, view, **options)
