"""Small batches in place with as little as possible between the call and the device.

Such a batch takes the device some ten microseconds, so all that does not change from one to the next lies ready: where
the batch is staged, and the two launches that plan and write it. Nothing is allocated and nothing of the shard's
structure changes, so this runs on any thread while no other batch does.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from graphlode.cuda.graph.packed_batch import Buffers, window_bytes
from graphlode.cuda.graph.packed_input import Given, take
from graphlode.cuda.graph.packed_state import State
from graphlode.cuda.interface import KernelDevice, KernelModule
from graphlode.packed import LEAF_SLOTS, PAGE_LEAVES, Change

WARPS = 8  # of a block that writes
_NARROW_LEAVES = 8
_THREADS = 32 * WARPS
_ALL_STEPS = np.int32(2)


def write_bytes(*, weighted: bool) -> int:
    """Shared memory of a block that writes: a wide window, or a narrow one per warp."""
    narrow, wide = (window_bytes(leaves, weighted=weighted) for leaves in (_NARROW_LEAVES, PAGE_LEAVES))
    return max(WARPS * narrow, wide)


class Quick:
    """The launches of small batches, for as long as the shard has these buffers."""

    def __init__(self, device: KernelDevice, state: State, kernels: KernelModule, buffers: Buffers) -> None:
        self.buffers = buffers
        self.told = state.workspace.staging(device).told
        self._shared_bytes = write_bytes(weighted=state.pool.weighted)
        self._most_blocks = 6 * device.num_multiprocessors
        on, zero = state.workspace.staging(device).on_device, np.uint32(0)
        source = (on["tails"], on["heads"], on["deletes"], on["weights"])
        batch = buffers.described  # also in the place of what describes the shard, which changes with its pages
        planned = (batch, batch, *source, zero, zero, zero, _ALL_STEPS)
        self._plan_staged = kernels.prepare("packed_plan_small", planned, changing=(0, 6, 7, 8))
        self._plan_given = kernels.prepare("packed_plan_small", planned, changing=(0, 2, 3, 4, 5, 6, 7, 8))
        self._write = kernels.prepare("packed_write", (batch, batch, zero, zero, np.int32(1)), changing=(0, 2, 3))

    def launch(self, store: Any, given: Given, epoch: int) -> None:
        count = given.count
        threads = 128 if count <= 128 else min(1024, 1 << (count - 1).bit_length())
        if given.staged:
            self._plan_staged.launch(1, threads, store, given.how, count, epoch)
        else:
            source = (given.tails, given.heads, given.deletes, given.weights)
            self._plan_given.launch(1, threads, store, *source, given.how, count, epoch)
        blocks = min(-(-count // WARPS), self._most_blocks)
        self._write.launch(blocks, _THREADS, store, count, epoch, shared_bytes=self._shared_bytes)


def attempt_small(
    device: KernelDevice, state: State, kernels: KernelModule, batch: Any, deletes: Any, weights: Any
) -> Change | tuple[Given, list[int], float]:
    """The change; or what was given, what the device says of it and the seconds, if it is planned but not written."""
    buffers = state.workspace.kept
    assert buffers is not None
    begun = perf_counter()
    quick: Quick | None = state.quick
    if quick is None or quick.buffers is not buffers:
        quick = state.quick = Quick(device, state, kernels, buffers)
    given = take(device, state.workspace.staging(device), batch, deletes, weights if state.pool.weighted else None)
    state.begin_plan()
    quick.launch(state.described(), given, state.epoch)
    device.synchronize()
    told: list[int] = quick.told.tolist()
    bad_row, inserted, deleted, changed, leaves, _, narrow, wide, flagged, window_leaves, self_loops, *_ = told
    if bad_row or flagged:
        return given, told, perf_counter() - begun
    state.num_entries += inserted - deleted
    state.end_plan()
    slots = LEAF_SLOTS * (leaves + window_leaves)
    seconds = perf_counter() - begun
    return Change(inserted, deleted, changed, "in place", slots, narrow + wide, seconds, self_loops)
