"""Checks every invariant of a shard on a GPU, on the host: for tests."""

from __future__ import annotations

import numpy as np

from graphlode.common.store import LEAF_SLOTS, PAGE_LEAVES, lower_bound
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.store.groups import LEAST_ENTRIES, MOST_ENTRIES
from graphlode.cuda.store.leaves import leaf_counts, leaf_separators
from graphlode.cuda.store.pool import NO_KEY
from graphlode.cuda.store.read import slots
from graphlode.cuda.store.state import State
from graphlode.cuda.store.version import Version
from graphlode.types import AnyArray

_LEAST_IN_LEAF = int(lower_bound(0) * LEAF_SLOTS)


def check(device: KernelDevice, state: Version) -> None:
    """Raise AssertionError that names the broken invariant."""
    if isinstance(state, State):
        state.pool.collect()
    counts = device.get(leaf_counts(device, state.described(device), state.pages.size)).astype(np.int64)
    _check_entries(device, state, counts)
    _check_bounds(counts)
    separators = _check_separators(device, state, counts)
    _check_rows(device, state, separators)
    _check_pool(device, state, counts)


def _check_entries(device: KernelDevice, state: Version, counts: AnyArray) -> None:
    assert (counts <= LEAF_SLOTS).all(), "a leaf has more entries than slots"
    assert int(counts.sum()) == state.num_entries, "the number of entries is not that of the leaves"
    found, _ = slots(device, state, 0, counts.size)
    keys = device.get(found)
    keys = keys[keys != NO_KEY]
    assert keys.size == state.num_entries, "a leaf is not left packed"
    assert (keys[1:] > keys[:-1]).all(), "keys do not ascend"
    assert not keys.size or int(keys[-1]) >> 32 < state.num_rows, "a row is outside of the shard"


def _check_bounds(counts: AnyArray) -> None:
    totals = counts.sum(axis=1)
    assert (totals <= MOST_ENTRIES).all(), "a page is too full"
    if totals.size > 1:
        assert (totals >= LEAST_ENTRIES).all(), "a page is too empty"
        assert (counts >= _LEAST_IN_LEAF).all(), "a leaf is too empty"


def _check_separators(device: KernelDevice, state: Version, counts: AnyArray) -> AnyArray:
    """The separators of all leaves in key order."""
    of_pages = device.get(leaf_separators(device, state.described(device), state.pages.size))
    separators: AnyArray = of_pages.ravel()
    assert separators[0] == 0, "the first separator is not 0"
    assert (separators[1:] >= separators[:-1]).all(), "separators do not ascend"
    np.testing.assert_array_equal(device.get(state.directory.separators), of_pages[:, 0], "separators of the directory")
    found, _ = slots(device, state, 0, counts.size)
    keys = device.get(found).reshape(-1, LEAF_SLOTS)
    taken = counts.ravel() > 0
    assert (keys[taken, 0] >= separators[taken]).all(), "a key is below its leaf's separator"
    highest = np.where(keys == NO_KEY, np.uint64(0), keys).max(axis=1)
    assert (highest[:-1][taken[:-1]] < separators[1:][taken[:-1]]).all(), "a key is not below the next separator"
    return separators


def _check_rows(device: KernelDevice, state: Version, separators: AnyArray) -> None:
    starts = np.arange(state.num_rows + 1, dtype=np.uint64) << np.uint64(32)
    places = np.searchsorted(separators, starts, side="right") - 1
    expected = state.pages.astype(np.int64)[places // PAGE_LEAVES] * PAGE_LEAVES + places % PAGE_LEAVES
    found = device.get(state.row_leaves[: state.num_rows + 1])
    np.testing.assert_array_equal(found, expected, "leaves of the rows")


def _check_pool(device: KernelDevice, state: Version, counts: AnyArray) -> None:
    pool, pages = state.pool, state.pages
    assert np.unique(pages).size == pages.size, "a page is in the directory twice"
    assert (pool.references[pages] >= 1).all(), "a page of the directory is not held"
    np.testing.assert_array_equal(device.get(state.directory.device_pages), pages, "the directory on the device")
    positions = device.get(state.directory.positions)[pages]
    np.testing.assert_array_equal(positions, np.arange(pages.size), "positions of pages")
    assert np.array_equal(np.sort(pool.free), np.flatnonzero((pool.references == 0) & pool.backed)), "free pages"
    if isinstance(state, State):
        held = device.get(pool.arrays["held"])[pages]
        np.testing.assert_array_equal(held, pool.references[pages] > 1, "flags of pages that other versions hold")
    if isinstance(state, State) and not state.planning:
        planned = device.get(leaf_counts(device, state.described(device), pages.size, planned=True))
        np.testing.assert_array_equal(planned, counts, "counts after the batch")
        np.testing.assert_array_equal(device.get(pool.arrays["totals"])[pages], counts.sum(axis=1), "totals of pages")
