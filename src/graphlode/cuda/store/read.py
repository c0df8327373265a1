"""Reading a shard on a GPU, or an immutable version of it: rows, entries, sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.common.buckets import bucket_of
from graphlode.common.store import LEAF_SLOTS, LEVELS, PAGE_LEAVES, PAGE_SLOTS, rows_of
from graphlode.cuda.interface import KernelDevice, launch_shape, on_stream
from graphlode.cuda.store.launches import PAGES
from graphlode.cuda.store.leaves import leaf_counts
from graphlode.cuda.store.pool import NO_KEY
from graphlode.cuda.store.state import State
from graphlode.cuda.store.version import Description, Version
from graphlode.types import AnyArray, BoolArray, FloatArray, Int64Array

_MOST_LEAVES, _FEWEST_LEAVES = 1 << 16, 1 << 8  # whose entries are copied at once: up to 16 MB of keys


def csr(device: KernelDevice, state: Version) -> dict[str, Any]:
    """Rows without gaps, as arrays of the device; rows of other shards are empty."""
    held = state.description(device)
    begins, offsets = _offsets(device, state, held)
    weighted = state.pool.weighted
    neighbors = device.empty(state.num_entries, np.int32)
    weights = device.empty(state.num_entries if weighted else 0, np.float64)
    grid, block = launch_shape(device, state.pages.size * PAGE_SLOTS)
    device.load(PAGES).launch("packed_gather", grid, block, (held.struct, begins, neighbors, weights))
    device.synchronize()
    arrays = {"offsets": offsets, "neighbors": neighbors}
    return arrays | {"weights": weights} if weighted else arrays


def degrees(device: KernelDevice, state: Version) -> Int64Array:
    _, offsets = _offsets(device, state, state.description(device))
    found: Int64Array = device.get(device.xp.diff(offsets))
    return found


@on_stream
def contains(device: KernelDevice, state: Version, keys: AnyArray) -> BoolArray:
    found, held = device.zeros(keys.size, np.uint8), state.description(device)
    if keys.size:
        grid, block = launch_shape(device, keys.size)
        arguments = (held.struct, device.asarray(keys), np.int64(keys.size), found)
        device.load(PAGES).launch("packed_contains", grid, block, arguments)
    there: BoolArray = device.get(found).astype(bool)
    return there


@on_stream
def row(device: KernelDevice, state: Version, row: int) -> tuple[AnyArray, FloatArray | None]:
    """The neighbors of a row, ascending, and their weights."""
    leaves = device.get(state.row_leaves[row : row + 2])
    pages = device.asarray((leaves // PAGE_LEAVES).astype(np.int64))
    positions = device.get(state.directory.positions[pages]).astype(np.int64)
    first, last = (positions * PAGE_LEAVES + leaves % PAGE_LEAVES).tolist()
    keys, weights = slots(device, state, first, last - first + 1)
    here = (keys >= np.uint64(row << 32)) & (keys < np.uint64((row + 1) << 32))
    found = device.get(keys[here])
    neighbors = (found & np.uint64(0xFFFFFFFF)).astype(np.int32)
    return neighbors, device.get(weights[here]) if state.pool.weighted else None


def rows_in(device: KernelDevice, state: Version, buckets: BoolArray) -> tuple[AnyArray, FloatArray | None]:
    """The entries whose row falls into a chosen bucket of the share table.

    They are copied in parts, in smaller ones if memory is short: rows often move because the device is full.
    """
    chosen, leaves = device.asarray(buckets), state.pages.size * PAGE_LEAVES
    found_keys, found_weights = [], []
    first, at_a_time = 0, _MOST_LEAVES
    while first < leaves:
        try:
            keys, weights = slots(device, state, first, min(at_a_time, leaves - first))
            here = (keys != NO_KEY) & chosen[bucket_of(rows_of(keys))]
            keys, weights = keys[here], weights[here] if state.pool.weighted else None
        except MemoryError:
            if at_a_time == _FEWEST_LEAVES:
                raise
            at_a_time //= 4
            continue
        found_keys.append(device.get(keys))
        if weights is not None:
            found_weights.append(device.get(weights))
        first += at_a_time
    return np.concatenate(found_keys), np.concatenate(found_weights) if found_weights else None


def num_entries(state: Version) -> int:
    return state.num_entries


def nbytes(device: KernelDevice, state: Version) -> int:
    """Bytes on the device. A shard counts its whole pool, after it has given back unused memory. A version counts the
    pages that it holds, even if others hold them, too."""
    if not isinstance(state, State):
        return int(state.directory.nbytes + state.row_leaves.nbytes + state.pages.size * state.pool.page_bytes)
    if not state.planning:
        state.tidy()
    return int(state.directory.nbytes + state.row_leaves.nbytes + state.pool.nbytes + state.workspace.nbytes)


def statistics(device: KernelDevice, state: Version) -> dict[str, Any]:
    """Sizes, the density of the fullest window of every level, and the number of pages that other versions hold too."""
    if isinstance(state, State):
        state.pool.collect()
    capacity = state.pages.size * PAGE_SLOTS
    counts = device.get(leaf_counts(device, state.described(device), state.pages.size)).astype(np.int64)
    fullest = []
    for level in range(LEVELS):
        windows = counts.reshape(-1, 1 << level).sum(axis=1)
        fullest.append(int(windows.max()) / (LEAF_SLOTS << level))
    return {
        "entries": state.num_entries,
        "capacity": capacity,
        "pages": int(state.pages.size),
        "density": state.num_entries / capacity,
        "density_by_level": fullest,
        "shared_pages": int((state.pool.references[state.pages] > 1).sum()),
    }


def slots(device: KernelDevice, state: Version, first: int, leaves: int) -> tuple[Any, Any]:
    """The slots of `leaves` leaves from the leaf `first` on, in key order. Gaps hold NO_KEY. Without weights in the
    shard their array is empty."""
    keys = device.empty(leaves * LEAF_SLOTS, np.uint64)
    weights = device.empty(keys.size if state.pool.weighted else 0, np.float64)
    grid, block = launch_shape(device, keys.size)
    held = state.description(device)
    arguments = (held.struct, np.int64(first), np.int64(leaves), keys, weights)
    device.load(PAGES).launch("packed_slots", grid, block, arguments)
    device.synchronize()
    return keys, weights


def _offsets(device: KernelDevice, state: Version, held: Description) -> tuple[Any, Any]:
    """The number of entries before each leaf, in key order, and before each row."""
    begins = device.zeros(state.pages.size * PAGE_LEAVES + 1, np.int64)
    counts = leaf_counts(device, held.struct, state.pages.size)
    device.xp.cumsum(counts.ravel(), dtype=np.int64, out=begins[1:])
    offsets = device.empty(state.num_rows + 1, np.int64)
    grid, block = launch_shape(device, state.num_rows + 1)
    device.load(PAGES).launch("packed_offsets", grid, block, (held.struct, begins, offsets))
    device.synchronize()
    return begins, offsets
