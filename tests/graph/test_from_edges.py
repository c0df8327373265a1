"""from_edges: accepted input, rejected input, and the report of dropped edges."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.errors import DeviceMemoryError, InputError

pa = pytest.importorskip("pyarrow")

SRC, DST = [0, 1, 2, 2], [1, 2, 0, 3]
EXPECTED = [[0, 1], [0, 2], [1, 2], [2, 3]]
INTEGERS = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">i8"]


class OnlyDlpack:
    """An array of another library that speaks DLPack and nothing else."""

    def __init__(self, values: list[int]) -> None:
        self._array = np.array(values, np.int64)

    def __dlpack__(self, **arguments: Any) -> Any:
        return self._array.__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


class RefusesNumpy(OnlyDlpack):
    """As arrays in the memory of a GPU do: `__array__` is there and raises."""

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise TypeError("implicit conversion is not allowed")


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_integer_dtype_gives_the_same_graph(dtype: str) -> None:
    graph = gl.from_edges(np.array(SRC, dtype), np.array(DST, dtype))
    assert graph.edges().tolist() == EXPECTED
    assert graph.csr[1].dtype == np.int32


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        pa.array,
        lambda values: pa.chunked_array([values[:1], values[1:]]),
        lambda values: array.array("q", values),
        lambda values: memoryview(array.array("i", values)),
        OnlyDlpack,
        RefusesNumpy,
        lambda values: np.array(values, np.int64)[::-1][::-1],
        lambda values: np.repeat(values, 3)[::3],
    ],
    ids=["list", "tuple", "arrow", "arrow-chunked", "array", "buffer", "dlpack", "dlpack-device", "view", "strided"],
)
def test_arrays_of_many_makers_are_taken(make: Any) -> None:
    assert gl.from_edges(make(SRC), make(DST)).edges().tolist() == EXPECTED


def test_two_dtypes_may_meet() -> None:
    graph = gl.from_edges(np.array([0, 2**40]), np.array([1, 1], np.int8))
    assert graph.edges().tolist() == [[0, 1], [1, 2**40]]


def test_what_was_dropped_is_counted() -> None:
    graph = gl.from_edges([1, 2, 1, 3, 3, 2], [2, 1, 2, 3, 3, 3])
    provenance = graph.provenance
    assert graph.edges().tolist() == [[1, 2], [2, 3]]
    assert (provenance.edges_given, provenance.self_loops_dropped, provenance.duplicates_dropped) == (6, 2, 2)
    directed = gl.from_edges([1, 2, 1, 3, 3, 2], [2, 1, 2, 3, 3, 3], directed=True)
    assert directed.edges().tolist() == [[1, 2], [2, 1], [2, 3]]
    assert (directed.provenance.self_loops_dropped, directed.provenance.duplicates_dropped) == (2, 1)


def test_a_vertex_with_nothing_but_a_self_loop_stays() -> None:
    graph = gl.from_edges([5, 7], [5, 9])
    assert graph.ids.tolist() == [5, 7, 9]
    assert graph.degrees().tolist() == [0, 1, 1]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("num_vertices", [None, 0, 4])
def test_no_edges_is_no_error(num_vertices: int | None, directed: bool) -> None:
    graph = gl.from_edges([], [], num_vertices=num_vertices, directed=directed)
    assert (graph.num_vertices, graph.num_edges) == (num_vertices or 0, 0)
    assert graph.edges().shape == (0, 2)


@pytest.mark.parametrize(
    ("src", "dst", "message"),
    [
        ([0.0, 1.0], [1, 2], "src must hold integers, got float64"),
        ([0, 1], [True, False], "dst must hold integers, got bool"),
        (["a"], ["b"], "src must hold integers"),
        ([[0, 1]], [1], "src must have one dimension"),
        (3, 4, "src must have one dimension"),
        ([0, 1], [1], "same length, got 2 and 1"),
        ([2**63], [0], "src holds 9223372036854775808, but ids are signed 64-bit"),
        ([2**64], [0], "src must hold integers of 64 bits, got object"),
        (["ann"], ["bob"], "number them first, for example with numpy.unique"),
        (np.array(["ann"], object), [0], "number them first"),
        (np.ma.array([1, 2], mask=[False, True]), [2, 3], "src has 1 masked value"),
        ([[0], [1, 2]], [0, 1], "src cannot be read as an array"),
    ],
)
def test_bad_ids_are_named(src: Any, dst: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gl.from_edges(src, dst)


def test_an_arrow_array_with_nulls_is_refused() -> None:
    with pytest.raises(InputError, match="src must hold integers"):
        gl.from_edges(pa.array([0, None]), pa.array([1, 2]))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(("src", "dst", "vertex"), [([0, 4], [1, 2], 4), ([0, 1], [1, -1], -1)])
def test_an_id_outside_num_vertices_names_edge_and_vertex(src: Any, dst: Any, vertex: int, dtype: Any) -> None:
    with pytest.raises(InputError, match=f"edge 1 names vertex {vertex}, but num_vertices is 4"):
        gl.from_edges(np.array(src, dtype), np.array(dst, dtype), num_vertices=4)


@pytest.mark.parametrize("num_vertices", [-1, 2.0, "3"])
def test_num_vertices_is_a_non_negative_integer(num_vertices: Any) -> None:
    with pytest.raises(InputError, match="num_vertices must be a non-negative integer"):
        gl.from_edges([0], [1], num_vertices=num_vertices)


@pytest.mark.parametrize("num_vertices", [2**45, 2**61, 2**62, 2**63, 2**80])
def test_more_vertices_than_memory_holds_are_refused_at_once(num_vertices: int) -> None:
    with pytest.raises(DeviceMemoryError, match="bytes for offsets alone"):
        gl.from_edges([0], [1], num_vertices=num_vertices)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0], r"weights must have one value per edge \(2\), got the shape \(1,\)"),
        ([[1.0, 2.0]], "weights must have one value per edge"),
        ([1.0, float("nan")], "weights must be finite, got nan for edge 1"),
        ([float("inf"), 1.0], "weights must be finite, got inf for edge 0"),
        (["a", "b"], "weights must hold numbers"),
        ([1j, 2j], "weights must hold numbers"),
    ],
)
def test_bad_weights_are_named(values: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gl.from_edges([0, 1], [1, 2], weights=values)


@pytest.mark.parametrize(
    ("values", "wrong"),
    [
        ([1, 2**53 + 1], 2**53 + 1),
        ((2**60 + 2, 2**53 + 1), 2**60 + 2),
        ([0.5, -(2**53) - 1], -(2**53) - 1),  # numpy makes this one a float
        ([2.0**60, np.int64(2**60 + 1)], 2**60 + 1),
        (np.array([0, 2**64 - 1], np.uint64), 2**64 - 1),
        (np.array([-(2**63), 2**63 - 1]), 2**63 - 1),
        (np.array([-(2**63), -(2**63) + 1]), -(2**63) + 1),
        (np.array([7, 8, 2**54 + 1, 9])[::2], 2**54 + 1),
    ],
)
def test_an_integer_that_no_float_holds_is_no_weight(values: Any, wrong: int) -> None:
    assert int(float(wrong)) != wrong
    with pytest.raises(InputError, match=rf"do not hold {wrong} \(edge [01]\) exactly"):
        gl.from_edges([0, 1], [1, 2], weights=values)
    with pytest.raises(InputError, match=rf"do not hold {wrong} \(edge [01]\) exactly"):
        gl.Batch([0, 1], [1, 2], values)


@pytest.mark.parametrize(
    "values",
    [
        [2**53, -(2**53)],
        [2**53 + 2, 2**62 + 2**20],
        [0.5, 2**60],
        [2.0**53 + 2, 1e300],
        [True, False],
        np.array([-(2**63), 2**62]),
        np.array([2**63, 2**64 - 2048], np.uint64),
        np.array([2**31 - 1, 3], np.int32),
    ],
)
def test_integers_that_floats_hold_are_weights(values: Any) -> None:
    graph, batch = gl.from_edges([0, 1], [1, 2], weights=values), gl.Batch([0, 1], [1, 2], values)
    assert graph.weights is not None and batch.weights is not None
    assert [int(x) for x in graph.weights] == [int(x) for x in batch.weights] == [int(x) for x in values]


def test_times_are_integers() -> None:
    with pytest.raises(InputError, match="times must hold integers, got float64"):
        gl.from_edges([0, 1], [1, 2], times=[0.5, 1.5])


def test_the_last_weight_and_time_of_a_repeated_edge_stay() -> None:
    graph = gl.from_edges([3, 1, 2, 1], [1, 2, 1, 3], weights=[1, 2, 3, 4], times=[10, 20, 30, 40])
    assert graph.edges().tolist() == [[1, 2], [1, 3]]
    assert graph.weights is not None and graph.weights.tolist() == [3.0, 4.0]
    assert graph.times is not None and graph.times.tolist() == [30, 40]


def test_each_direction_keeps_its_own_weight_when_directed() -> None:
    graph = gl.from_edges([0, 1, 0], [1, 0, 1], weights=[1, 2, 3], directed=True)
    assert graph.weights is not None and graph.weights.tolist() == [3.0, 2.0]


def test_the_given_arrays_are_left_alone() -> None:
    src, dst = np.array([3, 1, 3], np.int32), np.array([1, 2, 1], np.int32)
    graph = gl.from_edges(src, dst)
    src[:] = dst[:] = 0
    assert graph.edges().tolist() == [[1, 2], [1, 3]]


def test_a_mask_that_hides_nothing_does_no_harm() -> None:
    assert gl.from_edges(np.ma.array([1, 2], mask=False), [2, 3]).num_edges == 2


def test_masked_weights_are_refused() -> None:
    with pytest.raises(InputError, match="weights has 1 masked value"):
        gl.from_edges([0, 1], [1, 2], weights=np.ma.array([1.0, 2.0], mask=[True, False]))


@pytest.mark.parametrize("make", [list, tuple, np.array, lambda pairs: {tuple(pair) for pair in pairs}])
def test_one_array_of_pairs_will_do(make: Any) -> None:
    pairs = [[7, 3], [3, 9], [9, 7]]
    assert gl.from_edges(make(pairs)) == gl.from_edges([7, 3, 9], [3, 9, 7])


def test_the_edges_of_a_graph_make_it_again() -> None:
    graph = gl.dataset("karate")
    assert gl.from_edges(graph.edges()) == graph
    assert gl.from_edges([]).num_vertices == 0


@pytest.mark.parametrize("edges", [[1, 2, 3], [[1, 2, 3]], [[[1, 2]]]])
def test_what_is_not_pairs_is_refused(edges: Any) -> None:
    with pytest.raises(InputError, match="two columns"):
        gl.from_edges(edges)


@pytest.mark.parametrize("shape", ["uniform", "one id", "two ends", "one among many", "geometric", "falling"])
def test_scattered_ids_of_any_distribution_are_ranked(shape: str) -> None:
    rng, size = np.random.default_rng(6), 60_000
    lowest, highest = -(2**63), 2**63 - 1
    ids = {
        "uniform": rng.integers(lowest, highest, size),
        "one id": np.concatenate([np.full(size - 1, -5), [2**62]]),
        "two ends": np.where(rng.random(size) < 0.5, lowest, highest - 1000) + rng.integers(0, 1000, size),
        "one among many": np.where(rng.random(size) < 0.9, 2**60, rng.integers(lowest, highest, size)),
        "geometric": (-1) ** rng.integers(0, 2, size) * 2 ** rng.integers(0, 62, size) + rng.integers(0, 9, size),
        "falling": np.arange(size)[::-1] * 2**44 - 2**61,
    }[shape]
    src, dst = ids.reshape(2, -1)
    graph = gl.from_edges(src, dst, directed=True)
    assert np.array_equal(graph.ids, np.unique(ids))
    wanted = {(u, v) for u, v in zip(src.tolist(), dst.tolist(), strict=True) if u != v}
    assert {tuple(edge) for edge in graph.edges().tolist()} == wanted
