"""The map from original ids to positions, which grows as ids arrive.

With `num_vertices` given the ids are the positions. Without, an id gets the next free position when an insertion first
names it, and new ids that arrive together get theirs in ascending order. The map is native (`cpu/store/id_map.py`).

A batch first locates its ids (`admit`, which changes nothing), and adds the new ones only if it succeeds (`keep`, which
cannot fail). No id is ever removed or moved, so readers may look up ids meanwhile. An older snapshot has the positions
below its number of vertices.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from graphlode.common.control import Control
from graphlode.common.store import MAX_ROWS
from graphlode.config import settings
from graphlode.cpu.store.id_map import IdArrival, IdMap
from graphlode.errors import InputError
from graphlode.execute.device import Device
from graphlode.execute.devices import cpu
from graphlode.types import AnyArray, BoolArray, Int64Array

UNKNOWN = -1

_MOST_BRIEF = 1 << 14
"""Up to this number of edges, the calling thread locates them alone. More edges use all threads."""

_UNSIGNED: dict[int, np.dtype[Any]] = {4: np.dtype(np.uint32), 8: np.dtype(np.uint64)}  # by the bytes of an id


class Admission(NamedTuple):
    """Positions of both ends of the edges of a batch, as 32-bit integers, and the new ids that `keep` adds."""

    src: AnyArray
    dst: AnyArray
    dropped: int  # deletions of unknown ids, without self-loops; their positions are a pair of zeros
    num_vertices: int
    arrival: IdArrival | None


class VertexIds:
    """The ids of a store."""

    def __init__(self, num_vertices: int | None = None) -> None:
        self._fixed = num_vertices
        self._map = IdMap()
        self._lane = cpu().lane(self)
        self._positions: Int64Array = np.empty(0, np.int64)

    def __len__(self) -> int:
        return len(self._map) if self._fixed is None else self._fixed

    @property
    def fixed(self) -> bool:
        """Whether the ids are 0 .. num_vertices - 1 forever."""
        return self._fixed is not None

    def as_array(self) -> Int64Array | None:
        """The ids in order of arrival, not copied; None if they are the positions."""
        return self._map.names()

    def positions(self, number: int) -> Int64Array:
        """0 .. number - 1, read-only. Kept: the snapshots of a store come and go, and new memory is slow to touch."""
        if self._positions.size < number:
            made = np.arange(max(number, len(self)), dtype=np.int64)
            made.flags.writeable = False
            self._positions = made
        return self._positions[:number]

    def find(self, ids: Int64Array, below: int | None = None) -> Int64Array:
        """The position of each id; UNKNOWN if it is not among the first `below` (None: all)."""
        limit = len(self) if below is None else below
        if self._fixed is not None:
            return np.where((ids >= 0) & (ids < min(limit, self._fixed)), ids, UNKNOWN)
        found: Int64Array = self._map.find(np.ascontiguousarray(ids).ravel(), limit)
        return found.reshape(ids.shape)

    def require(self, ids: AnyArray) -> None:
        """InputError unless every id is one of the fixed ones."""
        # As unsigned numbers, negative ids are large.
        count = len(self)
        if ids.size and int(np.maximum.reduce(ids.view(_UNSIGNED[ids.itemsize]))) >= count:
            outside = ids[(ids < 0) | (ids >= count)]
            where = f"outside 0 .. {count - 1}" if count else "not there: with num_vertices=0 there are none"
            raise InputError(f"vertex {int(outside[0])} is {where}")

    def admit(self, src: AnyArray, dst: AnyArray, gone: BoolArray | Literal[True] | None = None) -> Admission:
        """Positions for the edges of a batch. Unknown ids of those that are not `gone` (True: all are) get one."""
        if src.dtype != dst.dtype:
            src, dst = src.astype(np.int64), dst.astype(np.int64)
        all_gone = gone is True
        mask = None if all_gone or gone is None else np.ascontiguousarray(gone)
        control, brief = Control(), src.size <= _MOST_BRIEF
        threads = 1 if brief else settings().threads

        def located(lane: Device) -> Admission:
            return Admission(*self._map.admit(src, dst, mask, all_gone, MAX_ROWS, threads, control.words))

        found = self._lane.run(located, brief=brief, control=control)
        if found.num_vertices > MAX_ROWS:
            raise InputError(f"the batch would make {found.num_vertices:,} vertices, at most {MAX_ROWS:,} are possible")
        return found

    def keep(self, admission: Admission) -> None:
        """Add the new ids of a batch."""
        if admission.arrival is not None:
            self._map.keep(admission.arrival)

    @property
    def nbytes(self) -> int:
        """Bytes of the table and of the ids in order of arrival."""
        return int(self._map.nbytes)
