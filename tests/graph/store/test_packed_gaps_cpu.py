"""Deletes leave gaps. Pages of the CPU stay dense nevertheless, and only the number of bytes shows it."""

from __future__ import annotations

import numpy as np
import pytest

from graphlode.common.control import Control
from graphlode.common.store import PAGE_SLOTS, Path, keys_of
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.store import shard as packed
from graphlode.types import AnyArray

DEVICE = CpuDevice()
ROWS = 2000
SPARSE = 0.75  # of store/condense.cpp


def loaded(size: int, weighted: bool) -> tuple[packed.State, AnyArray]:
    """A shard and its keys, ascending; the weight of an entry is its neighbor."""
    rng = np.random.default_rng(3)
    keys = np.unique(keys_of(rng.integers(0, ROWS, size), rng.integers(0, 10**6, size)))
    state = packed.create(DEVICE, num_rows=ROWS, weighted=weighted)
    weights = (keys & np.uint64(2**32 - 1)).astype(float) if weighted else None
    commit(state, keys, None, weights, "merge")
    return state, keys


def commit(
    state: packed.State, keys: AnyArray, deletes: AnyArray | None, weights: AnyArray | None, path: Path = "in place"
) -> None:
    packed.commit(DEVICE, packed.prepare(DEVICE, state, keys, deletes, weights, path=path, control=Control()))


def delete(state: packed.State, keys: AnyArray, path: Path = "in place") -> None:
    commit(state, keys, np.ones(keys.size, bool), None, path)


def density(state: packed.State) -> float:
    return float(packed.statistics(DEVICE, state)["density"])


def check_entries(state: packed.State, keys: AnyArray) -> None:
    packed.check(DEVICE, state)
    rows = packed.csr(DEVICE, state)
    assert np.array_equal(rows["neighbors"], (keys & np.uint64(2**32 - 1)).astype(np.int32))
    assert np.array_equal(np.diff(rows["offsets"]), np.bincount((keys >> np.uint64(32)).astype(int), minlength=ROWS))
    if "weights" in rows:
        assert np.array_equal(rows["weights"], rows["neighbors"])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("batch", [700, 20_000])
def test_pages_stay_dense_while_most_edges_are_deleted(batch: int, weighted: bool) -> None:
    state, keys = loaded(300_000, weighted)
    order = np.random.default_rng(4).permutation(keys.size)
    for begin in range(0, keys.size * 4 // 5, batch):
        delete(state, keys[order[begin : begin + batch]])
        most_pages = packed.num_entries(state) / (SPARSE * PAGE_SLOTS) + 3  # runs of sixteen become one less, not two
        assert packed.statistics(DEVICE, state)["pages"] <= most_pages
    check_entries(state, np.sort(keys[order[begin + batch :]]))


def test_the_published_method_leaves_gaps() -> None:
    """It stays as published, for comparison."""
    state, keys = loaded(200_000, False)
    delete(state, np.random.default_rng(4).permutation(keys)[: keys.size // 4], "climb")
    assert density(state) < 0.62


def test_what_is_written_is_in_proportion_to_what_is_deleted() -> None:
    """Also if a large batch has left many gaps, which no other path closes."""
    state, keys = loaded(300_000, False)
    order = np.random.default_rng(5).permutation(keys)
    delete(state, order[: keys.size // 3], "climb")
    gone = keys.size // 3
    pages = packed.statistics(DEVICE, state)["pages"]
    written, batches = 0, 40
    for _ in range(batches):
        plan = packed.prepare(
            DEVICE, state, order[gone : gone + 100], np.ones(100, bool), None, path="in place", control=Control()
        )
        written += packed.commit(DEVICE, plan).slots_written
        gone += 100
    assert packed.statistics(DEVICE, state)["pages"] < pages  # some gaps were closed,
    leaves = 32 * 100 * batches
    assert written <= leaves + 24 * 100 * batches + 16 * PAGE_SLOTS  # but not all at once
    check_entries(state, np.sort(order[gone:]))


def test_versions_keep_what_they_had() -> None:
    state, keys = loaded(100_000, True)
    order = np.random.default_rng(6).permutation(keys)
    versions = []
    for begin in range(0, 60_000, 6000):
        versions.append((packed.fork(DEVICE, state), np.sort(order[begin:])))
        delete(state, order[begin : begin + 6000])
    for version, had in versions:
        check_entries(version, had)
    check_entries(state, np.sort(order[60_000:]))


def test_a_plan_that_is_not_committed_changes_nothing() -> None:
    state, keys = loaded(100_000, False)
    order = np.random.default_rng(7).permutation(keys)
    delete(state, order[:20_000], "climb")
    for _ in range(3):
        packed.prepare(
            DEVICE, state, order[20_000:40_000], np.ones(20_000, bool), None, path="in place", control=Control()
        )
        check_entries(state, np.sort(order[20_000:]))
