"""The shards of a store: the owner of each row, and batches that change all shards or none.

Rows belong to shards by the share table: a row falls into one of 1,024 buckets, and a bucket has one owner. A batch for
several shards is split by the owner of each entry's row and applied in two phases, on all devices side by side. To
prepare may fail, and changes nothing that a reader can see. When every shard has prepared, all commit, which cannot
fail. Ctrl-C takes effect while a batch is prepared or after it is committed, never between.

Buckets move between shards the same way: the receiver inserts what the giver deletes, and both prepare before either
commits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from graphlode.common.buckets import NUM_BUCKETS
from graphlode.common.control import Control
from graphlode.common.store import MAX_ROWS, Change, Pairs
from graphlode.common.wait import Interrupts, run_all
from graphlode.config import settings
from graphlode.cpu.store.pairs import entries_of
from graphlode.cpu.store.split import by_owner
from graphlode.execute.device import Device
from graphlode.execute.shares import ShareTable
from graphlode.graph.store.balance import HYSTERESIS, Balance, first_weights, relieved
from graphlode.graph.store.shard import HeldShards, Part, Shard, Strategy
from graphlode.types import AnyArray, BoolArray, FloatArray, Int64Array

Changes = list[Change | None]
"""The change of each shard by a batch; None if the shard had no part in it."""

Move = tuple[int, int, int]
"""A bucket, the shard that gives it and the shard that gets it."""

_MOST_BRIEF = 2048  # entries of the largest part of a batch that the calling thread splits and applies by itself


class Shards:
    def __init__(
        self,
        devices: Sequence[Device],
        *,
        num_rows: int,
        weighted: bool,
        strategy: Strategy,
        weights: Sequence[float] | None,
    ) -> None:
        """`weights` are the fixed shares of the devices; without them the store decides."""
        speeds = [device.speed for device in devices]
        self._shards = [
            Shard(name, device, num_rows=num_rows, weighted=weighted, strategy=strategy)
            for name, device in zip(_names(devices), devices, strict=True)
        ]
        self._balance = Balance(speeds) if weights is None and len(devices) > 1 else None
        self._lacking: set[int] = set()  # shards whose device had no memory for the last batch
        self._spent = [0.0] * len(devices)  # seconds that each shard took for its part of the last batch
        self._share(ShareTable(first_weights(speeds) if weights is None else weights))

    def __len__(self) -> int:
        return len(self._shards)

    def __iter__(self) -> Iterator[Shard]:
        return iter(self._shards)

    @property
    def table(self) -> ShareTable:
        """The owner of each bucket. A move of buckets replaces the table, and never changes it."""
        return self._table

    @property
    def takes_resident(self) -> bool:
        """Whether one shard has all rows and reads pairs that lie on its device."""
        return self._only is not None and self._only.kernels.TAKES_RESIDENT

    @property
    def broken(self) -> bool:
        """Whether a device failed in the middle of a batch."""
        return any(shard.broken for shard in self._shards)

    @property
    def num_entries(self) -> int:
        return sum(shard.num_entries for shard in self._shards)

    # The shards as a whole

    def grow(self, num_rows: int) -> None:
        """Room for this number of rows, and for some more: ids arrive a few at a time."""
        if num_rows > min(shard.num_rows for shard in self._shards):  # a shard may have failed where others have not
            room = min(MAX_ROWS, max(1024, num_rows + num_rows // 4))
            self._on_all(lambda shard, lane: shard.resize(lane, room))

    def fork(self) -> HeldShards:
        """An immutable version of the shards that have rows."""
        owners = self._table.owners
        having, numbers = np.unique(owners, return_inverse=True)
        versions = [self._shards[number].run(self._shards[number].fork, brief=True) for number in having]
        spaces = tuple(shard.device.space for shard in self._shards)
        return HeldShards(tuple(versions), numbers.reshape(owners.shape), spaces)

    def statistics(self) -> dict[str, dict[str, Any]]:
        counts = self._table.counts()
        found = self._on_all(lambda shard, lane: shard.statistics(lane))
        return {s.name: f | {"buckets": c} for s, f, c in zip(self._shards, found, counts, strict=True)}

    def memory(self) -> dict[str, int]:
        sizes = self._on_all(lambda shard, lane: int(shard.kernels.nbytes(lane, shard.state)))
        return {shard.name: size for shard, size in zip(self._shards, sizes, strict=True)}

    def check(self) -> None:
        """Check every rule of every shard, and that rows are where the table says; AssertionError otherwise."""
        self._on_all(lambda shard, lane: shard.kernels.check(lane, shard.state))
        for number, shard in enumerate(self._shards):
            keys, _ = shard.run(partial(_rows_in, shard, self._table.owners != number))
            assert keys.size == 0, f"the shard {shard.name} has rows of another shard"

    def release(self) -> None:
        """Release the memory of the devices."""
        for shard in self._shards:
            shard.release()

    # Batches

    def apply(self, part: Part, done: Callable[[Change], None]) -> tuple[Change, Mapping[str, str]]:
        """Apply a batch as a whole, or raise and change nothing.

        Returns the total change of all shards, and the path of each. `done` is called once, when the batch is certain.
        """
        self._lacking.clear()
        if not part.size:
            done(Change())
            return Change(), {}
        only = self._only
        if only is None:
            return self._apply_split(part, done)
        try:
            change = only.apply(part, done)
        except MemoryError:
            self._lacking.add(self._shards.index(only))
            raise
        return change, {only.name: change.path}

    def _apply_split(self, part: Part, done: Callable[[Change], None]) -> tuple[Change, Mapping[str, str]]:
        parts, self_loops = self._split(part)
        total = Change()

        def finished(changes: Changes) -> None:
            nonlocal total
            total = _total(changes, self_loops)
            done(total)

        changes = self._apply_to_several(parts, finished)
        self._observe(parts)
        return total, {s.name: c.path for s, c in zip(self._shards, changes, strict=True) if c is not None}

    def _apply_to_several(self, parts: Sequence[Part | None], done: Callable[[Changes], None]) -> Changes:
        """In two phases. Small parts are handled by the calling thread, one after the other."""
        brief = max((part.size for part in parts if part is not None), default=0) <= _MOST_BRIEF
        plans = self._prepare_all(parts, brief=brief)
        with Interrupts():
            changes = self._commit_all(plans, brief=brief)
            done(changes)
        return changes

    def _prepare_all(self, parts: Sequence[Part | None], *, brief: bool) -> list[Any]:
        control = Control()

        def work(number: int, part: Part, lane: Device) -> Any:
            begun = perf_counter()
            try:
                return self._shards[number].prepare(lane, part, control)
            except MemoryError:
                self._lacking.add(number)
                raise
            finally:
                self._spent[number] = perf_counter() - begun

        working = {number: partial(work, number, part) for number, part in enumerate(parts) if part is not None}
        return self._side_by_side(working, control, brief=brief)

    def _commit_all(self, plans: Sequence[Any], *, brief: bool) -> Changes:
        def work(number: int, plan: Any, lane: Device) -> Change:
            begun = perf_counter()
            change = self._shards[number].commit(lane, plan)
            self._spent[number] += perf_counter() - begun
            return change

        working = {number: partial(work, number, plan) for number, plan in enumerate(plans) if plan is not None}
        try:
            return self._side_by_side(working, None, brief=brief)
        except BaseException:  # some shards may have committed
            for number in working:
                self._shards[number].broken = True
            raise

    def _side_by_side(
        self, working: Mapping[int, Callable[[Device], Any]], control: Control | None, *, brief: bool
    ) -> list[Any]:
        """The results of work in the lanes of some shards, by number; None for the others.

        With a control the first error, or Ctrl-C, stops the others. Without one all come to their end first.
        """
        found: list[Any] = [None] * len(self._shards)
        if brief:
            for number, work in working.items():
                found[number] = self._shards[number].run(work, brief=True)
            return found
        queued = [self._shards[number].queued(work) for number, work in working.items()]
        if control is None:
            futures = [lane.submit(one) for lane, one in queued]
            wait(futures)
            results = [future.result() for future in futures]
        else:
            results = run_all(queued, control)
        for number, result in zip(working, results, strict=True):
            found[number] = result
        return found

    def _split(self, part: Part) -> tuple[list[Part | None], int]:
        """The part of a batch for each shard, None if it is empty; and the number of dropped self-loops."""
        keys, deletes, weights, self_loops = part.entries, part.deletes, part.weights, 0
        if isinstance(keys, Pairs):
            keys, deletes, weights, self_loops = entries_of(keys, deletes, weights, settings().threads)
        owned = by_owner(keys, self._table.owners, len(self._shards), threads=settings().threads)
        return [_part(places, keys, deletes, weights) for places in owned], self_loops

    # Shares

    def settle(self) -> bool:
        """Move buckets if the measured rates show that it pays. Returns whether any moved."""
        balance = self._balance
        if balance is None or not balance.is_time:
            return False
        weights = balance.wanted(self._table.counts(), self.num_entries)
        if weights is None:
            return False
        try:
            return self.move(weights, hysteresis=HYSTERESIS) > 0
        except MemoryError:  # the batch itself is applied; the shares stay as they are
            return False

    def even_out(self) -> int:
        """Move buckets by the rates seen so far, or by the nominal speeds; returns how many moved."""
        weights = None
        if self._balance is not None:
            weights = self._balance.wanted(self._table.counts(), self.num_entries)
        if weights is None:
            weights = first_weights([shard.device.speed for shard in self._shards])
            if self._balance is not None:
                weights = self._balance.within_limits(weights, self.num_entries)
        return self.move(weights)

    def relieve(self) -> bool:
        """After a batch for which devices had no memory: move some of their rows to others, if shares are automatic.

        Returns whether any moved, so that the batch may find room now.
        """
        lacking, self._lacking = self._lacking, set()
        balance, counts = self._balance, self._table.counts()
        if balance is None or not lacking:
            return False
        full = {self._shards[number].device.space for number in lacking}
        for number, shard in enumerate(self._shards):
            if shard.device.space in full:
                balance.limit(number, counts[number], self.num_entries)
        receivers = {n: shard.device.speed for n, shard in enumerate(self._shards) if n not in balance.limited}
        wanted = relieved(counts, lacking, receivers)
        moved = wanted is not None and self._move_in_steps(wanted)
        for number in balance.limited:
            balance.limit(number, self._table.counts()[number], self.num_entries)
        return moved

    def move(self, weights: Sequence[float], *, hysteresis: float = 0.0) -> int:
        """Give the shards these shares of the buckets, all or nothing; returns how many buckets moved."""
        table = self._table.copy()
        moves = table.change(weights, hysteresis=hysteresis)
        if moves:
            self._carry_out(moves, table)
        return len(moves)

    def _move_in_steps(self, wanted: Sequence[int]) -> bool:
        """Move fewer buckets at a time where there is no memory for all; whether any moved.

        Rows that leave a device are deleted there, and that needs memory.
        """
        moves = self._table.copy().change(wanted, hysteresis=0.0)
        moved, step = 0, len(moves)
        while moved < len(moves) and step:
            try:
                some = moves[moved : moved + step]
                self._carry_out(some, self._table.moved(some))
                moved += step
            except MemoryError:
                step //= 8
        return moved > 0

    def _carry_out(self, moves: Sequence[Move], table: ShareTable) -> None:
        """Move buckets between shards; afterwards the table is the new one."""
        try:
            self._apply_to_several(self._exchange(moves), lambda changes: self._share(table))
        finally:
            self._lacking.clear()  # it is not a batch

    def _exchange(self, moves: Sequence[Move]) -> list[Part | None]:
        """For every shard, the rows to insert and the rows to delete."""
        receivers: Int64Array = np.zeros(NUM_BUCKETS, np.int64)  # buckets that stay send no rows
        leaving = np.zeros((len(self._shards), NUM_BUCKETS), bool)
        for bucket, giver, receiver in moves:
            receivers[bucket] = receiver
            leaving[giver, bucket] = True
        numbered = dict(enumerate(self._shards))
        given = self._side_by_side(
            {number: partial(_rows_in, shard, leaving[number]) for number, shard in numbered.items()},
            Control(),
            brief=False,
        )
        keys = np.concatenate([k for k, _ in given])
        weights = None if given[0][1] is None else np.concatenate([w for _, w in given])
        parts = []
        arrivals = by_owner(keys, receivers, len(self._shards), threads=settings().threads)
        for arriving, (own_keys, own_weights) in zip(arrivals, given, strict=True):
            together = np.concatenate([keys[arriving], own_keys])
            values = None if weights is None else np.concatenate([weights[arriving], own_weights])
            deletes = np.arange(together.size) >= arriving.size
            parts.append(Part(together, deletes, values) if together.size else None)
        return parts

    def _share(self, table: ShareTable) -> None:
        owners = [number for number, count in enumerate(table.counts()) if count]
        self._table = table
        self._only = self._shards[owners[0]] if len(owners) == 1 else None  # the shard that has all rows

    def _observe(self, parts: Sequence[Part | None]) -> None:
        """Record the rates of a batch. A batch larger than the rest of the store does not count: it loads the store."""
        sizes = [0 if part is None else part.size for part in parts]
        if self._balance is not None and sum(sizes) <= self.num_entries:
            self._balance.observe(sizes, self._spent)

    def _on_all(self, work: Callable[[Shard, Device], Any]) -> list[Any]:
        working = {number: partial(work, shard) for number, shard in enumerate(self._shards)}
        return self._side_by_side(working, Control(), brief=False)


def _total(changes: Changes, self_loops: int) -> Change:
    """The total change of all shards. Paths and seconds differ between shards and are left out."""
    there = [change for change in changes if change is not None]
    return Change(
        inserted=sum(change.inserted for change in there),
        deleted=sum(change.deleted for change in there),
        changed=sum(change.changed for change in there),
        self_loops=self_loops,
    )


def _rows_in(shard: Shard, buckets: BoolArray, lane: Device) -> tuple[AnyArray, FloatArray | None]:
    return shard.kernels.rows_in(lane, shard.state, buckets)


def _part(places: Int64Array, keys: AnyArray, deletes: Any, weights: FloatArray | None) -> Part | None:
    if not places.size:
        return None
    return Part(
        keys[places], None if deletes is None else deletes[places], None if weights is None else weights[places]
    )


def _names(devices: Sequence[Device]) -> list[str]:
    """A name for each shard: that of its device, with a number if the device has several."""
    seen: Counter[str] = Counter()
    names = []
    for device in devices:
        seen[device.name] += 1
        names.append(device.name if seen[device.name] == 1 else f"{device.name}#{seen[device.name]}")
    return names
