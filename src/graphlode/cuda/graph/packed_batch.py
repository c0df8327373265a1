"""A batch of updates on the device: put into order there, in buffers that batches share.

The smallest batches are sorted by the kernel that plans them; larger ones in tiles that are then merged all at once;
the largest by the device-wide sort of CuPy, by key alone where updates of the same key cannot be told apart, else by
key and time. See include/packed_store.cuh for what the buffers hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.cuda.graph.packed_groups import RECORD_WORDS
from graphlode.cuda.graph.packed_pool import address
from graphlode.cuda.interface import KernelDevice, KernelModule, launch_shape
from graphlode.packed import LEAF_SLOTS
from graphlode.types import AnyArray, Int64Array

MOST_SMALL, EFFECT_TILE = 2048, 1024  # as in packed.cu
MOST_TILED = 1 << 17  # updates: with more tiles, each would have to be looked up in too many others
DELETE_BIT = np.uint64(1 << 63)

# Words of packed_info in packed_store.cuh.
INFO = (
    *("bad_row", "inserted", "deleted", "changed", "num_leaves", "num_suspects"),
    *("num_narrow", "num_wide", "num_flagged", "window_leaves"),
)
_INFO_WORDS = 16

# Fields of packed_batch in packed_store.cuh, before the information: bytes per update.
_FIELDS = {
    **{"keys": 8, "weights": 8, "effects": 8, "tile_effects": 8, "leaves": 4, "kinds": 1},
    **{"tasks": 16, "suspects": 4, "narrow": 8, "wide": 8, "flagged": 4 * RECORD_WORDS},
}
_ONLY_PLANNED = ("tasks", "suspects", "narrow", "wide", "flagged")
_KEPT = 1 << 14  # updates: buffers for more are let go after the batch


class Buffers:
    """Room for so many updates, in one piece; `described` is the struct packed_batch."""

    def __init__(self, device: KernelDevice, capacity: int, *, pages: int, weighted: bool, planned: bool) -> None:
        self.capacity = capacity
        sizes = {name: width * capacity for name, width in _FIELDS.items()}
        sizes["tile_effects"] = 8 * (capacity // EFFECT_TILE + 2)
        sizes["flagged"] = _FIELDS["flagged"] * min(capacity, pages)
        if not weighted:
            sizes["weights"] = 0
        if not planned:
            sizes |= dict.fromkeys(_ONLY_PLANNED, 0)
        starts, end = [], 4 * _INFO_WORDS
        for size in sizes.values():
            end = -(-end // 256) * 256
            starts.append(end)
            end += size
        self._memory = device.empty(-(-end // 8), np.uint64)
        self._starts = dict(zip(sizes, starts, strict=True))
        base = address(self._memory)
        self.described = device.asarray(np.array([base + start for start in starts] + [base], np.uint64))
        # Made once: on a GPU, making a view takes as long as a launch.
        self.info = self._memory[: _INFO_WORDS // 2].view(np.uint32)
        self.tile_keys = self.view("effects", np.uint64, capacity)
        self.tile_places = self.view("leaves", np.uint32, capacity)

    def view(self, name: str, dtype: Any, count: int) -> Any:
        first = self._starts[name] // 8
        size = np.dtype(dtype).itemsize * count
        return self._memory[first : first - (-size // 8)].view(dtype)[:count]


class Workspace:
    """The buffers of a shard, kept between batches unless they are large."""

    def __init__(self) -> None:
        self._kept: Buffers | None = None

    def buffers(self, device: KernelDevice, count: int, *, pages: int, weighted: bool, planned: bool) -> Buffers:
        """Room for `count` updates of a shard with so many pages; whether they are `planned` or merged."""
        if count > _KEPT:
            return Buffers(device, count, pages=pages, weighted=weighted, planned=planned)
        if self._kept is None or self._kept.capacity < count:
            room = max(MOST_SMALL, 1 << (count - 1).bit_length())
            self._kept = Buffers(device, room, pages=room, weighted=weighted, planned=True)
        return self._kept

    @property
    def nbytes(self) -> int:
        return 0 if self._kept is None else int(self._kept._memory.nbytes)


@dataclass(slots=True)
class Updates:
    """Keys with the delete bit, sorted unless the batch is small, and weights in the same order."""

    keys: Any
    weights: Any | None

    @property
    def count(self) -> int:
        return int(self.keys.size)


def arrange(
    device: KernelDevice,
    kernels: KernelModule,
    buffers: Buffers,
    keys: AnyArray,
    deletes: AnyArray | None,
    weights: AnyArray | None,
) -> Updates:
    """A batch in order of time, on the host or on the device, as kernels want it; the information is zero then."""
    if deletes is not None:
        if not isinstance(keys, np.ndarray):
            deletes = device.asarray(deletes)
        keys = keys | deletes.astype(np.uint64) << np.uint64(63)
    keys = device.asarray(keys)
    weights = None if weights is None else device.asarray(weights)
    if keys.size <= MOST_SMALL:
        return Updates(keys, weights)
    if keys.size <= MOST_TILED:
        return _sort_tiles(device, kernels, buffers, keys, weights)
    buffers.info.fill(0)
    mixed = deletes is not None and 0 < int(deletes.sum()) < keys.size
    if not mixed and weights is None:
        return Updates(device.xp.sort(keys), None)
    order = _order(device, keys & ~DELETE_BIT)
    return Updates(keys[order], None if weights is None else weights[order])


def _sort_tiles(
    device: KernelDevice, kernels: KernelModule, buffers: Buffers, keys: Any, weights: Any | None
) -> Updates:
    """Two launches. Tiles lie where effects and leaves will be."""
    count, tile_keys, places = int(keys.size), buffers.tile_keys, buffers.tile_places
    grid, _ = launch_shape(device, count, per_block=MOST_SMALL)
    kernels.launch("packed_sort_tiles", grid, 1024, (keys, np.uint32(count), tile_keys, places, buffers.info))
    found = Updates(device.empty(count, np.uint64), None if weights is None else device.empty(count, np.float64))
    given, ordered = (tile_keys, tile_keys) if weights is None else (weights, found.weights)  # not looked at without
    grid, block = launch_shape(device, count)
    arguments = (tile_keys, places, given, np.int32(weights is not None), np.uint32(count), found.keys, ordered)
    kernels.launch("packed_sort_ranks", grid, block, arguments)
    return found


def _order(device: KernelDevice, keys: Any) -> Any:
    """The updates by key, then by time. One sort of plain words if both fit into one: that is far faster on a GPU."""
    xp, count = device.xp, int(keys.size)
    rows, neighbors = keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF)
    width, time_bits = int(neighbors.max()).bit_length(), (count - 1).bit_length()
    if int(rows.max()).bit_length() + width + time_bits > 64:
        return xp.argsort(keys, kind="stable")
    words = (rows << np.uint64(width) | neighbors) << np.uint64(time_bits) | xp.arange(count, dtype=np.uint64)
    words.sort()
    return (words & np.uint64((1 << time_bits) - 1)).astype(np.int64)


def read_info(device: KernelDevice, buffers: Buffers) -> dict[str, int]:
    """What the plan came to: the one look at the device that a batch needs."""
    return dict(zip(INFO, device.get(buffers.info).tolist(), strict=False))


def read_flagged(device: KernelDevice, buffers: Buffers, count: int) -> Int64Array:
    """The records of flagged pages, in the order of their positions."""
    words = device.get(buffers.view("flagged", np.uint32, count * RECORD_WORDS))
    records: Int64Array = words.reshape(-1, RECORD_WORDS).astype(np.int64)
    return records[np.argsort(records[:, 0])]


def window_bytes(leaves: int, *, weighted: bool) -> int:
    """Shared memory of a window, as in packed_write.cuh, rounded up to whole vectors."""
    return -(-(leaves * LEAF_SLOTS * (16 if weighted else 8) + 4 * (leaves + 4)) // 16) * 16
