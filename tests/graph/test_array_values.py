"""Every value of an array arrives as it is, whatever the dtype and the byte order, or is an InputError; none wraps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphlode as gl
from graphlode.errors import InputError

LEAST, MOST = -(2**63), 2**63 - 1
INTEGERS = [f"{order}{kind}{size}" for order in "<>" for kind in "iu" for size in (1, 2, 4, 8)]
FLOATS = [*(f"{order}f{size}" for order in "<>" for size in (2, 4, 8)), "g", "longdouble"]


@st.composite
def arrays(draw: st.DrawFn, types: list[str] = INTEGERS, least: int = 1, most: int = 6) -> NDArray[Any]:
    dtype = np.dtype(draw(st.sampled_from(types)))
    limits = np.iinfo(dtype)
    edges = [limits.min, limits.max, 0, 2**53, 2**53 + 1, MOST, LEAST, MOST + 1, MOST + 5]
    inside = st.sampled_from([value for value in edges if limits.min <= value <= limits.max])
    value = st.one_of(inside, st.integers(limits.min, limits.max))
    values = draw(st.lists(value, min_size=least, max_size=most))
    array = np.array(values, dtype)
    gaps = np.zeros(array.size * 2, dtype)
    gaps[::2] = array
    return gaps[::2] if draw(st.booleans()) else array


def plain(array: NDArray[Any]) -> list[int]:
    return [int(value) for value in array]


@given(array=arrays())
def test_ids_are_those_of_python_integers(array: NDArray[Any]) -> None:
    src, dst = array, np.zeros(array.size, np.int8)
    wanted = sorted({0, *plain(array)})
    store = gl.DynamicGraph(devices="cpu")
    if wanted[-1] > MOST:
        for call in (gl.from_edges, gl.Batch, store.insert, store.delete):
            with pytest.raises(InputError, match=f"src holds {wanted[-1]}"):
                call(src, dst)
        return
    loops = set(plain(array)) == {0}
    assert gl.from_edges(src, dst).ids.tolist() == wanted
    assert gl.Batch(src, dst).given.src.tolist() == plain(array)
    store.insert(src, dst)
    assert sorted(store.ids.tolist()) == wanted and store.num_edges == (0 if loops else len(wanted) - 1)


@given(array=arrays())
def test_times_are_those_of_python_integers(array: NDArray[Any]) -> None:
    ends = np.arange(array.size), np.arange(array.size) + 1
    if max(plain(array)) > MOST:
        with pytest.raises(InputError, match=f"times holds {max(plain(array))}"):
            gl.from_edges(*ends, times=array)
        return
    times = gl.from_edges(*ends, times=array).times
    assert times is not None and times.tolist() == plain(array)


@given(array=arrays())
def test_integer_weights_are_exact_or_refused(array: NDArray[Any]) -> None:
    ends = np.arange(array.size), np.arange(array.size) + 1
    for make in (gl.from_edges, gl.Batch):
        if any(int(float(value)) != value for value in plain(array)):
            with pytest.raises(InputError, match="weights"):
                make(*ends, weights=array)
        else:
            weights = make(*ends, weights=array).weights
            assert weights is not None and weights.tolist() == plain(array)


@given(data=st.data(), kind=st.sampled_from(FLOATS))
def test_real_weights_are_rounded_but_never_infinite(data: st.DataObject, kind: str) -> None:
    dtype = np.dtype(kind)
    exact = st.floats(width=min(64, dtype.itemsize * 8), allow_infinity=False, allow_nan=False)  # type: ignore[arg-type]
    given_ = np.array(data.draw(st.lists(exact, min_size=1, max_size=5)), dtype)
    ends = np.arange(given_.size), np.arange(given_.size) + 1
    for make in (gl.from_edges, gl.Batch):
        weights = make(*ends, weights=given_).weights
        assert weights is not None and weights.tolist() == [float(value) for value in given_]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", ["1e4000", "-1e4000", "inf", "nan"])
@pytest.mark.parametrize("make", [gl.from_edges, gl.Batch])
def test_a_long_double_beyond_the_floats_is_refused(make: Any, value: str) -> None:
    if math.isfinite(float(np.finfo(np.longdouble).max)):
        pytest.skip("long double is double here")
    with pytest.raises(InputError, match="weights must be finite"):
        make([1], [2], weights=np.array([np.longdouble(value)]))
    with pytest.raises(InputError, match="weights must be finite"):
        gl.shortest_paths(gl.path(2), 0, weights=np.array([np.longdouble(value)]))


@given(offsets=st.sampled_from(INTEGERS), neighbors=st.sampled_from(INTEGERS))
def test_rows_are_those_of_python_integers(offsets: str, neighbors: str) -> None:
    graph = gl.from_csr(
        np.array([0, 2, 3, 4], offsets), np.array([1, 2, 0, 0], neighbors), ids=np.array([3, 4, 9], neighbors)
    )
    assert graph.edges().tolist() == [[3, 4], [3, 9]]
    for dtype in ("<u8", ">u8"):
        beyond = np.array([1, 2, 0, MOST + 1], dtype)
        with pytest.raises(InputError, match=f"neighbors holds {MOST + 1}"):
            gl.from_csr([0, 2, 3, 4], beyond)
        with pytest.raises(InputError, match=f"offsets holds {MOST + 1}"):
            gl.from_csr(beyond, [1, 2, 0, 0])
        with pytest.raises(InputError, match=f"vertex {MOST + 1} is not in the graph"):
            graph.positions(np.array([MOST + 1], dtype))


@pytest.mark.parametrize("dtype", ["<u8", ">u8"])
def test_times_of_an_archive_do_not_wrap(tmp_path: Any, dtype: str) -> None:
    values: dict[str, Any] = {"format": np.array(b"coo"), "shape": np.array([3, 3]), "row": np.array([0])}
    np.savez(tmp_path / "a.npz", **values, col=np.array([1]), data=np.array([MOST + 8], dtype))
    with pytest.raises(InputError, match="64-bit integers"):
        gl.read_edges(tmp_path / "a.npz", values="times")
