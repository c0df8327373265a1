"""A shard on a GPU: drives graph/packed.cu.

A batch is planned by `prepare`, which ends with one look at the device and everything allocated, and written by
`commit`: two launches for a small batch that leaves all pages in place, and three more when pages are split, merged or
copied because an immutable version holds them (packed_pages.py). Reading is in packed_read.py, checking in
packed_check.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph.packed_batch import (
    EFFECT_TILE,
    INFO,
    MOST_SMALL,
    Buffers,
    Updates,
    arrange,
    read_info,
    window_bytes,
)
from graphlode.cuda.graph.packed_check import check
from graphlode.cuda.graph.packed_pages import PagePlan, plan_merge, plan_pages, write_pages
from graphlode.cuda.graph.packed_read import (
    contains,
    csr,
    degrees,
    nbytes,
    num_entries,
    row,
    rows_in,
    statistics,
)
from graphlode.cuda.graph.packed_state import State, create, fork, resize
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.errors import InputError, StateError
from graphlode.packed import LEAF_SLOTS, LEVELS, PAGE_LEAVES, PAGE_SLOTS, Change, Path
from graphlode.types import AnyArray, BoolArray, FloatArray

__all__ = [
    "Plan",
    "State",
    "check",
    "commit",
    "contains",
    "create",
    "csr",
    "degrees",
    "fork",
    "nbytes",
    "num_entries",
    "prepare",
    "resize",
    "row",
    "rows_in",
    "statistics",
]

SOURCE = KernelSource(
    "graph/packed",
    (
        *("packed_plan_small", "packed_sort_tiles", "packed_sort_ranks", "packed_locate"),
        *("packed_plan_leaves", "packed_plan_pages", "packed_climb", "packed_write"),
    ),
)

# How far packed.cu plans a batch.
_EFFECTS, _LEAVES, _WINDOWS = 0, 1, 2
_STEPS = {"merge": _EFFECTS, "rebuild": _EFFECTS, "climb": _LEAVES, "in place": _WINDOWS}

_MOST_UPDATES = 2**31 - 1
_WARPS = 8  # of a block that writes
_WRITTEN = ("num_suspects", "num_leaves", "num_narrow", "num_wide")
_NARROW_LEAVES = 8


@dataclass(slots=True)
class Plan:
    """A batch that is ready to be written. Good until the state is prepared for another one."""

    state: State
    epoch: int
    updates: Updates
    buffers: Buffers
    info: dict[str, int]
    pages: PagePlan | None
    path: Path
    seconds: float


def prepare(
    device: KernelDevice,
    state: State,
    keys: AnyArray,
    deletes: BoolArray | None,
    weights: FloatArray | None,
    *,
    path: Path,
    control: Control,
) -> Plan:
    """Plan a batch, given in order of time; nothing that anybody sees is changed. Raises DeviceMemoryError.

    A rebuild is done as a merge: on a GPU, finding out what a batch does costs less than sorting all entries again.
    """
    begun = perf_counter()
    control.check()
    if state.frozen:
        raise StateError("an immutable version of a shard cannot be updated")
    if keys.size > _MOST_UPDATES:
        raise InputError(f"a batch has up to {_MOST_UPDATES} updates, got {keys.size}")
    state.begin_plan()
    path = "merge" if path == "rebuild" else path
    weighted = state.pool.weighted
    buffers = state.workspace.buffers(
        device, max(1, keys.size), pages=state.pages.size, weighted=weighted, planned=path != "merge"
    )
    updates = arrange(device, state.load(SOURCE), buffers, keys, deletes, weights if weighted else None)
    info = _plan(device, state, updates, buffers, path) if updates.count else dict.fromkeys(INFO, 0)
    if info["bad_row"]:
        raise InputError(f"a batch names rows that are not in the shard, which has {state.num_rows} rows")
    control.check()
    pages = None
    if path == "merge" and (info["inserted"] or info["deleted"] or info["changed"]):
        pages = plan_merge(device, state, state.num_entries + info["inserted"] - info["deleted"])
    elif info["num_flagged"]:
        pages = plan_pages(device, state, buffers, info["num_flagged"])
    state.described()  # memory may have moved; commit must not need any
    control.advance(updates.count)
    return Plan(state, state.epoch, updates, buffers, info, pages, path, perf_counter() - begun)


def commit(device: KernelDevice, plan: Plan) -> Change:
    """Write a plan. Cannot fail, unless the plan is out of date."""
    begun = perf_counter()
    state, info, num_fresh = plan.state, plan.info, 0
    if plan.epoch != state.epoch:
        raise StateError("the plan is out of date: the shard was prepared for another batch or written since")
    if info["num_leaves"]:
        _write(device, plan)
    if plan.pages is not None:
        num_fresh = plan.pages.num_fresh
        write_pages(device, state, plan.buffers, plan.updates.count, plan.pages)
        state.replace_pages(plan.pages.directory, plan.pages.replaced)
    state.num_entries += info["inserted"] - info["deleted"]
    state.end_plan()
    device.synchronize()
    return Change(
        inserted=info["inserted"],
        deleted=info["deleted"],
        changed=info["changed"],
        path=plan.path,
        slots_written=LEAF_SLOTS * (info["num_leaves"] + info["window_leaves"]) + PAGE_SLOTS * num_fresh,
        rebalances=info["num_narrow"] + info["num_wide"] + num_fresh,
        seconds=plan.seconds + perf_counter() - begun,
    )


def _plan(device: KernelDevice, state: State, updates: Updates, buffers: Buffers, path: Path) -> dict[str, int]:
    """Plan a batch as far as its path needs, and read what it came to."""
    kernels = state.load(SOURCE)
    store, batch, count, epoch = state.described(), buffers.described, np.uint32(updates.count), np.uint32(state.epoch)
    step = np.int32(_STEPS[path])
    weights = buffers.described if updates.weights is None else updates.weights  # not looked at without
    source = (updates.keys, weights, np.int32(updates.weights is not None), count)
    if updates.count <= MOST_SMALL:
        threads = max(128, min(1024, 1 << (updates.count - 1).bit_length()))
        kernels.launch("packed_plan_small", 1, threads, (store, batch, *source, epoch, step))
    else:
        grid, block = launch_shape(
            device, updates.count, threads=EFFECT_TILE, per_block=EFFECT_TILE, blocks_per_multiprocessor=2
        )
        kernels.launch("packed_locate", grid, block, (store, batch, *source))
        if path != "merge":
            grid, block = launch_shape(device, updates.count)
            kernels.launch("packed_plan_leaves", grid, block, (store, batch, count, epoch))
    if path == "climb":
        _climb(device, kernels, state, buffers, updates.count)
    if path == "climb" or (path == "in place" and updates.count > MOST_SMALL):
        grid, block = launch_shape(device, 32 * min(updates.count, state.pages.size))
        kernels.launch("packed_plan_pages", grid, block, (store, batch))
    return read_info(device, buffers)


def _climb(device: KernelDevice, kernels: Any, state: State, buffers: Buffers, count: int) -> None:
    """Count windows level by level, with a look at the device after each, as long as a leaf must go on."""
    grid, block = launch_shape(device, PAGE_LEAVES * min(count, state.pages.size))
    for level in range(1, LEVELS):
        climbing = device.zeros(1, np.uint32)
        kernels.launch("packed_climb", grid, block, (state.described(), buffers.described, np.uint32(level), climbing))
        if not int(device.get(climbing)[0]):
            return


def _write(device: KernelDevice, plan: Plan) -> None:
    state, info, weighted = plan.state, plan.info, plan.state.pool.weighted
    shared_bytes = 0
    if info["num_narrow"]:
        shared_bytes = _WARPS * window_bytes(_NARROW_LEAVES, weighted=weighted)
    if info["num_wide"]:
        shared_bytes = max(shared_bytes, window_bytes(PAGE_LEAVES, weighted=weighted))
    blocks = max(-(-max(info["num_leaves"], info["num_narrow"]) // _WARPS), info["num_wide"])
    grid, block = launch_shape(device, blocks, threads=32 * _WARPS, per_block=1)
    sizes = [plan.updates.count, plan.epoch, *(info[name] for name in _WRITTEN)]
    arguments = (state.described(), plan.buffers.described, *map(np.uint32, sizes))
    state.load(SOURCE).launch("packed_write", grid, block, arguments, shared_bytes)
