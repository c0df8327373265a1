"""The short way of small batches: pairs on the device, for a shard in which nothing is in their way.

Such a batch takes the device some ten microseconds, and the questions that any other batch raises take Python as long:
whether versions hold pages, whether there is room, what is given and where. An attempt that went well has answered them;
they stay answered until the shard is prepared for another batch, grows, or is held by a version, when `State` forgets
this way. Pages may be split and merged on it, as long as that needs no memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from graphlode.common.store import Change, certainly_in_place
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.sequence import BoundSequence
from graphlode.cuda.store.batch import BAD_ROW, FLAGGED, Buffers, change_of
from graphlode.cuda.store.input import ALL_GONE, BOTH, LONG, MOST_SMALL, PAIRS, Given
from graphlode.cuda.store.pages import write_at_once
from graphlode.cuda.store.plan import STORE_AND_ENDS, launches
from graphlode.cuda.store.state import LAST_EPOCH, State

_MOST_REMEMBERED = 64  # sizes of batches


@dataclass(slots=True)
class Unfinished:
    """A batch that was planned, and not written: a row is not there, or pages must be split or merged."""

    given: Given
    buffers: Buffers
    told: list[int]
    seconds: float


class QuickWay:
    """Of pairs of one kind: with `both`, each is two entries of a shard whose positions have so many bits."""

    __slots__ = ("_both", "_bound", "_buffers", "_device", "_kind", "_neighbor_bits", "_number", "_store", "_unused")

    def __init__(self, device: KernelDevice, state: State, buffers: Buffers, *, both: bool, neighbor_bits: int) -> None:
        staging = state.workspace.staging(device)
        self._device, self._buffers = device, buffers  # not the shard, which has this way
        self._store = state.described()
        self._both, self._neighbor_bits = both, neighbor_bits
        self._kind, self._number = device.xp.ndarray, staging.device_number
        self._unused = staging.on_device["deletes"], staging.on_device["weights"]
        self._bound: dict[tuple[int, int], BoundSequence] = {}  # by size and width

    def run(
        self, state: State, tails: Any, heads: Any, size: int, gone: Any, stream: int | None
    ) -> Change | Unfinished | None:
        """Pairs into the shard, or out of it if `gone` is True; None if this way is not theirs, and nothing has happened."""
        kind, number = self._kind, self._number
        if type(tails) is not kind or type(heads) is not kind or (gone is not None and gone is not True):
            return None
        if number is not None and (tails.data.device_id != number or heads.data.device_id != number):
            return None
        count, entries, epoch = size << self._both, state.num_entries, state.epoch + 1
        if not 0 < count <= MOST_SMALL or not certainly_in_place(count, entries) or epoch >= LAST_EPOCH:
            return None
        if gone is None and entries + count > state.most_in_place:
            return None
        begun, width = perf_counter(), tails.itemsize if gone is None else -tails.itemsize
        bound = self._bound.get((size, width)) or self._bind(state, size, width)
        state.begin_undisturbed()
        told = bound.run((self._store, tails, heads, epoch), epoch, stream)
        change = done_at_once(self._device, state, self._buffers, count, told, begun)
        if change is None:
            given = self._given(tails, heads, count, width)
            return Unfinished(given, self._buffers, told, perf_counter() - begun)
        if told[FLAGGED]:  # other pages are in their places
            self.look_again(state)
            state.quick = self if state.has_quick_way else None
        return change

    def look_again(self, state: State) -> None:
        """The shard may be described anew, since memory of it was moved."""
        self._store = state.described()

    def _bind(self, state: State, size: int, width: int) -> BoundSequence:
        if len(self._bound) == _MOST_REMEMBERED:
            self._bound.clear()
        given = self._given(None, None, size << self._both, width)
        bound = launches(self._device, state).bind(state, self._buffers, given, STORE_AND_ENDS)
        self._bound[size, width] = bound
        return bound

    def _given(self, tails: Any, heads: Any, count: int, width: int) -> Given:
        """`width` is that of a position in bytes, negative for pairs that are deleted."""
        how = PAIRS | (LONG if abs(width) == 8 else 0) | (BOTH if self._both else 0) | (ALL_GONE if width < 0 else 0)
        return Given(tails, heads, *self._unused, how, count, self._neighbor_bits)


def done_at_once(
    device: KernelDevice, state: State, buffers: Buffers, count: int, told: list[int], begun: float
) -> Change | None:
    """The end of a batch in place of so many updates that has told this: what it did, with pages split and merged. None if
    a row is not there, or pages need memory: nothing is written then."""
    num_fresh = 0
    if told[BAD_ROW] or told[FLAGGED]:
        num_fresh, num_replaced, joins = told[-3:]
        if told[BAD_ROW] or not write_at_once(device, state, buffers, count, num_fresh, num_replaced, joins):
            return None
    change = change_of(told, num_fresh, perf_counter() - begun)
    state.num_entries += change.inserted - change.deleted
    state.end_plan()
    return change


def open_quick_way(device: KernelDevice, state: State, given: Given) -> None:
    """For batches after one that was given so, if nothing is in their way."""
    kept = state.workspace.kept
    if not given.resident or kept is None or state.quick is not None:
        return
    if state.is_undisturbed and state.has_quick_way:
        both = given.how & BOTH != 0
        state.quick = QuickWay(device, state, kept, both=both, neighbor_bits=given.neighbor_bits)
