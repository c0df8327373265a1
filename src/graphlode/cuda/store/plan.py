"""The launches that plan and write a batch, each sequence of them started by one call.

A small batch takes the device some ten microseconds, so all that does not change from one batch to the next lies ready.
Which launches these are depends on how a batch is sorted, how far it is planned and whether it is written at once; their
arguments are the few values that `_Value` names. Nothing is allocated here and nothing of the shard's structure changes,
so this runs on any thread while no other batch does.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum, auto
from typing import Any, NamedTuple

import numpy as np

from graphlode.common.store import PAGE_LEAVES
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.sequence import BoundSequence, LaunchSequence, Step, prepare_sequence
from graphlode.cuda.store import sort as packed_sort
from graphlode.cuda.store.batch import EFFECT_TILE, Buffers, window_bytes
from graphlode.cuda.store.input import MOST_SMALL, Given
from graphlode.cuda.store.sort import MERGE_TILE, SORT_THREADS, SORT_TILE, fans_for, passes_for
from graphlode.cuda.store.state import State

SOURCE = KernelSource(
    "store/plan",
    (
        *("packed_plan_small", "packed_locate", "packed_plan_pages"),
        *("packed_climb", "packed_write"),
    ),
)

# How far a batch is planned: sorted for store/merge.cu, or further, by store/plan.cu.
SORTED, LEAVES, WINDOWS = 0, 1, 2

_WARPS = 8  # of a block that writes
_MOST_REMEMBERED = 64  # sizes of batches and shards for which all numbers are known
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
    # Numbers that follow from the count; small batches need those before MANY_THREADS only.
    ONE_BLOCK = auto()
    SMALL_THREADS = auto()
    THREADS = auto()
    WRITE_BLOCKS = auto()
    MANY_THREADS = auto()
    DIGIT_BLOCKS = auto()
    PASS_BLOCKS = auto()
    TILE_BLOCKS = auto()
    TILE_UPDATES = auto()
    NUM_MERGES = auto()
    FIRST_FAN = auto()
    FIRST_LEFT = auto()  # merges that follow the first
    FIRST_BLOCKS = auto()
    LATER_RUN = auto()
    LATER_FAN = auto()
    LATER_LEFT = auto()
    LATER_BLOCKS = auto()
    LOCATE_BLOCKS = auto()
    PAGE_BLOCKS = auto()


_V = _Value
STORE_AND_ENDS = (_V.STORE, _V.TAILS, _V.HEADS)
_SOURCE = (_V.TAILS, _V.HEADS, _V.DELETES)
_STORE_AND_GIVEN = (_V.STORE, *_SOURCE, _V.WEIGHTS)


class _Bound(NamedTuple):
    """The launches of batches that have much in common, for the buffers that these were bound with."""

    batch: Any
    launches: BoundSequence


class Launches:
    """The sequences of a shard, made when a plan first needs them."""

    def __init__(self, device: KernelDevice, state: State) -> None:
        self._device = device
        self._kernels, self._sort_kernels = state.load(SOURCE), state.load(packed_sort.SOURCE)
        self._sequences: dict[tuple[int, int, bool], LaunchSequence] = {}
        self._anything = device.empty(1, np.uint64)  # stands for arrays that a call gives
        self._numbers: dict[tuple[int, int, int], tuple[int, ...]] = {}
        self._bound: dict[tuple[int, ...], _Bound] = {}  # by what batches have in common
        written = [_V.STORE, _V.BATCH, _V.COUNT, _V.EPOCH]
        args = self._arguments(written)
        later, self._at_once = (
            write_step(state, args, written, _V.WRITE_BLOCKS, _V.THREADS, at_once=at_once) for at_once in (False, True)
        )
        self._writing = prepare_sequence(device, [later])  # a commit must not need memory

    def run(self, state: State, buffers: Buffers, given: Given, step: int) -> None:
        """Plan a batch as far as `step`."""
        passes = self._passes(state, given, step)
        sequence = self._sequence(passes, step, write=False)
        sequence.run(self._values(state, buffers, given, passes, planned=step != SORTED), given.stream)

    def run_at_once(self, state: State, buffers: Buffers, given: Given) -> list[int]:
        """Plan a batch, and write it if all pages stay where they are: the words of its information, which are known before
        it is written."""
        store, batch, epoch = state.described(), buffers.described, state.epoch
        size = state.directory.pages.size.bit_length()  # grids are for so many pages, or nearly
        like = given.count, given.how, given.neighbor_bits, state.num_rows, size
        known = self._bound.get(like)
        if known is None or known.batch is not batch:
            known = _Bound(batch, self.bind(state, buffers, given, _STORE_AND_GIVEN))
            if len(self._bound) == _MOST_REMEMBERED:
                self._bound.clear()
            self._bound[like] = known
        changed = store, given.tails, given.heads, given.deletes, given.weights, epoch
        return known.launches.run(changed, epoch, given.stream)

    def bind(self, state: State, buffers: Buffers, given: Given, changing: Sequence[int]) -> BoundSequence:
        """The launches of `run_at_once` for batches like this one: only these of the arrays and the epoch differ."""
        passes = self._passes(state, given, WINDOWS)
        values = list(self._values(state, buffers, given, passes))
        for number in changing:
            values[number] = self._anything  # what is bound is kept
        told = state.workspace.staging(self._device).told
        sequence = self._sequence(passes, WINDOWS, write=True)
        return sequence.bind(tuple(values), (*changing, _V.EPOCH), told)

    def _passes(self, state: State, given: Given, step: int) -> int:
        return _SMALL if given.count <= MOST_SMALL and step != SORTED else passes_for(state, given)

    def _sequence(self, passes: int, step: int, *, write: bool) -> LaunchSequence:
        sequence = self._sequences.get((passes, step, write))
        if sequence is None:
            made = self._plan_steps(passes, step) + ([self._at_once] if write else [])
            sequence = self._sequences[passes, step, write] = prepare_sequence(self._device, made)
        return sequence

    def write(self, state: State, buffers: Buffers, given: Given) -> None:
        """Write what was planned and stays in its pages, whatever else there is."""
        self._writing.run(self._values(state, buffers, given, _SMALL))

    def _plan_steps(self, passes: int, step: int) -> list[Step]:
        if passes == _SMALL:
            values = [_V.STORE, _V.BATCH, *_SOURCE, _V.WEIGHTS, _V.HOW, _V.COUNT, _V.EPOCH, _V.NEIGHBOR_BITS]
            return [self._step("packed_plan_small", values, (np.int32(step),), _V.ONE_BLOCK, _V.SMALL_THREADS)]
        made = self._sort_steps(passes)
        if step == SORTED:
            return made
        located = [_V.STORE, _V.BATCH, _V.WEIGHTS, _V.HOW, _V.COUNT, _V.EPOCH, _V.NEIGHBOR_BITS]
        made.append(self._step("packed_locate", located, (), _V.LOCATE_BLOCKS, _V.MANY_THREADS))
        if step >= WINDOWS:
            made.append(self._step("packed_plan_pages", [_V.STORE, _V.BATCH], (), _V.PAGE_BLOCKS, _V.THREADS))
        return made

    def _sort_steps(self, passes: int) -> list[Step]:
        source = [_V.STORE, _V.BATCH, *_SOURCE, _V.HOW, _V.COUNT, _V.NEIGHBOR_BITS]
        if passes == 0:
            runs = [_V.BATCH, _V.HOW, _V.COUNT]
            first, later = (_V.TILE_UPDATES, _V.FIRST_FAN, _V.FIRST_LEFT), (_V.LATER_RUN, _V.LATER_FAN, _V.LATER_LEFT)
            return [
                self._step("packed_sort_tiles", [*source, _V.NUM_MERGES], (), _V.TILE_BLOCKS, _V.MANY_THREADS),
                self._step("packed_merge_runs", [*runs, *first], (), _V.FIRST_BLOCKS, _V.THREADS),
                self._step("packed_merge_runs", [*runs, *later], (), _V.LATER_BLOCKS, _V.THREADS),
            ]
        digits = (np.uint32(passes),)
        return [
            self._step("packed_digits", source, digits, _V.DIGIT_BLOCKS, _V.MANY_THREADS),
            self._step("packed_sort_passes", source, digits, _V.PASS_BLOCKS, _V.THREADS),
        ]

    def _step(
        self,
        entry: str,
        values: list[_Value],
        fixed: tuple[Any, ...],
        grid: _Value,
        block: _Value,
    ) -> Step:
        """A launch whose arguments are values, then some that never change."""
        kernels = self._kernels if entry in SOURCE.entries else self._sort_kernels
        return Step(kernels, entry, (*self._arguments(values), *fixed), dict(enumerate(values)), grid, block)

    def _arguments(self, values: list[_Value]) -> tuple[Any, ...]:
        """What stands for values until a call gives them."""
        return tuple(self._anything if value <= _V.WEIGHTS else np.uint32(0) for value in values)

    def _values(
        self, state: State, buffers: Buffers, given: Given, passes: int, *, planned: bool = True
    ) -> tuple[Any, ...]:
        """Those of a small batch, or of one that is only written, are fewer; without a plan pages make no difference."""
        count = given.count
        of = count, state.directory.pages.size if planned and passes != _SMALL else 0, passes
        numbers = self._numbers.get(of)
        if numbers is None:
            if len(self._numbers) == _MOST_REMEMBERED:
                self._numbers.clear()
            small = self._small_numbers(count)
            numbers = small if passes == _SMALL else small + self._large_numbers(*of)
            self._numbers[of] = numbers
        arrays = state.described(), buffers.described, given.tails, given.heads, given.deletes, given.weights
        return arrays + (given.how, count, state.epoch, given.neighbor_bits) + numbers

    def _small_numbers(self, count: int) -> tuple[int, ...]:
        threads = 128 if count <= 128 else min(1024, 1 << (count - 1).bit_length())
        return 1, threads, SORT_THREADS, write_blocks(self._device, count)

    def _large_numbers(self, count: int, pages: int, passes: int) -> tuple[int, ...]:
        def blocks(items: int, per_block: int, most: int) -> int:
            shape = launch_shape(self._device, items, per_block=per_block, blocks_per_multiprocessor=most)
            return shape[0]

        first, later = fans_for(count)
        merges, merge_blocks = (first > 1) + (later > 1), blocks(count, SORT_THREADS, 8)
        return (
            EFFECT_TILE,
            blocks(count, EFFECT_TILE, 2),
            passes * -(-count // SORT_TILE),
            -(-count // MERGE_TILE),
            *(MERGE_TILE, merges, first, max(0, merges - 1), merge_blocks if first > 1 else 0),
            *(MERGE_TILE * first, later, 0, merge_blocks if later > 1 else 0),
            blocks(count, EFFECT_TILE, 1),
            blocks(32 * min(count, pages), SORT_THREADS, 8),
        )


def launches(device: KernelDevice, state: State) -> Launches:
    """Those of a shard."""
    found: Launches | None = state.launches
    if found is None:
        found = state.launches = Launches(device, state)
    return found


def write_blocks(device: KernelDevice, count: int) -> int:
    """Blocks that write so many updates, as if every one had a leaf of its own."""
    return launch_shape(device, count, per_block=_WARPS, blocks_per_multiprocessor=4)[0]


def write_step(
    state: State, args: tuple[Any, ...], values: Sequence[int], grid: int, block: int, *, at_once: bool
) -> Step:
    """The launch that writes a plan; the arguments, of which all are replaced, are those of packed_write but for the last."""
    shared_bytes = _write_bytes(weighted=state.pool.weighted)
    return Step(
        state.load(SOURCE),
        "packed_write",
        (*args, np.int32(at_once)),
        dict(enumerate(values)),
        grid,
        block,
        shared_bytes,
    )


def _write_bytes(*, weighted: bool) -> int:
    """Shared memory of a block that writes: a wide window, or a narrow one per warp."""
    narrow, wide = (window_bytes(leaves, weighted=weighted) for leaves in (_NARROW_LEAVES, PAGE_LEAVES))
    return max(_WARPS * narrow, wide)
