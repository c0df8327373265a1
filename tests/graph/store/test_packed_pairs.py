"""Pairs of positions, as in batches, become entries of the CPU's packed pages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlode.common.control import Control
from graphlode.common.store import Pairs, keys_of
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.store import shard as packed
from graphlode.errors import InputError
from graphlode.reference.store import shard as reference

ROWS = 100
ids = st.integers(0, 5)


def in_order(rows: Any, neighbors: Any, both: bool) -> Any:
    """The expected keys of all pairs."""
    ways = [keys_of(rows, neighbors), keys_of(neighbors, rows)] if both else [keys_of(rows, neighbors)]
    return np.stack(ways, 1)[rows != neighbors].ravel()


@given(pairs=st.lists(st.tuples(ids, ids), max_size=40), both=st.booleans(), threads=st.integers(1, 4))
def test_keys_come_in_the_order_of_their_pairs(pairs: list[tuple[int, int]], both: bool, threads: int) -> None:
    for dtype in (np.int32, np.int64):
        rows, neighbors = np.array(pairs, dtype).reshape(-1, 2).T.copy()
        keys, self_loops = _native.packed_pair_keys(rows, neighbors, ROWS, both, threads)
        np.testing.assert_array_equal(keys, in_order(rows, neighbors, both))
        assert self_loops == np.count_nonzero(rows == neighbors)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0], ids=["no self-loops", "some", "all"])
def test_many_threads_leave_nothing_out_between_their_parts(both: bool, share: float) -> None:
    rng = np.random.default_rng(4)
    rows = rng.integers(0, 2**31 - 1, 1_000_001)
    neighbors = np.where(rng.random(rows.size) < share, rows, rows ^ 1)
    for threads in (1, 2, 5):
        keys, self_loops = _native.packed_pair_keys(rows, neighbors, 2**31 - 1, both, threads)
        np.testing.assert_array_equal(keys, in_order(rows, neighbors, both))
        assert self_loops == np.count_nonzero(rows == neighbors)


@pytest.mark.parametrize("wrong", [ROWS, -1, 2**31 - 1])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("size", [3, 300_000])
def test_positions_out_of_range_are_refused_wherever_they_are(wrong: int, dtype: Any, size: int) -> None:
    right = np.arange(size, dtype=dtype) % ROWS
    for place in (0, size // 2, size - 1):
        ids = right.copy()
        ids[place] = wrong
        for pair in ((ids, right), (right, ids), (ids, ids)):
            with pytest.raises(InputError, match=f"not one of {ROWS}"):
                _native.packed_pair_keys(*pair, ROWS, False, 2)


def test_no_pairs_fit_into_no_rows() -> None:
    keys, self_loops = _native.packed_pair_keys(np.empty(0, np.int64), np.empty(0, np.int64), 0, True, 2)
    assert keys.size == 0 and self_loops == 0


@pytest.mark.parametrize("both", [False, True], ids=["one way", "both ways"])
@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_do_what_their_keys_do(both: bool, weighted: bool) -> None:
    rng, device = np.random.default_rng(5), CpuDevice()
    state = packed.create(device, num_rows=ROWS, weighted=weighted)
    expected = reference.create(None, num_rows=ROWS, weighted=weighted)
    for size in (0, 40, 3000):
        rows, neighbors = rng.integers(0, ROWS, (2, size))
        weights = rng.random(size) if weighted else None
        kept = np.repeat(rows != neighbors, 1 + both)
        for deletes in (None, rng.random(size) < 0.5, True):
            pairs: Any = Pairs(rows, neighbors, size, ROWS, both)
            plan = packed.prepare(device, state, pairs, deletes, weights, path="in place", control=Control())
            change = packed.commit(device, plan)
            gone = np.repeat(np.broadcast_to(np.asarray(False if deletes is None else deletes), size), 1 + both)[kept]
            values = None if weights is None else np.repeat(weights, 1 + both)[kept]
            keys = in_order(rows, neighbors, both)
            wanted = reference.commit(
                None, reference.prepare(None, expected, keys, gone, values, path="in place", control=Control())
            )
            found = (change.inserted, change.deleted, change.changed, change.self_loops)
            assert found == (wanted.inserted, wanted.deleted, wanted.changed, np.count_nonzero(~kept))
            for name, array in reference.csr(None, expected).items():
                np.testing.assert_array_equal(packed.csr(device, state)[name], array)
