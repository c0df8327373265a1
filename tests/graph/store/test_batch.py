"""Batches: the input they accept, and the errors for other input."""

from __future__ import annotations

import pickle
import sys
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.errors import InputError


def test_self_loops_are_dropped_and_counted() -> None:
    batch = gl.Batch([1, 2, 3, 4], [1, 3, 3, 4], weights=[5, 6, 7, 8], delete=[False, True, False, True])
    assert (batch.src.tolist(), batch.dst.tolist()) == ([2], [3])
    assert batch.weights is not None and batch.weights.tolist() == [6]
    assert batch.delete is not None and batch.delete.tolist() == [True]
    assert batch.self_loops == 3 and len(batch) == 1


@pytest.mark.parametrize(
    "edges",
    [
        ([1, 2], [3, 4]),
        ((1, 2), (3, 4)),
        (np.array([1, 2], np.uint8), np.array([3, 4], np.int64)),
        ([(1, 3), (2, 4)],),
        (np.array([[1, 3], [2, 4]]),),
    ],
)
def test_edges_come_in_many_forms(edges: Any) -> None:
    batch = gl.Batch(*edges)
    assert batch.src.tolist() == [1, 2] and batch.dst.tolist() == [3, 4]
    assert batch.weights is None and batch.delete is None


def test_arrow_columns_are_taken() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    batch = gl.Batch(pyarrow.array([1, 2]), pyarrow.array([3, 4]), weights=pyarrow.array([0.5, 2.0]))
    assert batch.src.tolist() == [1, 2] and batch.weights is not None and batch.weights.tolist() == [0.5, 2.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [3]), "same length, got 2 and 1"),
        (([1.5], [2]), "src must hold integers"),
        ((["a"], ["b"]), "number them first"),
        (([1], [2], [float("nan")]), "weights must be finite, got nan for edge 0"),
        (([1], [2], [float("inf")]), "weights must be finite"),
        (([1], [2], [1, 2]), r"one value per edge \(1\)"),
        (([1], [2], None, [True, False]), r"delete must have one boolean per edge \(1\)"),
        (([1], [2], None, [1]), "delete must have one boolean per edge"),
        (([[1]], [[2]]), "src must have one dimension"),
        (([2**63], [1]), "src holds 9223372036854775808|integers of 64 bits"),
    ],
)
def test_what_cannot_be_a_batch_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gl.Batch(*arguments)


@pytest.mark.parametrize("make", [gl.Batch, lambda src, *rest: gl.Batch._on_device(np.array(src), *rest)])
def test_only_weights_of_inserted_edges_are_looked_at(make: Any) -> None:
    batch = make([1, 5], np.array([2, 6]), [float("nan"), 1.0], [True, False])
    assert batch.given.weights.tolist()[1] == 1.0 and len(pickle.loads(pickle.dumps(batch))) == 2
    weights = np.array([np.inf, np.nan])
    assert np.shares_memory(make([1, 5], np.array([2, 6]), weights, True).given.weights, weights)
    make([1, 5], np.array([2, 6]), [2**53 + 1, 1], [True, False])
    with pytest.raises(InputError, match="weights must be finite, got nan for edge 1"):
        make([1, 5], np.array([2, 6]), [float("nan")] * 2, [True, False])
    with pytest.raises(InputError, match=r"do not hold 9007199254740993 \(edge 1\)"):
        make([1, 5], np.array([2, 6]), [2**53 + 1] * 2, [True, False])
    for wrong in (["a", "b"], [1.0], [[1.0, 2.0]]):  # their number and type are
        with pytest.raises(InputError, match="weights must"):
            make([1, 5], np.array([2, 6]), wrong, [True, True])


def test_a_batch_does_not_change() -> None:
    batch = gl.Batch([1], [2])
    with pytest.raises(AttributeError):
        batch.src = np.array([3])
    with pytest.raises(ValueError, match="read-only"):
        batch.src[0] = 3


def test_a_batch_says_what_it_holds_and_travels() -> None:
    batch = gl.Batch([1, 2, 5], [2, 3, 5], delete=[False, True, False])
    assert repr(batch) == "<graphlode.Batch: 1 insertions, 1 deletions>"
    twin = pickle.loads(pickle.dumps(batch))
    assert twin.src.tolist() == [1, 2] and twin.delete.tolist() == [False, True] and twin.self_loops == 1


@pytest.mark.parametrize("delete", [None, True, [True, False, True, False]], ids=["none", "all", "some"])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_batch_that_travels_keeps_the_type_of_its_ids(dtype: Any, delete: Any) -> None:
    src, dst = np.array([1, 2, 5, 6], dtype), np.array([2, 3, 5, 7], dtype)
    for size in (2, 4):  # without and with a self-loop
        batch = gl.Batch(src[:size], dst[:size], delete=delete[:size] if isinstance(delete, list) else delete)
        twin = pickle.loads(pickle.dumps(batch))
        assert twin.src.dtype == batch.src.dtype == dtype
        np.testing.assert_array_equal(twin.delete, batch.delete)
        assert twin.src.tolist() == batch.src.tolist() and twin.self_loops == batch.self_loops


def test_which_edges_are_deleted_is_said_for_each_and_does_not_change() -> None:
    for batch in (gl.Batch([1, 2, 3], [2, 2, 4], delete=True), gl.Batch([1, 3], [2, 4], delete=[True, True])):
        assert batch.delete is not None and batch.delete.tolist() == [True, True] and batch.delete is batch.delete
        with pytest.raises(ValueError, match="read-only"):
            batch.delete[0] = False
    assert gl.Batch([1], [2], delete=False).delete is None


def test_a_result_is_a_value() -> None:
    given = {"cpu": "merge"}
    result = gl.BatchResult(3, inserted=2, paths=given, seconds=0.5)
    assert result == gl.BatchResult(3, 2, 0, 0, 0, 0, {"cpu": "merge"}, 0.5) != gl.BatchResult(3)
    assert result == pickle.loads(pickle.dumps(result)) and replace(result, inserted=0).inserted == 0
    given.clear()
    assert dict(result.paths) == {"cpu": "merge"} and dict(gl.BatchResult(1).paths) == {}
    with pytest.raises(AttributeError):
        result.inserted = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        result.paths["cpu"] = "climb"  # type: ignore[index]


def test_an_empty_batch_is_one() -> None:
    assert len(gl.Batch([], [])) == 0 and len(gl.Batch([], [], delete=[])) == 0


class OnDevice:
    """An array on a CUDA device: only its description."""

    def __init__(self, array: Any, *, step: int = 1, **streams: int | None) -> None:
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (0, False),
            "strides": None if step == 1 else (step * array.itemsize,),
            "version": 3,
            **streams,
        }


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_ids_on_a_device_stay_there(dtype: Any) -> None:
    src, dst = (OnDevice(np.arange(5, dtype=dtype)) for _ in range(2))
    batch = gl.Batch(src, dst, delete=True)
    assert batch.resident and len(batch) == 5
    assert (
        (batch.src, batch.dst) == (src, dst)
        and batch.given.gone is True
        and batch.delete is not None
        and batch.delete.all()
    )
    with pytest.raises(InputError, match="same length"):
        gl.Batch(src, OnDevice(np.arange(4, dtype=dtype)))
    with pytest.raises(InputError, match="one boolean per edge"):
        gl.Batch(src, dst, delete=[True])


def test_the_stream_that_may_still_write_ids_is_known() -> None:
    ids = np.arange(5)
    assert gl.Batch(OnDevice(ids, stream=7), OnDevice(ids, stream=7)).stream == 7
    assert gl.Batch(OnDevice(ids, stream=None), OnDevice(ids, stream=None)).stream is None
    assert gl.Batch(OnDevice(ids), OnDevice(ids)).stream == 1  # without a stream, the default stream is meant
    with pytest.raises(InputError, match="src"):  # two streams: read on the host, to which this one cannot be copied
        gl.Batch(OnDevice(ids, stream=7), OnDevice(ids))


@pytest.mark.parametrize(
    "src",
    [OnDevice(np.arange(3, dtype=np.uint32)), OnDevice(np.zeros((3, 1), np.int32)), OnDevice(np.arange(3), step=2)],
)
def test_other_arrays_on_a_device_are_read_on_the_host(src: Any) -> None:
    with pytest.raises(InputError, match="src"):  # this one cannot be copied to it
        gl.Batch(src, src)


def test_a_batch_on_a_device_is_copied_to_the_host_where_it_must_be() -> None:
    batch = gl.Batch._on_device(np.array([1, 2, 3]), np.array([2, 2, 4]), delete=[True, False, False])
    assert batch.resident and len(batch) == 3 and batch.self_loops == 0
    there = batch.on_host()
    assert not there.resident and len(there) == 2 and there.self_loops == 1
    again = pickle.loads(pickle.dumps(batch))
    assert again.src.tolist() == [1, 3, 2] or (again.src.tolist() == [1, 3] and again.self_loops == 1)
    assert there.on_host() is there


def test_a_batch_waits_for_the_stream_that_may_still_write_it_before_it_is_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not for the stream that is current when it is applied."""
    waited: list[int] = []
    runtime = SimpleNamespace(
        streamSynchronize=waited.append, pointerGetAttributes=lambda address: SimpleNamespace(device=0)
    )
    cuda = SimpleNamespace(runtime=runtime, Device=lambda number: nullcontext())
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))  # type: ignore[arg-type]

    class Copied(OnDevice):
        def __init__(self, array: Any) -> None:
            super().__init__(array, stream=7, data=(4096, False))
            self._array = array

        def __array__(self, *_: Any, **__: Any) -> Any:
            assert waited
            return self._array

    src, dst = np.array([1, 2, 3]), np.array([2, 3, 4])
    store = gl.DynamicGraph(directed=True, num_vertices=5, devices="cpu")
    assert store.apply(gl.Batch(Copied(src), Copied(dst))).inserted == 3
    assert waited == [7, 7] and store.has_edge(3, 4)


@pytest.mark.gpu
@pytest.mark.parametrize("devices", ["cpu", ["cpu", "cuda:0"], "cuda:0"])
def test_ids_that_are_still_being_written_are_read_afterwards(devices: Any) -> None:
    cupy, size = pytest.importorskip("cupy"), 5000
    stream, much = cupy.cuda.Stream(non_blocking=True), cupy.zeros(1 << 27)
    store = gl.DynamicGraph(directed=True, num_vertices=size, devices=devices)
    for _ in range(2):  # the first call loads kernels, and the ids are written meanwhile
        cupy.cuda.Device().synchronize()
        with stream:
            ids = cupy.zeros(size, np.int32)
            for _ in range(40):  # about ten milliseconds
                much += 1
            ids += cupy.arange(size, dtype=np.int32)
            batch = gl.Batch(ids[:-1], ids[1:])
        result = store.apply(batch)
        assert (result.inserted, result.self_loops) == (size - 1, 0)
        assert store.neighbors(size - 2).tolist() == [size - 1]
        assert store.delete(np.arange(size - 1), np.arange(1, size)).deleted == size - 1
