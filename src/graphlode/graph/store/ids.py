"""From original ids to positions, growing as ids arrive.

With `num_vertices` given the ids are the positions. Without, an id gets the next free position when it first arrives,
and new ids that arrive together get theirs in ascending order. Positions are found in a table that is addressed by the
id itself while ids are small and not negative, else in a hash table with linear probing; both answer whole arrays.

A batch asks first (`admit`, which changes nothing) and keeps what it brought only if it succeeds (`keep`, which cannot
fail). Nothing is ever forgotten or moved, so readers may look up while a batch is kept: what an older snapshot knows is
what lies below its number of vertices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.common.store import MAX_ROWS
from graphlode.errors import InputError
from graphlode.types import AnyArray, BoolArray, Int64Array

UNKNOWN = -1

# A direct table may have this many places, or so many per id that it holds.
_SMALL = 1 << 16
_PLACES_PER_ID = 8

_UNSIGNED: dict[int, np.dtype[Any]] = {4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}  # by the bytes of an id


@dataclass(frozen=True)
class Admission:
    """Positions of the ids of a batch, and what must be kept so that they are true."""

    positions: Int64Array  # UNKNOWN for ids that are neither there nor brought
    new_ids: Int64Array
    ids: Int64Array  # a buffer with room for the new ids
    table: _Table | None  # a larger table that knows the old ids already; None: the present one has room
    num_vertices: int


class VertexIds:
    """The ids of a store."""

    def __init__(self, num_vertices: int | None = None) -> None:
        self._fixed = num_vertices is not None
        self._plain = True  # whether the ids are the positions, so far
        self._count = num_vertices or 0
        self._ids: Int64Array = np.empty(0, np.int64)
        self._table: _Table = _DirectTable(1024)
        self._positions: Int64Array = np.empty(0, np.int64)

    def __len__(self) -> int:
        return self._count

    @property
    def fixed(self) -> bool:
        """Whether the ids are 0 .. num_vertices - 1 for ever."""
        return self._fixed

    def as_array(self) -> Int64Array | None:
        """The ids in order of arrival, not copied; None if they are the positions."""
        return None if self._plain else self._ids[: self._count]

    def positions(self, number: int) -> Int64Array:
        """0 .. number - 1, read-only. Kept: the snapshots of a store come and go, and new memory is slow to touch."""
        if self._positions.size < number:
            made = np.arange(max(number, self._count), dtype=np.int64)
            made.flags.writeable = False
            self._positions = made
        return self._positions[:number]

    def find(self, ids: Int64Array, below: int | None = None) -> Int64Array:
        """The position of each id; UNKNOWN if it is not among the first `below` (None: all)."""
        limit = self._count if below is None else below
        if not self._fixed and below is None:
            return self._table.find(ids)
        found = ids if self._fixed else self._table.find(ids)
        return np.where((found >= 0) & (found < limit), found, UNKNOWN)

    def require(self, ids: AnyArray) -> None:
        """InputError unless every id is one of the fixed ones."""
        # Without signs, what is negative is large.
        if ids.size and int(np.maximum.reduce(ids.view(_UNSIGNED[ids.itemsize]))) >= self._count:
            outside = ids[(ids < 0) | (ids >= self._count)]
            where = (
                f"outside 0 .. {self._count - 1}" if self._count else "not there: with num_vertices=0 there are none"
            )
            raise InputError(f"vertex {int(outside[0])} is {where}")

    def admit(self, ids: Int64Array, brings: BoolArray | None = None) -> Admission:
        """Positions for the ids of a batch; an unknown id gets one if it is brought (None: all are)."""
        if self._fixed:
            self.require(ids)
            return Admission(ids, ids[:0], self._ids, None, self._count)
        positions = self.find(ids)
        missing = positions == UNKNOWN
        if not missing.any():
            return Admission(positions, ids[:0], self._ids, None, self._count)
        brought = missing if brings is None else missing & brings
        new_ids, order = _distinct(ids[brought])
        num_vertices = self._count + new_ids.size
        if num_vertices > MAX_ROWS:
            raise InputError(f"the batch would make {num_vertices:,} vertices, at most {MAX_ROWS:,} are possible")
        positions[brought] = self._count + order
        if brings is not None and new_ids.size:  # what is not brought here may be brought elsewhere in the batch
            rest = np.flatnonzero(missing & ~brings)
            at = np.minimum(np.searchsorted(new_ids, ids[rest]), new_ids.size - 1)
            positions[rest] = np.where(new_ids[at] == ids[rest], self._count + at, UNKNOWN)
        buffer = _with_room(self._ids, self._count, num_vertices)
        table = self._table.larger_for(new_ids, self._ids[: self._count])
        return Admission(positions, new_ids, buffer, table, num_vertices)

    def keep(self, admission: Admission) -> None:
        """Make what a batch brought permanent."""
        if not admission.new_ids.size:
            return
        begin = self._count
        admission.ids[begin : admission.num_vertices] = admission.new_ids
        self._ids = admission.ids
        self._plain &= admission.new_ids[0] == begin and admission.new_ids[-1] == admission.num_vertices - 1
        table = admission.table or self._table
        table.add(admission.new_ids, begin)
        self._table = table
        self._count = admission.num_vertices

    @property
    def nbytes(self) -> int:
        return self._ids.nbytes + (0 if self._fixed else self._table.nbytes)


class _DirectTable:
    """`positions[id]`, for ids that are small and not negative."""

    def __init__(self, places: int) -> None:
        self._positions: AnyArray = np.full(places, UNKNOWN, np.int32)

    @property
    def nbytes(self) -> int:
        return self._positions.nbytes

    def find(self, ids: Int64Array) -> Int64Array:
        inside = (ids >= 0) & (ids < self._positions.size)
        if inside.all():
            return self._positions[ids].astype(np.int64)
        return np.where(inside, self._positions[np.where(inside, ids, 0)], UNKNOWN).astype(np.int64)

    def larger_for(self, new_ids: Int64Array, old_ids: Int64Array) -> _Table | None:
        if not new_ids.size or (new_ids[0] >= 0 and new_ids[-1] < self._positions.size):
            return None
        count, highest = old_ids.size + new_ids.size, int(new_ids[-1])
        larger: _Table
        if new_ids[0] >= 0 and highest < max(_SMALL, _PLACES_PER_ID * count):
            larger = _DirectTable(max(highest + 1, 2 * self._positions.size))
        else:
            larger = _HashTable(count)
        larger.add(old_ids, 0)
        return larger

    def add(self, ids: Int64Array, first: int) -> None:
        self._positions[ids] = np.arange(first, first + ids.size)


class _HashTable:
    """Open addressing with linear probing, at most half full. A place is empty while its position is UNKNOWN."""

    def __init__(self, count: int) -> None:
        places = 1 << max(10, (3 * count).bit_length())
        self._keys: Int64Array = np.zeros(places, np.int64)
        self._positions: AnyArray = np.full(places, UNKNOWN, np.int32)
        self._taken: AnyArray = np.empty(places, np.int32)  # who wrote last, while several want one place

    @property
    def nbytes(self) -> int:
        return self._keys.nbytes + self._positions.nbytes + self._taken.nbytes

    def find(self, ids: Int64Array) -> Int64Array:
        found = np.full(ids.size, UNKNOWN, np.int64)
        open_ = np.arange(ids.size)
        places = self._home(ids)
        while open_.size:
            there = self._positions[places]  # before the keys: who adds writes them first
            same = self._keys[places] == ids[open_]
            found[open_] = np.where(same & (there != UNKNOWN), there, UNKNOWN)
            on = (there != UNKNOWN) & ~same
            open_ = open_[on]
            places = (places[on] + 1) & (self._keys.size - 1)
        return found

    def larger_for(self, new_ids: Int64Array, old_ids: Int64Array) -> _Table | None:
        count = old_ids.size + new_ids.size
        if 2 * count <= self._keys.size:
            return None
        larger = _HashTable(2 * count)
        larger.add(old_ids, 0)
        return larger

    def add(self, ids: Int64Array, first: int) -> None:
        """Ids that are not there yet, each once."""
        waiting = np.arange(ids.size)
        places = self._home(ids)
        while waiting.size:
            free = self._positions[places] == UNKNOWN
            self._taken[places[free]] = waiting[free]
            won = free.copy()
            won[free] = self._taken[places[free]] == waiting[free]
            self._keys[places[won]] = ids[waiting[won]]
            self._positions[places[won]] = first + waiting[won]
            waiting = waiting[~won]
            places = (places[~won] + 1) & (self._keys.size - 1)

    def _home(self, ids: Int64Array) -> AnyArray:
        mixed = ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        shift = np.uint64(64 - (self._keys.size.bit_length() - 1))
        return (mixed >> shift).astype(np.int64)


_Table = _DirectTable | _HashTable


def _distinct(ids: Int64Array) -> tuple[Int64Array, Int64Array]:
    """The different ids, ascending, and which of them each one is; without sorting if they are small."""
    if not ids.size or int(ids.min()) < 0 or int(ids.max()) >= max(_SMALL, _PLACES_PER_ID * ids.size):
        return np.unique(ids, return_inverse=True)
    there = np.zeros(int(ids.max()) + 1, bool)
    there[ids] = True
    distinct = np.flatnonzero(there)
    order = np.empty(there.size, np.int64)
    order[distinct] = np.arange(distinct.size)
    return distinct, order[ids]


def _with_room(ids: Int64Array, used: int, needed: int) -> Int64Array:
    """A buffer of at least `needed` places that begins with the used ones; never the one that snapshots read, if it grows."""
    if needed <= ids.size:
        return ids
    larger = np.empty(max(needed, 2 * ids.size, 1024), np.int64)
    larger[:used] = ids[:used]
    return larger
