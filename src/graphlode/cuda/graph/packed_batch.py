"""What a batch of updates needs on the device while it is planned and written, and what the host reads of it.

Buffers are kept between batches that are small beside the shard: making them takes longer than such a batch. See
include/packed_store.cuh for what they hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.cuda.graph.packed_groups import RECORD_WORDS
from graphlode.cuda.graph.packed_input import INFO_WORDS, MOST_SMALL, Staging
from graphlode.cuda.graph.packed_pool import address
from graphlode.cuda.graph.packed_sort import space_words
from graphlode.cuda.interface import KernelDevice, KernelModule, PreparedLaunch
from graphlode.packed import LEAF_SLOTS
from graphlode.types import Int64Array

EFFECT_TILE = 1024  # as in packed_store.cuh

# Words of packed_info in packed_store.cuh.
INFO = (
    *("bad_row", "inserted", "deleted", "changed", "num_leaves", "num_suspects"),
    *("num_narrow", "num_wide", "num_flagged", "window_leaves", "self_loops"),
)

# Fields of packed_batch in packed_store.cuh, before the information: bytes per update.
_FIELDS = {
    **{"keys": 8, "weights": 8, "effects": 8, "tile_effects": 8, "leaves": 4, "kinds": 1},
    **{"tasks": 16, "suspects": 4, "narrow": 8, "wide": 8, "flagged": 4 * RECORD_WORDS},
}
# Of these there are never more than so many for each page.
_BY_PAGE = {"suspects": 1, "wide": 8, "flagged": 1}
_ONLY_PLANNED = ("tasks", "suspects", "narrow", "wide", "flagged")
_KEPT = 1 << 14  # updates: buffers for more are let go after the batch, unless the shard is far larger
_SMALL_PART = 100


class Buffers:
    """Room for so many updates, in one piece; `described` is the struct packed_batch."""

    def __init__(
        self, device: KernelDevice, staging: Staging, capacity: int, *, pages: int, weighted: bool, planned: bool
    ) -> None:
        self.capacity, self.pages, self.weighted = capacity, pages, weighted
        self.lasting = False  # kept for further batches
        self._prepared: dict[tuple[str, int], PreparedLaunch] = {}
        sizes = {name: width * capacity for name, width in _FIELDS.items()}
        sizes["tile_effects"] = 8 * (capacity // EFFECT_TILE + 2)
        for name, per_page in _BY_PAGE.items():
            sizes[name] = _FIELDS[name] * min(capacity, per_page * pages)
        if not weighted:
            sizes["weights"] = 0
        if not planned:
            sizes |= dict.fromkeys(_ONLY_PLANNED, 0)
        # Beside the struct: where larger batches are sorted.
        if capacity > MOST_SMALL:
            sizes |= {"sorted": 8 * capacity, "places": 4 * capacity * weighted, "space": 4 * space_words(capacity)}
            sizes["narrow"] = 0  # chosen when nobody needs what was sorted any more
        starts, end = [], 4 * INFO_WORDS
        for size in sizes.values():
            end = -(-end // 256) * 256
            starts.append(end)
            end += size
        self._memory = device.empty(-(-end // 8), np.uint64)
        self._starts = dict(zip(sizes, starts, strict=True))
        if capacity > MOST_SMALL:
            self._starts["narrow"] = self._starts["sorted"]
        base = address(self._memory)
        told = address(staging.on_device["told"])
        fields = [base + self._starts[name] for name in _FIELDS]
        self.described = device.asarray(np.array([*fields, base, told], np.uint64))
        # Made once: on a GPU, making a view takes as long as a launch.
        self.info = self._memory[: INFO_WORDS // 2].view(np.uint32)
        self.views = {}
        if capacity > MOST_SMALL:
            self.views = {name: self.view(name, np.uint64, capacity) for name in ("effects", "sorted")}
            self.views["leaves"] = self.view("leaves", np.uint32, capacity)
            self.views["places"] = self.view("places", np.uint32, capacity) if weighted else self.views["leaves"]
            self.views["space"] = self.view("space", np.uint32, space_words(capacity))

    @property
    def nbytes(self) -> int:
        return int(self._memory.nbytes)

    def launch(
        self,
        kernels: KernelModule,
        entry: str,
        shape: tuple[int, int],
        args: tuple[Any, ...],
        changing: tuple[int, ...],
        *,
        shared_bytes: int = 0,
        number: int = 0,
    ) -> None:
        """Start a kernel whose arguments are the same for all batches in these buffers, but for those that change.

        `number` tells launches of the same kernel apart.
        """
        if not self.lasting:
            kernels.launch(entry, *shape, args, shared_bytes)
            return
        prepared = self._prepared.get((entry, number))
        if prepared is None:
            # Arrays that change belong to others: they must not be kept.
            held = [
                self.described if i in changing and not isinstance(a, np.generic) else a for i, a in enumerate(args)
            ]
            prepared = self._prepared[entry, number] = kernels.prepare(entry, held, changing)
        prepared.launch(*shape, *(args[i] for i in changing), shared_bytes=shared_bytes)

    def view(self, name: str, dtype: Any, count: int) -> Any:
        first = self._starts[name] // 8
        size = np.dtype(dtype).itemsize * count
        return self._memory[first : first - (-size // 8)].view(dtype)[:count]


class Workspace:
    """The buffers of a shard, kept between batches unless they are large."""

    def __init__(self) -> None:
        self.kept: Buffers | None = None
        self._staging: Staging | None = None

    def staging(self, device: KernelDevice) -> Staging:
        if self._staging is None:
            self._staging = Staging(device)
        return self._staging

    def has_room(self, count: int, pages: int) -> bool:
        """Whether what is kept is enough for so many updates of a shard with so many pages."""
        return self.kept is not None and self.kept.capacity >= count and self.kept.pages >= min(count, pages)

    def buffers(
        self, device: KernelDevice, count: int, *, pages: int, entries: int, weighted: bool, planned: bool
    ) -> Buffers:
        """Room for `count` updates of a shard with so many pages; whether they are `planned` or merged."""
        staging = self.staging(device)
        if count > max(_KEPT, entries // _SMALL_PART):
            return Buffers(device, staging, count, pages=pages, weighted=weighted, planned=planned)
        if not self.has_room(count, pages):
            room = max(MOST_SMALL, -(-count // MOST_SMALL) * MOST_SMALL)
            if self.kept is not None:
                room = max(room, self.kept.capacity)
            self.kept = None
            more_pages = pages + pages // 4 + 64
            self.kept = Buffers(device, staging, room, pages=more_pages, weighted=weighted, planned=True)
            self.kept.lasting = True
        assert self.kept is not None
        return self.kept

    @property
    def nbytes(self) -> int:
        return 0 if self.kept is None else self.kept.nbytes


def read_info(device: KernelDevice, buffers: Buffers) -> dict[str, int]:
    """What the plan came to: the one look at the device that a batch needs."""
    return named_info(device.get(buffers.info).tolist())


def named_info(words: list[int]) -> dict[str, int]:
    return dict(zip(INFO, words, strict=False))


def read_flagged(device: KernelDevice, buffers: Buffers, count: int) -> Int64Array:
    """The records of flagged pages, in the order of their positions."""
    words = device.get(buffers.view("flagged", np.uint32, count * RECORD_WORDS))
    records: Int64Array = words.reshape(-1, RECORD_WORDS).astype(np.int64)
    return records[np.argsort(records[:, 0])]


def window_bytes(leaves: int, *, weighted: bool) -> int:
    """Shared memory of a window, as in packed_write.cuh, rounded up to whole vectors."""
    return -(-(leaves * LEAF_SLOTS * (16 if weighted else 8) + 4 * (leaves + 4)) // 16) * 16
