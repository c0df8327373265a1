"""A shard on a GPU: drives store/plan.cu.

A batch is planned by `prepare`, which ends with one look at the device and everything allocated, and written by
`commit`. Where no other shard has a say, `apply` does both: what writes is launched right behind what plans, and the
host hears what the batch comes to while it is written, unless pages must be split, merged or copied because an immutable
version holds them (store/pages.py). Small batches are attempted on the calling thread (`attempt`, `attempt_quickly`)
and finished in the worker's place (`finish`) if they need more. Reading is in store/read.py, checking in
store/check.py, what may be asked before a batch in store/fullness.py.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.common.store import LEAF_SLOTS, LEVELS, PAGE_LEAVES, PAGE_SLOTS, Change, Pairs, Path
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.store import leaves as packed_leaves
from graphlode.cuda.store import merge as packed_merge
from graphlode.cuda.store import pages as packed_pages
from graphlode.cuda.store.batch import INFO, SELF_LOOPS, Buffers, named_info, read_info
from graphlode.cuda.store.check import check
from graphlode.cuda.store.fullness import is_sparse, lacks_memory, overflows, provide, thins
from graphlode.cuda.store.input import ALL_GONE, DELETES, MOST_SMALL, PAIRS, Given, take
from graphlode.cuda.store.merge import (
    MergeRoom,
    finish_merge,
    merge,
    pages_of_merge,
    room_for_merge,
)
from graphlode.cuda.store.pages import PagePlan, are_very_many, plan_pages, write_pages
from graphlode.cuda.store.plan import LEAVES, SORTED, SOURCE, WINDOWS, launches
from graphlode.cuda.store.quick import QuickWay, Unfinished, done_at_once, open_quick_way
from graphlode.cuda.store.read import (
    contains,
    csr,
    degrees,
    nbytes,
    num_entries,
    row,
    rows_in,
    statistics,
)
from graphlode.cuda.store.sort import MOST_UPDATES
from graphlode.cuda.store.state import State, create, fork, resize
from graphlode.errors import InputError, StateError
from graphlode.types import AnyArray

__all__ = [
    "Plan",
    "State",
    "apply",
    "attempt",
    "attempt_quickly",
    "check",
    "commit",
    "contains",
    "create",
    "csr",
    "degrees",
    "finish",
    "fork",
    "is_sparse",
    "lacks_memory",
    "nbytes",
    "num_entries",
    "overflows",
    "prepare",
    "provide",
    "resize",
    "row",
    "rows_in",
    "statistics",
    "thins",
    "wait_until_written",
]

MOST_QUICK = MOST_SMALL
"""Pairs for which `attempt_quickly` may have a way."""

TAKES_PAIRS = TAKES_RESIDENT = True
"""Batches may be `Pairs`, which are checked on the device, and may lie there."""

READS_ON_WORKER = True
"""A batch may move the arrays that all versions share; it does so on the worker, and readers take turns with it there."""


@dataclass(slots=True)
class Plan:
    """A batch that is ready to be written. Good until the state is prepared for another one."""

    state: State
    epoch: int
    given: Given
    buffers: Buffers
    info: dict[str, int]
    pages: PagePlan | None
    path: Path
    seconds: float
    written: bool = False  # all, or it is on its way
    room: MergeRoom | None = None  # of a merge
    may_merge: bool = False  # in the place of this, if it needs very many pages


def prepare(
    device: KernelDevice,
    state: State,
    batch: AnyArray | Pairs,
    deletes: Any,
    weights: Any,
    *,
    path: Path,
    control: Control,
) -> Plan:
    """Plan a batch, given in order of time; nothing that anybody sees is changed. Raises DeviceMemoryError.

    A rebuild is done as a merge: on a GPU, that costs less than sorting all entries again. So is a batch in place that
    would write very many pages anew. A merge for which there is no memory is done in place, in several waves if need be.
    """
    begun = perf_counter()
    given, as_given = _take(device, state, batch, deletes, weights, path, control)
    merged = _plan_merge(device, state, given, begun) if given.count and as_given == "merge" else None
    if merged is not None:
        control.check()
        control.advance(given.count)
        return merged
    plan = _plan_in_place(device, state, given, as_given, begun, at_once=False)
    merged = _plan_merge(device, state, given, begun, plan) if _should_merge(plan) else None
    if merged is None:
        return _with_pages(device, plan, control)
    control.advance(given.count)
    return merged


def apply(
    device: KernelDevice,
    state: State,
    batch: AnyArray | Pairs,
    deletes: Any,
    weights: Any,
    *,
    path: Path,
    control: Control,
    wait: bool = True,
    meanwhile: Callable[[], None] | None = None,
) -> Change:
    """Plan a batch and write it, with one look at the device if all pages stay where they are. Fails as `prepare` does.

    `meanwhile` is called when the device has all to do that it will have, if that is known before. Without `wait` it may
    still be writing: `wait_until_written` must come before anybody reads.
    """
    begun = perf_counter()
    given, as_given = _take(device, state, batch, deletes, weights, path, control)
    if given.count and as_given == "merge":
        change = _merge_at_once(device, state, given, begun, wait=wait, meanwhile=meanwhile)
        if change is not None:
            control.advance(given.count)
            return change
    plan = _plan_in_place(device, state, given, as_given, begun, at_once=True)
    if not plan.written:
        return _finish(device, plan, control)
    control.advance(given.count)
    return _commit(device, plan, wait=wait, meanwhile=meanwhile)


def attempt(
    device: KernelDevice,
    state: State,
    batch: AnyArray | Pairs,
    deletes: Any,
    weights: Any,
    *,
    meanwhile: Callable[[], None] | None = None,
) -> Any:
    """A batch in place, as far as that needs no memory: the change, or a plan for `finish`.

    None if something must be tidied up first, or all pages would overflow. Runs on any thread while no other batch does.
    The device may still be writing: `wait_until_written` must come before anybody reads. `meanwhile` is called if it is.
    """
    count = batch.size
    if not count or not state.is_undisturbed or overflows(state, batch, deletes):
        return None
    begun, workspace = perf_counter(), state.workspace
    if not workspace.has_room(count, state.directory.pages.size):
        with device.current():
            given, path = _take(device, state, batch, deletes, weights, "in place", Control())
            plan = _plan_in_place(device, state, given, path, begun, at_once=True)
            return _commit(device, plan, wait=False, meanwhile=meanwhile) if plan.written else plan
    buffers, staging = workspace.kept, workspace.staging(device)
    assert buffers is not None
    given = take(device, staging, batch, deletes, weights if state.pool.weighted else None)
    state.begin_undisturbed()
    ready = state.launches or launches(device, state)
    told = ready.run_at_once(state, buffers, given)
    change = done_at_once(device, state, buffers, count, told, begun)
    if change is None:
        return _unfinished(state, Unfinished(given, buffers, told, perf_counter() - begun))
    open_quick_way(device, state, given)
    if meanwhile is not None:
        meanwhile()
    return change


def attempt_quickly(state: State, tails: Any, heads: Any, size: int, gone: Any, stream: int | None) -> Any:
    """Pairs on the device by the short way (store/quick.py), if it is open: the change, or a plan for `finish`, or None.

    Runs on any thread while no other batch does; `wait_until_written` must come before anybody reads.
    """
    quick: QuickWay | None = state.quick
    if quick is None or state.planning:  # by a batch that went wrong half way
        return None
    found = quick.run(state, tails, heads, size, gone, stream)
    return _unfinished(state, found) if type(found) is Unfinished else found


def _unfinished(state: State, found: Unfinished) -> Plan:
    """What is left to do of an attempt."""
    state.quick = None
    info = named_info(found.told)
    return _checked(
        Plan(state, state.epoch, found.given, found.buffers, info, None, "in place", found.seconds, may_merge=True)
    )


def wait_until_written(device: KernelDevice) -> None:
    """Until the device has written what it was told to."""
    device.synchronize()


def finish(device: KernelDevice, plan: Plan, *, control: Control) -> Change:
    """On the worker, or in its place: what an attempt could not do."""
    change = _finish(device, plan, control)
    open_quick_way(device, plan.state, plan.given)
    return change


def _finish(device: KernelDevice, plan: Plan, control: Control) -> Change:
    """What is left to do of a plan in place whose pages do not stay as they are."""
    if _should_merge(plan):  # nothing is written of a plan that is to be written at once, if pages are flagged
        control.check()
        plan.state.workspace.staging(device).forget_told()  # the merge has the same epoch
        change = _merge_at_once(device, plan.state, plan.given, perf_counter() - plan.seconds, plan)
        if change is not None:
            control.advance(plan.given.count)
            return change
    return commit(device, _with_pages(device, plan, control))


def _take(
    device: KernelDevice,
    state: State,
    batch: AnyArray | Pairs,
    deletes: Any,
    weights: Any,
    path: Path,
    control: Control,
) -> tuple[Given, Path]:
    """Begins a plan: the batch as kernels read it, and the path that it takes."""
    control.check()
    if state.frozen:
        raise StateError("an immutable version of a shard cannot be updated")
    count = batch.size
    if count > MOST_UPDATES:
        raise InputError(f"a batch has up to {MOST_UPDATES} updates, got {count}")
    if state.launches is None:
        for source in (packed_merge.SOURCE, packed_pages.SOURCE, packed_leaves.SOURCE):
            state.load(source)  # now, so that no later batch waits for a compiler
        packed_pages.get_ready(device, state)
    state.begin_plan()
    is_merged = path == "rebuild" or (path == "in place" and overflows(state, batch, deletes))
    staging = state.workspace.staging(device)
    given = take(device, staging, batch, deletes, weights if state.pool.weighted else None)
    return given, "merge" if is_merged else path


def _plan_in_place(
    device: KernelDevice, state: State, given: Given, path: Path, begun: float, *, at_once: bool
) -> Plan:
    """In place or climbing; a merge comes here if there is no memory for it."""
    count, may_merge = given.count, path == "in place"
    path = "in place" if path == "merge" and count else path
    at_once = at_once and path != "climb"  # which the host looks at level by level
    buffers = state.workspace.buffers(
        device,
        max(1, count),
        pages=state.pages.size,
        entries=state.num_entries,
        weighted=state.pool.weighted,
        planned=True,
    )
    info = dict.fromkeys(INFO, 0)
    if count and at_once:
        info = named_info(launches(device, state).run_at_once(state, buffers, given))
    elif count:
        launches(device, state).run(state, buffers, given, LEAVES if path == "climb" else WINDOWS)
        if path == "climb":
            _climb(device, state, buffers, count)
        info = read_info(device, buffers)
    written = bool(count) and at_once and not info["num_flagged"]
    seconds = perf_counter() - begun
    return _checked(Plan(state, state.epoch, given, buffers, info, None, path, seconds, written, may_merge=may_merge))


def _should_merge(plan: Plan) -> bool:
    """Whether a plan in place would write very many pages anew."""
    return plan.may_merge and bool(plan.info["num_flagged"]) and are_very_many(plan.state, plan.info)


def _plan_merge(
    device: KernelDevice, state: State, given: Given, begun: float, instead_of: Plan | None = None
) -> Plan | None:
    """All entries into fresh pages with the batch; None: there is no memory for that, and nothing has happened, so that a
    plan in place of the same batch is still good."""
    ready = _sorted(device, state, given, instead_of)
    if ready is None:
        return None
    buffers, room = ready
    merge(device, state, buffers, given, room, at_once=False)
    info = read_info(device, buffers)
    plan = Plan(state, state.epoch, given, buffers, info, None, "merge", perf_counter() - begun)
    if info["inserted"] or info["deleted"] or info["changed"]:
        plan.room = room
    else:
        state.give_back_reserved(0)
    return _checked(plan)


def _merge_at_once(
    device: KernelDevice,
    state: State,
    given: Given,
    begun: float,
    instead_of: Plan | None = None,
    *,
    wait: bool = True,
    meanwhile: Callable[[], None] | None = None,
) -> Change | None:
    """As `_plan_merge`, and committed: the host keeps its books while the device writes."""
    ready = _sorted(device, state, given, instead_of)
    if ready is None:
        return None
    buffers, room = ready
    merge(device, state, buffers, given, room, at_once=True)
    with suppress(MemoryError):  # it can be done later, too, and from here on nothing may fail
        state.foresee()
    if meanwhile is not None:
        meanwhile()
    told = device.hear(state.workspace.staging(device).told, state.epoch)
    bad_row, inserted, deleted, changed, *_ = told
    num_fresh = 0
    if inserted or deleted or changed:
        # Memory goes back while it is still read, but to those who come later in the same stream.
        state.num_entries += inserted - deleted
        num_fresh = pages_of_merge(state.num_entries)
        state.replace_all_pages(room.directory, num_fresh)
    else:
        state.give_back_reserved(0)
    if bad_row:
        raise _no_such_row(state)
    if wait:
        device.synchronize()
    state.end_plan()
    seconds, self_loops = perf_counter() - begun, told[SELF_LOOPS]
    slots = PAGE_SLOTS * num_fresh
    return Change(inserted, deleted, changed, "merge", slots, num_fresh, seconds, self_loops)


def _sorted(
    device: KernelDevice, state: State, given: Given, instead_of: Plan | None
) -> tuple[Buffers, MergeRoom] | None:
    """The batch in order, and all memory that a merge needs; None: there is not enough.

    A plan in place of the same batch has it in order, unless it is a small one.
    """
    try:
        if instead_of is not None and given.count > MOST_SMALL:
            buffers = instead_of.buffers
        else:
            buffers = state.workspace.buffers(
                device,
                given.count,
                pages=state.pages.size,
                entries=state.num_entries,
                weighted=state.pool.weighted,
                planned=False,
                apart=instead_of is not None,
            )
            launches(device, state).run(state, buffers, given, SORTED)
        come = 0 if given.how & ALL_GONE else given.count
        go = given.count if given.how & (ALL_GONE | DELETES) or not given.how & PAIRS else 0  # keys may be deletes
        entries = state.num_entries
        room = room_for_merge(  # while the device sorts
            device, state, given.count, least_entries=max(0, entries - go), most_entries=entries + come
        )
    except MemoryError:
        state.workspace.staging(device).forget_counted()  # if it was in the middle of sorting
        state.give_back_reserved(0)
        return None
    return buffers, room


def _checked(plan: Plan) -> Plan:
    if plan.info["bad_row"]:
        raise _no_such_row(plan.state)
    return plan


def _no_such_row(state: State) -> InputError:
    return InputError(f"a batch names rows that are not in the shard, which has {state.num_rows} rows")


def _with_pages(device: KernelDevice, plan: Plan, control: Control) -> Plan:
    """The fresh pages that a plan in place needs."""
    begun = perf_counter()
    control.check()
    state, info = plan.state, plan.info
    if plan.epoch != state.epoch:
        raise StateError(_OUT_OF_DATE)
    if info["num_flagged"]:
        plan.pages = plan_pages(device, state, plan.buffers, info)
    state.described()  # memory may have moved; commit must not need any
    control.advance(plan.given.count)
    plan.seconds += perf_counter() - begun
    return plan


_OUT_OF_DATE = "the plan is out of date: the shard was prepared for another batch or written since"


def commit(device: KernelDevice, plan: Plan) -> Change:
    """Write a plan. Cannot fail, unless the plan is out of date."""
    return _commit(device, plan)


def _commit(
    device: KernelDevice, plan: Plan, *, wait: bool = True, meanwhile: Callable[[], None] | None = None
) -> Change:
    """`wait` and `meanwhile` as for `apply`."""
    begun = perf_counter()
    state, info, num_fresh = plan.state, plan.info, 0
    if plan.epoch != state.epoch:
        raise StateError(_OUT_OF_DATE)
    if not plan.written:
        if plan.room is not None:
            finish_merge(device, state, plan.buffers, plan.given, plan.room)
            num_fresh = pages_of_merge(state.num_entries + info["inserted"] - info["deleted"])
            state.replace_all_pages(plan.room.directory, num_fresh)
        elif plan.pages is not None:
            num_fresh = plan.pages.num_fresh
            replaced = write_pages(device, state, plan.buffers, plan.given.count, plan.pages)
            state.replace_pages(plan.pages.directory, replaced)
        elif plan.path != "merge" and info["num_leaves"]:
            launches(device, state).write(state, plan.buffers, plan.given)
    state.num_entries += info["inserted"] - info["deleted"]
    state.end_plan()
    if meanwhile is not None:
        meanwhile()
    if wait:
        device.synchronize()
    return Change(
        inserted=info["inserted"],
        deleted=info["deleted"],
        changed=info["changed"],
        path=plan.path,
        slots_written=LEAF_SLOTS * (info["num_leaves"] + info["window_leaves"]) + PAGE_SLOTS * num_fresh,
        rebalances=info["num_narrow"] + info["num_wide"] + num_fresh,
        seconds=plan.seconds + perf_counter() - begun,
        self_loops=info["self_loops"],
    )


def _climb(device: KernelDevice, state: State, buffers: Buffers, count: int) -> None:
    """Count windows level by level, with a look at the device after each, as long as a leaf must go on; then plan."""
    kernels, store, batch = state.load(SOURCE), state.described(), buffers.described
    grid, block = launch_shape(device, PAGE_LEAVES * min(count, state.pages.size))
    for level in range(1, LEVELS):
        climbing = device.zeros(1, np.uint32)
        kernels.launch("packed_climb", grid, block, (store, batch, np.uint32(level), climbing))
        if not int(device.get(climbing)[0]):
            break
    grid, block = launch_shape(device, 32 * min(count, state.pages.size))
    kernels.launch("packed_plan_pages", grid, block, (store, batch))
