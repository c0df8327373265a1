"""A shard on a GPU: implements `ShardKernels`.

`prepare` plans a batch. It reads the result from the device once and allocates everything. `commit` writes the plan.
`apply` does both for a batch of one shard: the launch that writes follows the launches that plan, and the host gets the
result while the device writes. A batch needs a second round of launches only if its pages must be split, merged or
copied, the last because a version holds them (pages.py).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from graphlode.common.control import Control
from graphlode.common.store import LEAF_SLOTS, PAGE_SLOTS, Change, Fullness, Pairs, Path
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.store.batch import BAD_ROW, FLAGGED, INFO, SELF_LOOPS, Buffers, change_of, named_info, read_info
from graphlode.cuda.store.check import check
from graphlode.cuda.store.input import ALL_GONE, DELETES, MOST_SMALL, PAIRS, Input, take
from graphlode.cuda.store.launches import LEAVES, SORTED, WINDOWS
from graphlode.cuda.store.merge import MergeRoom, finish_merge, merge, pages_of_merge, room_for_merge
from graphlode.cuda.store.pages import PagePlan, are_very_many, plan_pages, write_at_once, write_pages
from graphlode.cuda.store.plan import climb, plan, plan_at_once, write
from graphlode.cuda.store.read import contains, csr, degrees, nbytes, num_entries, row, rows_in, statistics
from graphlode.cuda.store.sort import MOST_UPDATES
from graphlode.cuda.store.state import State, create, fork, resize, writable
from graphlode.cuda.store.version import Version
from graphlode.errors import InputError, StateError
from graphlode.types import AnyArray

__all__ = [
    "MOST_BRIEF",
    "TAKES_RESIDENT",
    "Plan",
    "State",
    "apply",
    "check",
    "commit",
    "contains",
    "create",
    "csr",
    "degrees",
    "finish",
    "fork",
    "fullness",
    "nbytes",
    "num_entries",
    "prepare",
    "resize",
    "row",
    "rows_in",
    "statistics",
]

MOST_BRIEF = 1 << 24  # the device takes a few milliseconds; the time of the host hardly depends on the size
TAKES_RESIDENT = True

_OUT_OF_DATE = "the plan is out of date: the shard was prepared for another batch or written since"


@dataclass(slots=True)
class Plan:
    """A batch that is ready to be written. Valid until the state is prepared for another one."""

    state: State
    epoch: int
    given: Input
    buffers: Buffers
    info: dict[str, int]
    path: Path
    seconds: float
    pages: PagePlan | None = None
    room: MergeRoom | None = None  # of a merge
    asked: Path = "in place"  # the path that was asked for


# Both phases in one


def apply(
    device: KernelDevice,
    state: Version,
    entries: AnyArray | Pairs,
    deletes: Any,
    weights: Any,
    *,
    path: Path,
    control: Control,
) -> Change:
    """Plan a batch and write it. The host reads from the device only once if no page is split, merged or copied.

    A batch in place that would rewrite very many pages is merged instead. Without memory for a merge the batch is
    written in place, in several waves if needed. The device may still be writing afterwards: see `finish`.
    """
    begun = perf_counter()
    shard = writable(state)
    given = _begin(shard, entries, deletes, weights, control)
    if not given.count:
        shard.end_plan()
        return Change(path=path, seconds=perf_counter() - begun)
    if path == "climb":
        climbed = _commit(_with_pages(_plan_in_place(shard, given, path, begun)))
        control.advance(given.count)
        return climbed
    change = _merge_at_once(shard, given, begun) if path == "merge" else None
    if path == "merge":
        shard.note_merge()
    if change is None:
        change = _write_in_place_at_once(shard, given, begun, control, may_merge=path == "in place")
    control.advance(given.count)
    return change


def _write_in_place_at_once(state: State, given: Input, begun: float, control: Control, *, may_merge: bool) -> Change:
    buffers = _planning_buffers(state, given)
    words = plan_at_once(state, buffers, given)
    if words[BAD_ROW]:
        raise _no_such_row(state)
    num_fresh = 0
    if words[FLAGGED]:  # then nothing is written yet
        num_fresh, num_replaced, joins = words[-3:]
        info = named_info(words)
        if may_merge and are_very_many(state, info):
            control.check()
            state.workspace.staging.forget_reported()  # the merge has the same epoch
            change = _merge_at_once(state, given, begun, instead_of=buffers)
            if change is not None:
                return change
        if not write_at_once(state, buffers, given.count, num_fresh, num_replaced, joins):
            ready = Plan(state, state.epoch, given, buffers, info, "in place", perf_counter() - begun)
            return _commit(_with_pages(ready))
    change = change_of(words, num_fresh, perf_counter() - begun)
    state.num_entries += change.inserted - change.deleted
    state.end_plan()
    return change


def _merge_at_once(state: State, given: Input, begun: float, *, instead_of: Buffers | None = None) -> Change | None:
    """Merge and write. The host counts pages while the device writes. None: there is no memory for a merge, and nothing
    has happened."""
    ready = _sorted(state, given, instead_of)
    if ready is None:
        return None
    buffers, room = ready
    merge(state, buffers, given, room, at_once=True)
    with suppress(MemoryError):  # it can be done later, too; from here on nothing may fail
        state.count_ahead()
    words = state.device.read_report(state.workspace.staging.reported, state.epoch)
    bad_row, inserted, deleted, changed, *_ = words
    num_fresh = 0
    if inserted or deleted or changed:
        # The device still reads the memory that is released here. That is safe: later users are in the same stream.
        state.num_entries += inserted - deleted
        num_fresh = pages_of_merge(state.num_entries)
        state.replace_all_pages(room.directory, num_fresh)
    else:
        state.give_back_reserved(0)
    if bad_row:
        raise _no_such_row(state)
    state.end_plan()
    seconds, slots = perf_counter() - begun, PAGE_SLOTS * num_fresh
    return Change(inserted, deleted, changed, "merge", slots, num_fresh, seconds, words[SELF_LOOPS])


def finish(device: KernelDevice, state: Version) -> None:
    """Wait until the device has written the last batch, and allocate memory for the next batches."""
    shard = writable(state)
    device.synchronize()
    if shard.is_short and shard.may_provide:
        shard.provide()


# In two phases


def prepare(
    device: KernelDevice,
    state: Version,
    entries: AnyArray | Pairs,
    deletes: Any,
    weights: Any,
    *,
    path: Path,
    control: Control,
) -> Plan:
    """Plan a batch. Changes nothing that a reader sees. Raises DeviceMemoryError. Paths as for `apply`."""
    begun = perf_counter()
    shard = writable(state)
    given = _begin(shard, entries, deletes, weights, control)
    ready = _plan_merge(shard, given, begun) if given.count and path == "merge" else None
    if ready is None:
        found = _plan_in_place(shard, given, path, begun)
        if path == "in place" and found.info["num_flagged"] and are_very_many(shard, found.info):
            ready = _plan_merge(shard, given, begun, instead_of=found.buffers)
        ready = ready or _with_pages(found)
    ready.asked = path
    control.check()
    control.advance(given.count)
    return ready


def _plan_in_place(state: State, given: Input, path: Path, begun: float) -> Plan:
    """Plan in place or climbing. A merge without memory is planned in place."""
    device, count = state.device, given.count
    path = "in place" if path == "merge" and count else path
    buffers = _planning_buffers(state, given)
    info = dict.fromkeys(INFO, 0)
    if count:
        plan(state, buffers, given, LEAVES if path == "climb" else WINDOWS)
        if path == "climb":
            climb(device, state, buffers, count)
        info = read_info(device, buffers)
    if info["bad_row"]:
        raise _no_such_row(state)
    return Plan(state, state.epoch, given, buffers, info, path, perf_counter() - begun)


def _plan_merge(state: State, given: Input, begun: float, *, instead_of: Buffers | None = None) -> Plan | None:
    """Merge all entries and the batch into fresh pages. None: there is no memory for that, and nothing has happened. A
    plan in place of the same batch then stays valid."""
    ready = _sorted(state, given, instead_of)
    if ready is None:
        return None
    buffers, room = ready
    merge(state, buffers, given, room, at_once=False)
    info = read_info(state.device, buffers)
    if info["bad_row"]:
        raise _no_such_row(state)
    found = Plan(state, state.epoch, given, buffers, info, "merge", perf_counter() - begun)
    if info["inserted"] or info["deleted"] or info["changed"]:
        found.room = room
    else:
        state.give_back_reserved(0)
    return found


def _with_pages(found: Plan) -> Plan:
    """The fresh pages that a plan in place needs."""
    begun = perf_counter()
    state, info = found.state, found.info
    if info["num_flagged"]:
        found.pages = plan_pages(state, found.buffers, info)
    state.described(state.device)  # memory may have moved; commit must not need any
    found.seconds += perf_counter() - begun
    return found


def commit(device: KernelDevice, found: Plan) -> Change:
    """Write a plan. Fails only if the plan is out of date."""
    change = _commit(found)
    device.synchronize()
    return change


def _commit(found: Plan) -> Change:
    """As `commit`, but the device may still be writing afterwards."""
    begun = perf_counter()
    state, info, num_fresh = found.state, found.info, 0
    if found.epoch != state.epoch:
        raise StateError(_OUT_OF_DATE)
    if found.room is not None:
        finish_merge(state, found.buffers, found.given, found.room)
        num_fresh = pages_of_merge(state.num_entries + info["inserted"] - info["deleted"])
        state.replace_all_pages(found.room.directory, num_fresh)
    elif found.pages is not None:
        num_fresh = found.pages.num_fresh
        replaced = write_pages(state, found.buffers, found.given.count, found.pages)
        state.replace_pages(found.pages.directory, replaced)
    elif found.path != "merge" and info["num_leaves"]:
        write(state, found.buffers, found.given)
    state.num_entries += info["inserted"] - info["deleted"]
    state.end_plan()
    if found.asked == "merge":
        state.note_merge()
    return Change(
        inserted=info["inserted"],
        deleted=info["deleted"],
        changed=info["changed"],
        path=found.path,
        slots_written=LEAF_SLOTS * (info["num_leaves"] + info["window_leaves"]) + PAGE_SLOTS * num_fresh,
        rebalances=info["num_narrow"] + info["num_wide"] + num_fresh,
        seconds=found.seconds + perf_counter() - begun,
        self_loops=info["self_loops"],
    )


# Shared by both


def _begin(state: State, entries: AnyArray | Pairs, deletes: Any, weights: Any, control: Control) -> Input:
    """Begin a plan, and return the batch as kernels read it."""
    control.check()
    if entries.size > MOST_UPDATES:
        raise InputError(f"a batch has up to {MOST_UPDATES} updates, got {entries.size}")
    state.begin_plan()
    return take(state.device, state.workspace.staging, entries, deletes, weights if state.pool.weighted else None)


def _planning_buffers(state: State, given: Input) -> Buffers:
    return state.workspace.buffers(
        max(1, given.count),
        pages=state.pages.size,
        entries=state.num_entries,
        weighted=state.pool.weighted,
        planned=True,
    )


def _sorted(state: State, given: Input, instead_of: Buffers | None) -> tuple[Buffers, MergeRoom] | None:
    """The sorted batch and the memory of a merge. None: there is not enough memory.

    A plan in place of the same batch has sorted it already, unless the batch is small.
    """
    try:
        if instead_of is not None and given.count > MOST_SMALL:
            buffers = instead_of
        else:
            buffers = state.workspace.buffers(
                given.count,
                pages=state.pages.size,
                entries=state.num_entries,
                weighted=state.pool.weighted,
                planned=False,
                apart=instead_of is not None,
            )
            plan(state, buffers, given, SORTED)
        come = 0 if given.how & ALL_GONE else given.count
        go = given.count if given.how & (ALL_GONE | DELETES) or not given.how & PAIRS else 0  # keys may be deletes
        entries = state.num_entries
        room = room_for_merge(  # while the device sorts
            state, given.count, least_entries=max(0, entries - go), most_entries=entries + come
        )
    except MemoryError:
        state.workspace.staging.forget_counted()  # in case it failed during the sort
        state.give_back_reserved(0)
        return None
    return buffers, room


def _no_such_row(state: State) -> InputError:
    return InputError(f"a batch names rows that are not in the shard, which has {state.num_rows} rows")


def fullness(state: Version) -> Fullness:
    """How full the pages are."""
    shard = writable(state)
    return Fullness(shard.num_entries, shard.most_in_place, shard.sparse_below)
