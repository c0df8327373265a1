"""The oriented view built by its kernel: every order, both widths, rows processed by the whole grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphlode.common.control import Control
from graphlode.cuda.graph import oriented
from graphlode.errors import KernelFaultError, UnsupportedError
from graphlode.execute.devices import resolve
from graphlode.graph.views import Oriented
from graphlode.reference.graph import oriented as reference
from kernel_bench import Bench, csr, symmetric

ORDERS = ["degree", "degeneracy", "approximate"]


def random_edges(num_vertices: int, num_edges: int) -> list[tuple[int, int]]:
    """A graph with very different degrees: low numbers are drawn more often."""
    drawn = np.random.default_rng(num_vertices).random((num_edges, 2)) ** 3
    return [(int(u), int(v)) for u, v in (drawn * num_vertices).astype(int).tolist() if u != v]


GRAPHS = {
    "one vertex": symmetric(1, []),
    "no edges": symmetric(40, []),
    "one edge": symmetric(2, [(0, 1)]),
    "a complete graph": symmetric(33, [(u, v) for u in range(33) for v in range(u)]),
    "two stars": symmetric(5000, [*((0, v) for v in range(1, 4000)), *((4999, v) for v in range(1000, 4999))]),
    "uneven": symmetric(1500, random_edges(1500, 12_000)),
    "sparse": symmetric(3000, random_edges(3000, 2000)),
}


def build(bench: Bench, base: dict[str, Any], by: Any, control: Control | None = None) -> dict[str, Any]:
    def work() -> dict[str, Any]:
        there = bench.device.put(base)
        built = oriented.build(bench.device, there, Oriented(by), control=control or Control())
        return {name: bench.device.get(array) for name, array in built.items()}

    found: dict[str, Any] = bench.do(work)
    return found


@pytest.mark.parametrize("by", ORDERS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=["int32", "int64"])
@pytest.mark.parametrize("graph", GRAPHS)
def test_every_order_is_that_of_the_reference(bench: Bench, graph: str, dtype: Any, by: Any) -> None:
    base = csr(GRAPHS[graph], dtype)
    expected = reference.build(resolve("reference")[0], base, Oriented(by), control=Control())  # type: ignore[arg-type]
    found = build(bench, base, by)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


@pytest.mark.parametrize("by", ORDERS)
def test_a_graph_without_vertices(bench: Bench, by: Any) -> None:
    found = build(bench, csr([]), by)
    assert found["offsets"].tolist() == [0] and found["neighbors"].size == found["vertices"].size == 0


@pytest.mark.parametrize("by", ORDERS)
@pytest.mark.parametrize("bad", [-1, 40, 1 << 30])
def test_a_neighbor_outside_of_the_graph_is_a_fault(bench: Bench, bad: int, by: Any) -> None:
    base = csr(symmetric(40, ((v, (v + 1) % 40) for v in range(40))))
    base["neighbors"][33] = bad
    with pytest.raises(KernelFaultError, match=r"\(code 1, index 33\)$"):
        build(bench, base, by)


@pytest.mark.parametrize("by", ["degeneracy", "approximate"])
def test_a_stop_takes_effect(bench: Bench, by: Any) -> None:
    control = Control()
    control.stop()
    with pytest.raises(InterruptedError):
        build(bench, csr(GRAPHS["uneven"]), by, control)


def test_more_vertices_than_sort_keys_hold_are_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oriented, "MAX_NARROW_VERTICES", 39)
    with pytest.raises(UnsupportedError, match="up to 39 vertices, this one has 40"):
        build(bench, csr(GRAPHS["no edges"]), "degree")
