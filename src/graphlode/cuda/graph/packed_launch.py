"""The launches that plan and write a batch, each sequence of them started by one call.

A small batch takes the device some ten microseconds, so all that does not change from one batch to the next lies ready.
Which launches these are depends on how a batch is sorted, how far it is planned and whether it is written at once; their
arguments are the few values that `_Value` names. Nothing is allocated here and nothing of the shard's structure changes,
so this runs on any thread while no other batch does.
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Any

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph import packed_sort
from graphlode.cuda.graph.packed_batch import EFFECT_TILE, Buffers, window_bytes
from graphlode.cuda.graph.packed_input import MOST_SMALL, Given
from graphlode.cuda.graph.packed_sort import SORT_THREADS, SORT_TILE, passes_for, space_words
from graphlode.cuda.graph.packed_state import State
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.sequence import LaunchSequence, Step, prepare_sequence
from graphlode.packed import PAGE_LEAVES

SOURCE = KernelSource(
    "graph/packed",
    (
        *("packed_plan_small", "packed_locate", "packed_plan_leaves", "packed_plan_pages"),
        *("packed_climb", "packed_write"),
    ),
)

# How far packed.cu plans a batch.
EFFECTS, LEAVES, WINDOWS = 0, 1, 2

_WARPS = 8  # of a block that writes
_NARROW_LEAVES = 8
_SMALL = -1  # in the place of a number of passes: sorted by the block that plans


class _Value(IntEnum):
    """What differs between batches, in the order in which a call gives it."""

    STORE = 0
    BATCH = auto()
    TAILS = auto()
    HEADS = auto()
    DELETES = auto()
    WEIGHTS = auto()
    HOW = auto()
    COUNT = auto()
    EPOCH = auto()
    NEIGHBOR_BITS = auto()
    # Numbers that follow from the count.
    SPACE_WORDS = auto()
    ONE_BLOCK = auto()
    SMALL_THREADS = auto()
    THREADS = auto()
    MANY_THREADS = auto()
    CLEAR_BLOCKS = auto()
    DIGIT_BLOCKS = auto()
    PASS_BLOCKS = auto()
    TILE_BLOCKS = auto()
    LOCATE_BLOCKS = auto()
    LEAF_BLOCKS = auto()
    PAGE_BLOCKS = auto()
    WRITE_BLOCKS = auto()


_V = _Value
_SOURCE = (_V.TAILS, _V.HEADS, _V.DELETES)


class Launches:
    """The sequences of a shard, made when they are first needed."""

    def __init__(self, device: KernelDevice, state: State) -> None:
        self._device = device
        self._kernels, self._sort_kernels = state.load(SOURCE), state.load(packed_sort.SOURCE)
        self._weighted = state.pool.weighted
        self._sequences: dict[tuple[int, int, bool], LaunchSequence] = {}
        self._writing: LaunchSequence | None = None
        self._anything = device.empty(1, np.uint64)  # stands for arrays that a call gives
        self._numbers: tuple[int, ...] = ()
        self._numbers_of = (0, 0)

    def run(
        self, state: State, buffers: Buffers, given: Given, step: int, *, write: bool = False, wait: bool = False
    ) -> None:
        """Plan a batch as far as `step`, and write it. The device then tells what it did, unless it only planned leaves."""
        count = given.count
        passes = _SMALL if count <= MOST_SMALL else passes_for(state, given)
        sequence = self._sequences.get((passes, step, write))
        if sequence is None:
            made = self._plan_steps(passes, step) + (self._write_steps() if write else [])
            sequence = self._sequences[passes, step, write] = prepare_sequence(self._device, made)
        sequence.run(self._values(state, buffers, given), wait)

    def write(self, state: State, buffers: Buffers, given: Given) -> None:
        """Write what was planned and stays in its pages, whatever else there is."""
        if self._writing is None:
            self._writing = prepare_sequence(self._device, self._write_steps(at_once=False))
        self._writing.run(self._values(state, buffers, given), False)

    def _plan_steps(self, passes: int, step: int) -> list[Step]:
        if passes == _SMALL:
            values = [_V.STORE, _V.BATCH, *_SOURCE, _V.WEIGHTS, _V.HOW, _V.COUNT, _V.EPOCH, _V.NEIGHBOR_BITS]
            return [self._step("packed_plan_small", values, (np.int32(step),), _V.ONE_BLOCK, _V.SMALL_THREADS)]
        made = self._sort_steps(passes)
        located = [_V.STORE, _V.BATCH, _V.WEIGHTS, _V.HOW, _V.COUNT, _V.NEIGHBOR_BITS]
        tell = np.int32(step == EFFECTS)
        made.append(self._step("packed_locate", located, (tell,), _V.LOCATE_BLOCKS, _V.MANY_THREADS))
        if step >= LEAVES:
            values = [_V.STORE, _V.BATCH, _V.COUNT, _V.EPOCH]
            made.append(self._step("packed_plan_leaves", values, (), _V.LEAF_BLOCKS, _V.THREADS))
        if step >= WINDOWS:
            made.append(self._step("packed_plan_pages", [_V.STORE, _V.BATCH], (), _V.PAGE_BLOCKS, _V.THREADS))
        return made

    def _sort_steps(self, passes: int) -> list[Step]:
        source = [_V.STORE, _V.BATCH, *_SOURCE, _V.HOW, _V.COUNT]
        if passes == 0:
            return [
                self._step("packed_sort_tiles", [*source, _V.NEIGHBOR_BITS], (), _V.TILE_BLOCKS, _V.MANY_THREADS),
                self._step("packed_merge_tiles", source, (), _V.LEAF_BLOCKS, _V.THREADS),
            ]
        source.append(_V.NEIGHBOR_BITS)
        digits = (np.uint32(passes),)
        return [
            self._step("packed_clear", [_V.BATCH, _V.SPACE_WORDS], (), _V.CLEAR_BLOCKS, _V.THREADS),
            self._step("packed_digits", source, digits, _V.DIGIT_BLOCKS, _V.THREADS),
            *(
                self._step("packed_sort_pass", source, (np.uint32(number), *digits), _V.PASS_BLOCKS, _V.THREADS)
                for number in range(passes)
            ),
        ]

    def _write_steps(self, *, at_once: bool = True) -> list[Step]:
        values = [_V.STORE, _V.BATCH, _V.COUNT, _V.EPOCH]
        shared_bytes = _write_bytes(weighted=self._weighted)
        return [self._step("packed_write", values, (np.int32(at_once),), _V.WRITE_BLOCKS, _V.THREADS, shared_bytes)]

    def _step(
        self,
        entry: str,
        values: list[_Value],
        fixed: tuple[Any, ...],
        grid: _Value,
        block: _Value,
        shared_bytes: int = 0,
    ) -> Step:
        """A launch whose arguments are values, then some that never change."""
        kernels = self._kernels if entry in SOURCE.entries else self._sort_kernels
        args = (*(self._anything if value <= _V.WEIGHTS else np.uint32(0) for value in values), *fixed)
        return Step(kernels, entry, args, dict(enumerate(values)), grid, block, shared_bytes)

    def _values(self, state: State, buffers: Buffers, given: Given) -> tuple[Any, ...]:
        count, pages = given.count, state.pages.size
        if self._numbers_of != (count, pages):
            self._numbers_of, self._numbers = (count, pages), self._count_numbers(count, pages)
        return (
            *(state.described(), buffers.described, given.tails, given.heads, given.deletes, given.weights),
            *(given.how, count, state.epoch, given.neighbor_bits),
            *self._numbers,
        )

    def _count_numbers(self, count: int, pages: int) -> tuple[int, ...]:
        def blocks(items: int, per_block: int, most: int) -> int:
            shape = launch_shape(self._device, items, per_block=per_block, blocks_per_multiprocessor=most)
            return shape[0]

        words = space_words(count)
        return (
            words,
            1,
            128 if count <= 128 else min(1024, 1 << (count - 1).bit_length()),
            SORT_THREADS,
            EFFECT_TILE,
            blocks(words, SORT_THREADS, 8),
            blocks(count, SORT_THREADS, 4),
            -(-count // SORT_TILE),
            -(-count // MOST_SMALL),
            blocks(count, EFFECT_TILE, 2),
            blocks(count, SORT_THREADS, 8),
            blocks(32 * min(count, pages), SORT_THREADS, 8),
            blocks(count, _WARPS, 4),  # as if every update had a leaf of its own
        )


def launches(device: KernelDevice, state: State) -> Launches:
    """Those of a shard."""
    found: Launches | None = state.launches
    if found is None:
        found = state.launches = Launches(device, state)
    return found


def _write_bytes(*, weighted: bool) -> int:
    """Shared memory of a block that writes: a wide window, or a narrow one per warp."""
    narrow, wide = (window_bytes(leaves, weighted=weighted) for leaves in (_NARROW_LEAVES, PAGE_LEAVES))
    return max(_WARPS * narrow, wide)
