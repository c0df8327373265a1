"""Batches of the CPU's packed pages on many threads: they write what one thread writes, page for page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.common.control import Control
from graphlode.common.store import Change, Pairs, Path, keys_of
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.store import shard as packed

DEVICE = CpuDevice()
ROWS = 50_000
MANY = 16
SIZE = 300_000  # enough for several threads in every phase


def batches(shape: str) -> list[tuple[Any, Any]]:
    """Keys and deletes of a load and of batches after it, whose parts of threads begin in different places."""
    rng = np.random.default_rng(11)
    made = []
    for number in range(5):
        rows = rng.integers(0, ROWS, SIZE + number)
        neighbors = rng.integers(0, ROWS, SIZE + number)
        if shape == "one row":  # all updates belong to few pages, and threads to none
            rows[:] = ROWS // 2
            neighbors = rng.integers(0, 2**31 - 1, SIZE + number)
        elif shape == "few rows":
            rows = rng.integers(0, 7, SIZE + number) * (ROWS // 7)
        elif shape == "empty rows":  # which are marked, get entries, and lose them
            rows = rng.integers(0, ROWS // 2, SIZE + number) * 2 + number % 2
        keys = keys_of(rows, neighbors)
        deletes = None
        if number == 2:  # half of them exist: parts keep different shares
            keys = np.concatenate([made[0][0][: SIZE // 2], keys[: SIZE // 2]])
            deletes = np.ones(keys.size, bool)
        elif number == 3:
            deletes = rng.random(keys.size) < 0.5
        elif number == 4:  # nearly all exist already
            keys = np.concatenate([made[1][0], keys[:5]])
        made.append((keys, deletes))
    return made


def apply(state: Any, keys: Any, deletes: Any, weights: Any, path: Path, threads: int) -> Change:
    with gl.configure(threads=threads):
        plan = packed.prepare(DEVICE, state, keys, deletes, weights, path=path, control=Control())
        return packed.commit(DEVICE, plan)


@pytest.mark.parametrize("shared", [False, True], ids=["alone", "with versions"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("shape", ["even", "one row", "few rows", "empty rows"])
@pytest.mark.parametrize("path", ["in place", "merge"])
def test_many_threads_write_what_one_writes(path: Path, shape: str, weighted: bool, shared: bool) -> None:
    one, many = (packed.create(DEVICE, num_rows=ROWS, weighted=weighted) for _ in range(2))
    versions = []
    for number, (keys, deletes) in enumerate(batches(shape)):
        weights = np.random.default_rng(number).random(keys.size) if weighted and number != 1 else None
        if shared:
            versions.append([packed.fork(DEVICE, state) for state in (one, many)])
        changes = [apply(state, keys, deletes, weights, path, n) for state, n in ((one, 1), (many, MANY))]
        a, b = ((c.inserted, c.deleted, c.changed, c.slots_written, c.rebalances) for c in changes)
        assert a == b
        packed.check(DEVICE, many)
        assert packed.statistics(DEVICE, one) == packed.statistics(DEVICE, many)
        expected, found = packed.csr(DEVICE, one), packed.csr(DEVICE, many)
        for name in expected:
            np.testing.assert_array_equal(found[name], expected[name])
    for before, after in versions:
        packed.check(DEVICE, after)
        np.testing.assert_array_equal(packed.csr(DEVICE, after)["offsets"], packed.csr(DEVICE, before)["offsets"])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0], ids=["no self-loops", "some", "all"])
@pytest.mark.parametrize("size", [0, 1, 300_001])
def test_values_go_with_the_keys_of_their_pairs(dtype: Any, both: bool, share: float, size: int) -> None:
    rng = np.random.default_rng(5)
    rows = rng.integers(0, 1000, size).astype(dtype)
    neighbors = np.where(rng.random(size) < share, rows, rows ^ 1).astype(dtype)
    kept = rows != neighbors
    for values in (rng.random(size), rng.random(size) < 0.5):
        expected = np.repeat(values[kept], 2 if both else 1)
        for threads in (1, 2, MANY):
            found = _native.packed_pair_values(rows, neighbors, values, both, threads)
            assert found.dtype == values.dtype
            np.testing.assert_array_equal(found, expected)


def test_pairs_with_values_become_entries_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(6)
    rows, neighbors = rng.integers(0, 300, (2, 200_000))  # some are self-loops
    deletes, weights = rng.random(rows.size) < 0.3, rng.random(rows.size)
    states = []
    for threads in (1, MANY):
        states.append(packed.create(DEVICE, num_rows=300, weighted=True))
        apply(states[-1], Pairs(rows, neighbors, rows.size, 300, both=True), deletes, weights, "in place", threads)
    one, many = (packed.csr(DEVICE, state) for state in states)
    kept = {}
    for u, v, gone, weight in zip(rows.tolist(), neighbors.tolist(), deletes.tolist(), weights.tolist(), strict=True):
        if u != v:
            kept[u, v] = kept[v, u] = None if gone else weight
    assert one["weights"].tolist() == [kept[key] for key in sorted(kept) if kept[key] is not None]
    for name in one:
        np.testing.assert_array_equal(many[name], one[name])
