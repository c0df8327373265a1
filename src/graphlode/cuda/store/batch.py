"""Buffers of a batch on the device, for planning and writing, and what the host reads from them.

Buffers of batches that are small compared with the shard are kept: allocating them takes longer than such a batch. See
store/store.cuh for their contents.
"""

from __future__ import annotations

from collections import deque
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from graphlode.common.store import LEAF_SLOTS, PAGE_SLOTS, Change
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.store.groups import RECORD_WORDS
from graphlode.cuda.store.input import INFO_WORDS, MOST_SMALL, Staging
from graphlode.cuda.store.sort import space_words
from graphlode.types import AnyArray, Int64Array

EFFECT_TILE = 1024  # as in store/store.cuh

# Words of packed_info in store/store.cuh.
INFO = (
    *("bad_row", "inserted", "deleted", "changed", "num_leaves", "num_suspects"),
    *("num_narrow", "num_wide", "num_flagged", "window_leaves", "self_loops"),
    *("tickets", "any_crowded", "num_fresh", "num_replaced", "any_joined"),
)

BAD_ROW, FLAGGED, SELF_LOOPS = (INFO.index(name) for name in ("bad_row", "num_flagged", "self_loops"))

# Fields of packed_batch in store/store.cuh, before the information: bytes per update.
_FIELDS = {
    **{"keys": 8, "weights": 8, "effects": 8, "tile_effects": 8, "leaves": 4, "kinds": 1},
    **{"tasks": 16, "suspects": 4, "narrow": 8, "wide": 8, "flagged": 4 * RECORD_WORDS},
    **{"sorted": 8, "places": 4, "space": 0},
}
# The largest number of these for each page.
_BY_PAGE = {"suspects": 1, "wide": 8, "flagged": 1}
_ONLY_PLANNED = (
    *("keys", "weights", "tile_effects", "kinds"),
    *("tasks", "suspects", "narrow", "wide", "flagged"),
)


class _Layout(NamedTuple):
    """The offset of each field in bytes, after the information, by name and in order; and the total size in words."""

    starts: dict[str, int]
    fields: AnyArray
    words: int


@lru_cache
def _layout(capacity: int, pages: int, weighted: bool, planned: bool) -> _Layout:
    """The layout of buffers for `capacity` updates."""
    sizes = {name: width * capacity for name, width in _FIELDS.items()}
    sizes["tile_effects"] = 8 * (capacity // EFFECT_TILE + 2)
    for name, per_page in _BY_PAGE.items():
        sizes[name] = _FIELDS[name] * min(capacity, per_page * pages)
    if not weighted:
        sizes["weights"] = sizes["places"] = 0
    if not planned:
        sizes |= dict.fromkeys(_ONLY_PLANNED, 0)
    if capacity > MOST_SMALL or not planned:
        sizes["space"] = 4 * space_words(capacity)
    else:
        sizes["sorted"] = sizes["places"] = 0
    starts, end = {}, 4 * INFO_WORDS
    for name, size in sizes.items():
        end = -(-end // 256) * 256
        starts[name] = end
        end += size
    return _Layout(starts, np.array(list(starts.values()), np.uint64), -(-end // 8))


class Described(NamedTuple):
    """The struct packed_batch on the device, for buffers at the address `base` with this layout."""

    base: int
    layout: _Layout
    struct: Any


class Descriptions:
    """The structs of recent buffers. The same memory is often allocated again, and then nothing has to be written."""

    _MOST = 4  # a batch has ended long before its struct is overwritten

    def __init__(self) -> None:
        self._known: deque[Described] = deque(maxlen=self._MOST)

    def describe(self, device: KernelDevice, staging: Staging, base: int, layout: _Layout) -> Any:
        """The struct of buffers at the address `base`."""
        for known in self._known:
            if known.base == base and known.layout is layout:
                return known.struct
        fields: AnyArray = np.empty(layout.fields.size + 3, np.uint64)
        np.add(layout.fields, np.uint64(base), out=fields[:-3])
        fields[-3:] = base, staging.reported_at, staging.counted_at
        if len(self._known) < self._MOST:
            struct = device.asarray(fields)
        else:
            struct = self._known[0].struct
            device.update(struct, 0, fields)
        self._known.append(Described(base, layout, struct))
        return struct


class Buffers:
    """Room for `capacity` updates, in one allocation; `described` is the struct packed_batch."""

    def __init__(
        self,
        device: KernelDevice,
        staging: Staging,
        capacity: int,
        *,
        pages: int,
        weighted: bool,
        planned: bool,
        descriptions: Descriptions,
    ) -> None:
        self.capacity, self.pages = capacity, pages
        self._layout = _layout(capacity, pages, weighted, planned)
        self._device = device
        with device.current():
            self._memory, begins = device.allocate(8 * self._layout.words)
        self.described = descriptions.describe(device, staging, begins, self._layout)

    @property
    def nbytes(self) -> int:
        return 8 * self._layout.words

    @property
    def info(self) -> Any:
        return self._words[: INFO_WORDS // 2].view(np.uint32)

    def view(self, name: str, dtype: Any, count: int) -> Any:
        first = self._layout.starts[name] // 8
        size = np.dtype(dtype).itemsize * count
        return self._words[first : first - (-size // 8)].view(dtype)[:count]

    @property
    def _words(self) -> Any:
        return self._device.words_in(self._memory, self._layout.words)


def read_info(device: KernelDevice, buffers: Buffers) -> dict[str, int]:
    """The result of planning. A batch reads from the device only here."""
    return named_info(device.get(buffers.info).tolist())


def change_of(words: list[int], num_fresh: int, seconds: float) -> Change:
    """The effect of a batch in place, from the words of its information. It filled `num_fresh` fresh pages."""
    _, inserted, deleted, changed, leaves, _, narrow, wide, _, window_leaves, self_loops, *_ = words
    slots = LEAF_SLOTS * (leaves + window_leaves) + PAGE_SLOTS * num_fresh
    return Change(inserted, deleted, changed, "in place", slots, narrow + wide + num_fresh, seconds, self_loops)


def named_info(words: list[int]) -> dict[str, int]:
    return dict(zip(INFO, words, strict=True))


def read_flagged(device: KernelDevice, buffers: Buffers, count: int) -> Int64Array:
    """The records of flagged pages, in the order of their positions."""
    words = device.get(buffers.view("flagged", np.uint32, count * RECORD_WORDS))
    records: Int64Array = words.reshape(-1, RECORD_WORDS).astype(np.int64)
    return records[np.argsort(records[:, 0])]


def window_bytes(leaves: int, *, weighted: bool) -> int:
    """Shared memory of a window, as in store/write.cuh, rounded up to whole vectors."""
    return -(-(leaves * LEAF_SLOTS * (16 if weighted else 8) + 4 * (leaves + 4)) // 16) * 16
