"""Plans a batch on the device, and writes it in place: drives store/plan.cu and store/sort.cu.

The launches of a batch depend on how it is sorted, how far it is planned and whether it is written at once. Nothing is
allocated here, and the structure of the shard does not change.
"""

from __future__ import annotations

from graphlode.common.store import LEVELS, PAGE_LEAVES
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.sequence import BoundSequence
from graphlode.cuda.store.batch import EFFECT_TILE, Buffers
from graphlode.cuda.store.input import MOST_SMALL, Input
from graphlode.cuda.store.launches import SMALL, SORTED, WARPS, WINDOWS, Bound, PlanValues
from graphlode.cuda.store.sort import MERGE_TILE, SORT_THREADS, SORT_TILE, fans_for, passes_for
from graphlode.cuda.store.state import State

_MOST_REMEMBERED = 64  # sizes of batches and shards

_CHANGING = "store tails heads deletes weights epoch"
"""The values that differ between batches that use the same bound launches."""


def plan(state: State, buffers: Buffers, given: Input, step: int) -> None:
    """Plan a batch as far as `step`."""
    passes = _passes(state, given, step)
    values = _values(state, buffers, given, passes, planned=step != SORTED)
    state.launches.plan(passes, step, write=False).run(values, given.stream)


def plan_at_once(state: State, buffers: Buffers, given: Input) -> list[int]:
    """Plan a batch, and write it if no page is flagged.

    Returns the words of its information. They are known before the device has written the batch.
    """
    store, batch, epoch = state.described(state.device), buffers.described, state.epoch
    known_by = state.launches.bound
    size = state.directory.pages.size.bit_length()  # grids are sized for about this number of pages
    like = given.count, given.how, given.neighbor_bits, state.num_rows, size
    known = known_by.get(like)
    if known is None or known.batch is not batch:
        if len(known_by) == _MOST_REMEMBERED:
            known_by.clear()
        known = known_by[like] = Bound(batch, _bind(state, buffers, given))
    changed = store, given.tails, given.heads, given.deletes, given.weights, epoch
    return known.launches.run(changed, epoch, given.stream)


def _bind(state: State, buffers: Buffers, given: Input) -> BoundSequence:
    passes, table = _passes(state, given, WINDOWS), state.launches.plan_table
    values = _values(state, buffers, given, passes)
    # Stand-ins: a bound array would be kept in memory.
    arrays = {name: table.stand_in(name) for name in _CHANGING.split() if name != "epoch"}
    sequence = state.launches.plan(passes, WINDOWS, write=True)
    return sequence.bind(values._replace(**arrays), table.numbers(_CHANGING), state.workspace.staging.reported)


def write(state: State, buffers: Buffers, given: Input) -> None:
    """Write the planned updates that stay in their pages."""
    state.launches.write.run(_values(state, buffers, given, SMALL))


def climb(device: KernelDevice, state: State, buffers: Buffers, count: int) -> None:
    """Find windows level by level until no leaf needs a larger one, then plan. The host reads a word after each
    level."""
    store, batch = state.described(device), buffers.described
    grid, block = launch_shape(device, PAGE_LEAVES * min(count, state.pages.size))
    for level in range(1, LEVELS):
        climbing = device.zeros(1, "uint32")
        state.launches.climb(grid, block, store, batch, climbing.dtype.type(level), climbing)
        if not int(device.get(climbing)[0]):
            break
    state.launches.plan_pages(*launch_shape(device, 32 * min(count, state.pages.size)), store, batch)


def write_blocks(device: KernelDevice, count: int) -> int:
    """The number of blocks that write these updates, as if each had a leaf of its own."""
    return launch_shape(device, count, per_block=WARPS, blocks_per_multiprocessor=4)[0]


def _passes(state: State, given: Input, step: int) -> int:
    if given.count <= MOST_SMALL and step != SORTED:
        return SMALL
    return passes_for(given.count, state.num_rows, given.neighbor_bits)


def _values(state: State, buffers: Buffers, given: Input, passes: int, *, planned: bool = True) -> PlanValues:
    """The values of a call. Without a plan they do not depend on the number of pages."""
    count, known_by = given.count, state.launches.numbers
    of = count, state.directory.pages.size if planned and passes != SMALL else 0, passes
    numbers = known_by.get(of)
    if numbers is None:
        if len(known_by) == _MOST_REMEMBERED:
            known_by.clear()
        numbers = _small_numbers(state.device, count)
        if passes != SMALL:
            numbers += _large_numbers(state.device, *of)
        known_by[of] = numbers
    return PlanValues(
        state.described(state.device),
        buffers.described,
        given.tails,
        given.heads,
        given.deletes,
        given.weights,
        given.how,
        count,
        state.epoch,
        given.neighbor_bits,
        *numbers,
    )


def _small_numbers(device: KernelDevice, count: int) -> tuple[int, ...]:
    """The fields from `one_block` to `write_blocks`."""
    threads = 128 if count <= 128 else min(1024, 1 << (count - 1).bit_length())
    return 1, threads, SORT_THREADS, write_blocks(device, count)


def _large_numbers(device: KernelDevice, count: int, pages: int, passes: int) -> tuple[int, ...]:
    """The fields from `many_threads` on."""

    def blocks(items: int, per_block: int, most: int) -> int:
        return launch_shape(device, items, per_block=per_block, blocks_per_multiprocessor=most)[0]

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
