"""The shards of a store: who owns which rows, and batches that all shards take or none.

Rows belong to shards by the share table: a row falls into one of 1,024 slots, and a slot has one owner. A batch is split
by the owner of each entry's row and applied in two phases, on all devices side by side. Preparing may fail and changes
nothing that anybody sees; if every shard has prepared, all commit, which cannot fail. Ctrl-C is heard while a batch is
prepared, and after it is committed: it never breaks a batch in two.

Slots move between shards the same way: the receiver inserts what the giver deletes, prepared by both before either
commits. They do so where that makes batches quicker (`graph/balance.py`), and where the memory of a device is full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from functools import partial
from time import perf_counter
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from graphlode.common.buckets import NUM_SLOTS
from graphlode.common.control import Control
from graphlode.common.store import MAX_ROWS, Change, Pairs
from graphlode.config import settings
from graphlode.cpu.store.split import by_owner
from graphlode.errors import InputError, StateError
from graphlode.execute.device import Device
from graphlode.execute.shares import HYSTERESIS, ShareTable
from graphlode.execute.wait import uninterrupted, wait_all
from graphlode.graph.store.balance import Balance, first_weights
from graphlode.graph.store.relief import fewer_slots
from graphlode.graph.store.shard import HeldShards, Part, Prepared, Shard, Strategy
from graphlode.types import AnyArray, BoolArray, FloatArray, Int64Array

Changes = list[Change | None]
"""What a batch did to each shard; None where it had nothing to do."""

# With these a batch is refused before anything is written.
_REFUSALS = (InputError, MemoryError, StateError, InterruptedError)


_FOR_EVER = 2**63


class Shards:
    def __init__(
        self,
        devices: Sequence[Device],
        *,
        num_rows: int,
        weighted: bool,
        strategy: Strategy,
        weights: Sequence[float],
        automatic: bool,
    ) -> None:
        names = _names(devices)
        self._shards = [
            Shard(name, device, num_rows=num_rows, weighted=weighted, strategy=strategy)
            for name, device in zip(names, devices, strict=True)
        ]
        self._paths: dict[tuple[str, str], Mapping[str, str]] = {}  # of batches that one shard took, by its name
        self._share(ShareTable(weights))
        self._balance = Balance([device.speed for device in devices]) if automatic and len(devices) > 1 else None
        self.settles = False  # whether `settle` may have something to do
        # Batches that may pass before the balance, if there is one, notes one, and that will have passed then.
        self._unseen = self._passed = _FOR_EVER if self._balance is None else 0
        self._watched: tuple[float, int, float] | None = None  # since when, its size and seconds: a batch to be noted
        self._lacking: set[int] = set()  # shards whose device had no memory for the last batch
        self.broken = False
        self._everywhere(lambda shard: shard.create())

    def __len__(self) -> int:
        return len(self._shards)

    def __iter__(self) -> Any:
        return iter(self._shards)

    @property
    def table(self) -> ShareTable:
        """Who owns which slot; replaced, never changed, when slots move."""
        return self._table

    def grow(self, num_rows: int) -> None:
        """Room for so many rows, and some more: ids arrive a few at a time."""
        if num_rows > min(shard.num_rows for shard in self._shards):  # one may have failed where others have not
            room = min(MAX_ROWS, max(1024, num_rows + num_rows // 4))
            self._everywhere(lambda shard: shard.resize(room))

    def fork(self) -> HeldShards:
        """An immutable version of those shards that have rows."""
        self.wait()  # there is something to wait for only if somebody has interrupted a batch while it was written
        owners = self._table.owners
        having, numbers = np.unique(owners, return_inverse=True)
        versions = self._on_all([self._shards[number] for number in having], lambda shard: shard.fork())
        spaces = tuple(shard.device.space for shard in self._shards)
        return HeldShards(tuple(versions), numbers.reshape(owners.shape), spaces)

    def statistics(self) -> dict[str, dict[str, Any]]:
        counts = self._table.counts()
        found = self._everywhere(lambda shard: shard.statistics())
        return {s.name: f | {"slots": c} for s, f, c in zip(self._shards, found, counts, strict=True)}

    def memory(self) -> dict[str, int]:
        sizes = self._everywhere(lambda shard: int(shard.kernels.nbytes(shard.device, shard.state)))
        return {shard.name: size for shard, size in zip(self._shards, sizes, strict=True)}

    def check(self) -> None:
        """Every invariant of every shard, and that rows are where the table says; AssertionError otherwise."""
        self._everywhere(lambda shard: shard.kernels.check(shard.device, shard.state))
        for number, shard in enumerate(self._shards):
            keys, _ = self._on(shard, partial(_rows_in, slots=self._table.owners != number)).result()
            assert keys.size == 0, f"the shard {shard.name} has rows of another shard"

    # Batches

    def apply(
        self,
        keys: AnyArray | Pairs,
        deletes: BoolArray | Literal[True] | None,
        weights: FloatArray | None,
        done: Callable[[Change], None],
        begun: Any = None,
    ) -> tuple[Change, Mapping[str, str]]:
        """All of it or nothing: what it did to all shards together, and the path that each took. `done` is called once,
        when it is there; nobody else may read it before `wait`. `begun` is what `attempt_quickly` has left to do."""
        only, size, self._watched = self._only, keys.size, None
        if only is None or not size:
            since, is_usual = perf_counter(), self._is_usual(size)
            parts = self._split(keys, deletes, weights)
            changes = self._commit(parts, done)
            if is_usual:
                sizes = [0 if part is None else part.keys.size for part in parts]
                self._learn(sizes, changes, perf_counter() - since)
            return _total(changes), self._paths_of(changes)
        if only.is_writing:  # what somebody has interrupted: it may still read what lies ready for a batch
            self.wait()
        part = Part(keys, deletes, weights)
        try:
            if self._unseen:
                self._unseen -= 1
                change = self._apply_alone(only, part, done, begun)
            else:
                since, is_usual = perf_counter(), not only.has_gaps and self._is_usual(size)
                change = self._apply_alone(only, part, done, begun)
                if is_usual:
                    self._watched = since, size, change.seconds
        except MemoryError:
            self._lacking = {self._shards.index(only)}
            raise
        return change, self.paths_of_one(only, change)

    def attempt_quickly(
        self, rows: Any, neighbors: Any, size: int, gone: Any, stream: int | None, done: Callable[[Change], None]
    ) -> Any:
        """Pairs on the device of `quick`, the shard that takes all: the change, something for `apply`, or None."""
        quick = self.quick
        if quick is None or not self._unseen or size > quick.most_quick or quick.has_gaps:
            return None
        with uninterrupted():
            try:
                found = quick.attempt_quickly(rows, neighbors, size, gone, stream)
            except BaseException as error:
                self._refused(error)
                if isinstance(error, MemoryError):
                    self._lacking = {self._shards.index(quick)}
                raise
            if type(found) is Change:
                self._unseen -= 1
                done(found)
        return found

    def paths_of_one(self, only: Shard, change: Change) -> Mapping[str, str]:
        """The path of a batch that one shard has taken."""
        paths = self._paths.get((only.name, change.path))
        if paths is None:
            paths = self._paths[only.name, change.path] = MappingProxyType({only.name: change.path})
        return paths

    def wait(self) -> None:
        """Until the last batch is written, what it does being known before. Then there is time to get ready for others."""
        if self._only is None:
            return
        watched, self._watched = self._watched, None
        try:
            seconds = self._only.wait()
            if watched is not None:
                self._note(*watched, seconds)
            self._only.get_ready()
        except Exception:  # of the device; who interrupts a wait does not break it
            self.broken = True
            raise

    def settle(self) -> bool:
        """Move slots if the batches seen so far say that it is worth while; whether any moved."""
        self.settles = False
        weights = self._wanted()
        if weights is None:
            return False
        try:
            return self.move(weights) > 0
        except MemoryError:  # the batch itself is there; the shares stay as they are
            return False

    def even_out(self) -> int:
        """As `settle`, now and whatever it costs; by the devices' nominal speeds if too little was seen."""
        weights = self._wanted(now=True)
        if weights is None:
            weights = first_weights([shard.device.speed for shard in self._shards])
            if self._balance is not None:
                weights = self._balance.within_limits(weights, self._num_entries)
        return self.move(weights)

    def relieve(self) -> bool:
        """After a batch for which devices had no memory, if shares are automatic: some of their rows go to others. Whether any
        did, so that the batch may find room now."""
        lacking, self._lacking = self._lacking, set()
        balance, counts = self._balance, self._table.counts()
        if balance is None or not lacking:
            return False
        full = {self._shards[number].device.space for number in lacking}
        for number, shard in enumerate(self._shards):
            if shard.device.space in full:
                balance.limit(number, counts[number], self._num_entries)
        receivers = {
            number: shard.device.speed for number, shard in enumerate(self._shards) if number not in balance.limited
        }
        wanted = fewer_slots(counts, lacking, receivers)
        moved = wanted is not None and self._move_in_steps(wanted)
        for number in balance.limited:
            balance.limit(number, self._table.counts()[number], self._num_entries)
        return moved

    def _move_in_steps(self, wanted: Sequence[int]) -> bool:
        """Few slots at a time if there is no memory for more: what leaves a device is deleted there, which takes some. Whether
        any moved."""
        moves = self._table.copy().change(wanted, hysteresis=0.0)
        done, size = 0, len(moves)
        while done < len(moves) and size:
            try:
                step = moves[done : done + size]
                self._carry_out(step, self._table.moved(step))
                done += size
            except MemoryError:
                size //= 8
        return done > 0

    def release(self) -> None:
        """Let go of what the devices hold."""
        for shard in self._shards:
            shard.state = None

    def move(self, weights: Sequence[float], *, hysteresis: float = HYSTERESIS) -> int:
        """Give the shards these shares of the slots; returns how many slots moved. All or nothing."""
        table = self._table.copy()
        moves = table.change(weights, hysteresis=hysteresis)
        if moves:
            self._carry_out(moves, table)
        return len(moves)

    def _carry_out(self, moves: Sequence[tuple[int, int, int]], table: ShareTable) -> None:
        """Slots from one shard to another each, after which the table is this one."""
        begun = perf_counter()
        try:
            parts = self._exchange(moves)
            changes = self._commit(parts, lambda change: self._share(table))
        finally:
            self._lacking.clear()  # it is no batch
        if self._balance is not None:
            self._balance.moved(_total(changes).inserted, perf_counter() - begun)

    def _share(self, table: ShareTable) -> None:
        owners = [number for number, count in enumerate(table.counts()) if count]
        self._table = table
        self._only = self._shards[owners[0]] if len(owners) == 1 else None
        # Whether a batch may come as pairs of positions that nobody has checked: if one shard has all, and takes them.
        self.takes_pairs = self._only is not None and self._only.takes_pairs
        self.takes_resident = self._only is not None and self._only.takes_resident
        self.quick = self._only if self._only is not None and self._only.is_quick else None

    def _wanted(self, *, now: bool = False) -> list[float] | None:
        if self._balance is None or not (now or self._balance.is_time):
            return None
        return self._balance.wanted(self._table.counts(), self._num_entries, now=now)

    @property
    def _num_entries(self) -> int:
        return sum(shard.kernels.num_entries(shard.state) for shard in self._shards)

    def _is_usual(self, size: int) -> bool:
        """Whether a batch tells something of those to come. One that is larger than all that is there loads the store: it
        takes another path, and meets whatever is compiled or measured at first use."""
        return self._balance is None or size <= self._num_entries

    def _learn(self, updates: Sequence[int], changes: Changes, wall: float) -> None:
        if self._balance is not None:
            self._balance.observe(updates, [0.0 if change is None else change.seconds for change in changes], wall)
            self.settles = self._balance.is_time

    def _note(self, since: float, size: int, seconds: float, waited: float) -> None:
        """One of several batches that a shard takes alone."""
        balance, only = self._balance, self._only
        assert balance is not None and only is not None
        wall = perf_counter() - since
        balance.note(self._shards.index(only), size, seconds + waited, wall, passed=self._passed)
        self._passed = self._unseen = balance.unseen
        self.settles = balance.is_time

    def _split(self, keys: Any, deletes: Any, weights: FloatArray | None) -> list[Part | None]:
        if not keys.size:
            return [None] * len(self._shards)
        owned = by_owner(keys, self._table.owners, len(self._shards), threads=settings().threads)
        return [_part(places, keys, deletes, weights) for places in owned]

    def _exchange(self, moves: Sequence[tuple[int, int, int]]) -> list[Part | None]:
        """What every shard has to take in and to give away."""
        receivers: Int64Array = np.zeros(NUM_SLOTS, np.int64)  # of slots that stay nothing is given
        leaving = np.zeros((len(self._shards), NUM_SLOTS), bool)
        for slot, giver, receiver in moves:
            receivers[slot] = receiver
            leaving[giver, slot] = True
        given = wait_all(
            [
                self._on(shard, partial(_rows_in, slots=slots))
                for shard, slots in zip(self._shards, leaving, strict=True)
            ],
            Control(),
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

    def _paths_of(self, changes: Changes) -> Mapping[str, str]:
        return {s.name: c.path for s, c in zip(self._shards, changes, strict=True) if c is not None}

    def _commit(self, parts: Sequence[Part | None], done: Callable[[Change], None]) -> Changes:
        """Two phases. Parts for devices far away are handed to their workers, small ones near by are done meanwhile."""
        control = Control()
        changes: Changes = [None] * len(parts)
        working = {number: part for number, part in enumerate(parts) if part is not None}
        near = {number: at for number, part in working.items() if (at := self._shards[number].preparing_nearby(part))}
        prepared = self._prepare_all(working, near, control)
        with uninterrupted():
            self._commit_all(prepared, near, changes)
            done(_total(changes))
        return changes

    def _apply_alone(self, shard: Shard, part: Part, done: Callable[[Change], None], begun: Any) -> Change:
        """A batch for the only shard with rows, in one go: whole or not at all is for its kernels to see to."""
        if shard.attempts:
            with uninterrupted():
                try:
                    begun = shard.attempt(part) if begun is None else begun
                    change = begun if isinstance(begun, Change) else shard.apply_here(part, begun)
                except BaseException as error:
                    self._refused(error)
                    raise
                if change is not None:
                    done(change)
                    return change
        elif (near := shard.nearby(part)) is not None:
            prepared = shard.prepare(part, Control(), near)
            with uninterrupted():
                change = self._commit_part(shard, prepared)
                done(change)
            return change
        return self._apply_on_worker(shard, part, begun, done)

    def _apply_on_worker(self, shard: Shard, part: Part, begun: Any, done: Callable[[Change], None]) -> Change:
        control = Control()

        def both(shard: Shard) -> Change:
            if not shard.attempts:
                change = self._commit_part(shard, shard.prepare(part, control))
            else:
                try:
                    change = shard.apply(part, control, begun)
                except BaseException as error:
                    self._refused(error)
                    raise
            done(change)
            return change

        found: Change = wait_all([self._on(shard, both)], control)[0]
        return found

    def _refused(self, error: BaseException) -> None:
        """What prepares and commits in one fails with nothing changed, unless the device itself does."""
        self.broken = self.broken or not isinstance(error, _REFUSALS)

    def _prepare_all(
        self, working: Mapping[int, Part], near: Mapping[int, Device], control: Control
    ) -> dict[int, Prepared]:
        """Every part prepared; if one cannot be, the others stop and nothing has happened."""
        far = {
            number: self._on(self._shards[number], partial(self._prepare, number=number, part=part, control=control))
            for number, part in working.items()
            if number not in near
        }
        try:
            prepared = {
                number: self._prepare(self._shards[number], number, working[number], control, at)
                for number, at in near.items()
            }
        except BaseException:
            control.stop()
            wait(far.values())
            raise
        if far:
            prepared |= dict(zip(far, wait_all(list(far.values()), control), strict=True))
        return prepared

    def _prepare(
        self, shard: Shard, number: int, part: Part, control: Control, device: Device | None = None
    ) -> Prepared:
        try:
            return shard.prepare(part, control, device)
        except MemoryError:
            self._lacking.add(number)
            raise

    def _commit_all(self, prepared: Mapping[int, Prepared], near: Mapping[int, Device], changes: Changes) -> None:
        far = {
            number: self._on(self._shards[number], partial(self._commit_part, prepared=plan))
            for number, plan in prepared.items()
            if number not in near
        }
        for number in near:
            changes[number] = self._commit_part(self._shards[number], prepared[number])
        if far:
            wait(far.values())
        for number, future in far.items():
            changes[number] = future.result()

    def _commit_part(self, shard: Shard, prepared: Prepared) -> Change:
        """A commit does not fail. If a device breaks all the same, nobody may take what is left for a graph."""
        try:
            return shard.commit(prepared)
        except BaseException:
            self.broken = True
            raise

    def _on(self, shard: Shard, work: Callable[[Shard], Any]) -> Future[Any]:
        return shard.device.submit(lambda: work(shard))

    def _everywhere(self, work: Callable[[Shard], Any]) -> list[Any]:
        return self._on_all(self._shards, work)

    def _on_all(self, shards: Sequence[Shard], work: Callable[[Shard], Any]) -> list[Any]:
        return wait_all([self._on(shard, work) for shard in shards], Control())


def _total(changes: Changes) -> Change:
    """What a batch did to all shards together; of paths and seconds each has its own."""
    there = [change for change in changes if change is not None]
    return Change(
        inserted=sum(change.inserted for change in there),
        deleted=sum(change.deleted for change in there),
        changed=sum(change.changed for change in there),
        self_loops=sum(change.self_loops for change in there),
    )


def _rows_in(shard: Shard, slots: BoolArray) -> tuple[AnyArray, FloatArray | None]:
    found: tuple[AnyArray, FloatArray | None] = shard.kernels.rows_in(shard.device, shard.state, slots)
    return found


def _part(places: Int64Array, keys: AnyArray, deletes: BoolArray | None, weights: FloatArray | None) -> Part | None:
    if not places.size:
        return None
    return Part(
        keys[places], None if deletes is None else deletes[places], None if weights is None else weights[places]
    )


def _names(devices: Sequence[Device]) -> list[str]:
    """A name for each shard: its device's, numbered where a device has several."""
    seen: Counter[str] = Counter()
    names = []
    for device in devices:
        seen[device.name] += 1
        names.append(device.name if seen[device.name] == 1 else f"{device.name}#{seen[device.name]}")
    return names
