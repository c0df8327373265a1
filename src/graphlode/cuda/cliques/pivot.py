"""Counts cliques by pivoting on a CUDA device: the launches of mining/cliques.cu and mining/all_cliques.cu.

A task becomes roots, and roots become batches whose bit rows fit on the device. Each batch is counted by one launch, or
by two if some of its roots have more neighbors than shared memory has bits for. A launch ends when its warps have spent
their budgets. The driver then checks for a stop, and launches again until no work is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import comb
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.common.counts import binomials
from graphlode.cuda.cliques.rows import CliqueRoots, CliqueRows, batches, build_rows, rows_memory, select_roots
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, raise_fault
from graphlode.errors import UnsupportedError
from graphlode.types import AnyArray, Task

MAX_WORDS = (0, 4, 8, 16)
"""Words of the widest bit row that a kernel is compiled for; 0: any, in global memory."""

# As in clique_pivot*.cuh.
_WARPS = 8
_NARROW_WORDS, _NARROW_DEGREE, _NARROW_STRIDE, _SINGLE_STRIDE = 4, 128, 129, 32
_MOST_PAIRS = 39
_LEVELS, _TINY_DEGREE = 32, 8
_STACK_WORDS, _STATE_WORDS = 160, 32
_TASK_HEADER, _FRAME_HEADER, _LIST_WORDS = 4, 2, 16
_WORK_WORDS, _TOTAL, _NODES, _LARGE, _SMALL, _QUEUE = 9, 2, 4, 5, 6, 7
_BLOCKS = 3  # per multiprocessor, as __launch_bounds__ says
_RESERVED_SHARED_BYTES = 1024  # per block, reserved by the hardware

# Behavior of launches; see pivot_search in cliques/pivot.cuh. Measured on an H200.
CUT_OUT_FROM = 4  # missing vertices from which the candidates of a branch get a separate matrix
NEVER_CUT_OUT_UP_TO = 6  # searches for up to this number of vertices are too short for a separate matrix
GIVE_WHEN = 1
NODES_PER_LAUNCH = 1 << 17  # per warp: about a fifth of a second
PATIENCE = 1 << 16
QUEUE_RECORDS, _QUEUE_WORDS = 1 << 17, 1 << 26
_MOST_LEAF_COPIES, _LEAF_CELLS = 64, 1 << 21
_LONGEST = 0xFFFF


@dataclass(frozen=True)
class PivotKernel:
    """A kernel of one of the two sources, and whether it stores leaves."""

    source: KernelSource
    as_leaves: bool
    defines: Mapping[str, str] = field(default_factory=dict)  # in addition to MAX_WORDS


@dataclass
class PivotCount:
    """The results of the searches of a call so far."""

    total: int = 0
    leaves: list[AnyArray] = field(default_factory=list)  # of each launch, [h][p]
    nodes: int = 0
    given: int = 0  # branches passed from one warp to another
    complete: bool = True


def count_task(
    device: KernelDevice,
    view: Mapping[str, Any],
    task: Task,
    kernel: PivotKernel,
    found: PivotCount,
    *,
    k: int,
    shortest: int,
    control: Control,
) -> None:
    """Adds the cliques of a task below roots with at least `shortest` neighbors."""
    count_roots(
        device, view, select_roots(device, view, task, shortest=shortest), task, kernel, found, k=k, control=control
    )


def count_roots(
    device: KernelDevice,
    view: Mapping[str, Any],
    roots: CliqueRoots,
    task: Task,
    kernel: PivotKernel,
    found: PivotCount,
    *,
    k: int,
    control: Control,
    most_launches: int | None = None,
) -> None:
    """Adds the cliques below roots. With `most_launches` per batch it may stop early, see `found.complete`."""
    if roots.longest > _LONGEST:
        raise UnsupportedError(
            f"CUDA devices search rows of up to {_LONGEST} neighbors, this graph has {roots.longest}; devices='cpu' has no such limit"
        )
    for batch in batches(roots):
        control.check()
        rows = build_rows(device, view, roots, batch)
        for slots in _classes(roots, batch):
            search = _Search(device, roots, rows, slots, k)
            search.run(kernel, task, found, control, most_launches)


def pivot_memory(device: KernelDevice, shape: Mapping[str, int], *, leaves: bool) -> int:
    """Bytes in addition to the view: bit rows, the queue, stacks outside shared memory, tables of leaves."""
    longest = int((2 * shape["num_edges"]) ** 0.5) + 1
    record = _record_words(-(-longest // 32))
    warps = _WARPS * _BLOCKS * device.num_multiprocessors
    stacks = 4 * warps * 64 * (2 * MAX_WORDS[-1] + _FRAME_HEADER)
    return rows_memory(shape) + 4 * _queue_records(record) * (record + 1) + stacks + (8 * _LEAF_CELLS if leaves else 0)


def _classes(roots: CliqueRoots, batch: Task) -> Iterator[Task]:
    """A batch, cut at the first root that is short enough for shared memory."""
    cut = min(max(_longer_than(roots, 32 * MAX_WORDS[-1]), batch.begin), batch.end)
    yield from (Task(begin, end) for begin, end in pairwise((batch.begin, cut, batch.end)) if begin < end)


def _longer_than(roots: CliqueRoots, degree: int) -> int:
    return int(roots.row_counts[degree + 1]) if degree + 1 < len(roots.row_counts) else 0


@dataclass(frozen=True)
class _Draws:
    """How warps draw small roots: first one by one, then several at a time, and tiny ones many at a time."""

    alone: int
    of_several: int  # draws
    several: int  # roots per such draw
    tiny: int
    number: int

    @classmethod
    def of(cls, wide: int, small: int, tiny: int, warps: int) -> _Draws:
        """The draws for `small` roots, `wide` of them with more than a word of neighbors, and `tiny` more roots."""
        alone = min(small, max(wide, 4 * warps))
        several = max(1, min(8, (small - alone) // (8 * warps)))
        tiny_per_draw = max(4, min(32, tiny // (2 * warps) // 4 * 4))
        of_several = -(-(small - alone) // several)
        return cls(alone, of_several, several, tiny_per_draw, alone + of_several + -(-tiny // tiny_per_draw))


class _Search:
    """The shape of a launch over some slots of a batch, and its repetitions."""

    def __init__(self, device: KernelDevice, roots: CliqueRoots, rows: CliqueRows, slots: Task, k: int) -> None:
        self.device, self.rows, self.slots, self.k = device, rows, slots, k
        self.degree = roots.longest_in(slots)
        self.set_words = -(-self.degree // 32)
        self.max_words = next((words for words in MAX_WORDS[1:] if words >= self.set_words), 0)
        self.space_degree = 32 * max(self.max_words, self.set_words)
        self.middle = slots.begin if self.max_words else slots.end
        if self.max_words > _NARROW_WORDS:
            self.middle = min(max(_longer_than(roots, _NARROW_DEGREE), slots.begin), slots.end)

        self.tiny = slots.end
        if self.max_words:
            self.tiny = min(max(_longer_than(roots, _TINY_DEGREE), self.middle), slots.end)
        self.wide = min(max(_longer_than(roots, 32) - self.middle, 0), self.tiny - self.middle)

        frame_words = 2 * self.space_degree // 32 + _FRAME_HEADER
        stack_words = min(k, self.degree // 2 + 2) * frame_words
        self.overflow_words = stack_words if stack_words > _STACK_WORDS else 0
        if self.max_words == 0:
            self.overflow_words = stack_words + (1 + _LIST_WORDS) * self.set_words
        self.space_words = _space_words(self.max_words, self.space_degree)
        self.shared_bytes = 4 * (_region_words(self.max_words) + _WARPS * self.space_words)

    @property
    def large(self) -> int:
        return self.middle - self.slots.begin

    @property
    def small(self) -> int:
        return self.slots.end - self.middle

    def grid(self) -> int:
        """The number of resident blocks, even if roots are fewer: blocks without a root of their own help others."""
        per_multiprocessor = self.device.max_shared_bytes // (self.shared_bytes + _RESERVED_SHARED_BYTES)
        resident = self.device.num_multiprocessors * max(1, min(_BLOCKS, per_multiprocessor))
        helped = 64 if self.k > 3 else 1
        return max(1, min(resident, helped * (self.large + -(-self.small // _WARPS))))

    def run(
        self,
        kernel: PivotKernel,
        task: Task,
        found: PivotCount,
        control: Control,
        most_launches: int | None,
    ) -> None:
        device, grid, stride = self.device, self.grid(), _record_words(self.set_words)
        capacity = _queue_records(stride)
        buffer = device.zeros(_WORK_WORDS + (capacity + 1) // 2, np.int64)
        work, flags = buffer[:_WORK_WORDS], buffer[_WORK_WORDS:].view(np.uint32)[:capacity]
        records = device.empty((capacity, stride), np.uint32)
        overflow = device.empty(max(1, grid * _WARPS * self.overflow_words), np.uint32)
        offsets, _, roots, shifts, slab = self.rows.arguments
        table = self._leaves() if kernel.as_leaves else self._binomials()
        shape = (np.int32(table.shape[2]), np.int32(table.shape[0])) if kernel.as_leaves else ()
        draws = _Draws.of(self.wide, self.tiny - self.middle, self.slots.end - self.tiny, _WARPS * grid)
        slots = (
            self.slots.begin,
            self.middle,
            self.slots.end,
            task.begin,
            task.end,
            self.tiny,
            draws.alone,
            draws.of_several,
        )
        arguments = (
            offsets,
            roots.astype(np.int32, copy=False),  # views on CUDA devices have no more rows than this type holds
            shifts,
            slab,
            *(np.int64(value) for value in slots),
            *(np.int32(value) for value in (self.k, draws.several, draws.tiny, cut_out_from(self.k), GIVE_WHEN)),
            *(np.uint32(value) for value in (NODES_PER_LAUNCH, patience(device))),
            *(np.int32(value) for value in (self.space_words, self.overflow_words)),
            overflow,
            device.constant("matchings", _matchings),
            table,
            *shape,
            flags,
            records,
            np.uint32(capacity),
            np.int32(stride),
            work,
        )
        kernels = device.load(kernel.source, MAX_WORDS=str(self.max_words), **kernel.defines)
        launches = 0
        while True:
            kernels.launch(kernel.source.entries[0], grid, 32 * _WARPS, arguments, self.shared_bytes)
            launches += 1
            now = device.get(work)
            raise_fault(now, kernel.source.stem, device.name)
            takers, givers = (int(value) for value in now[_QUEUE : _QUEUE + 1].view(np.uint32))
            if now[_LARGE] >= self.large and now[_SMALL] >= draws.number and takers >= givers:
                break
            if launches == most_launches:
                found.complete = False
                break
            control.check()
            _start_new_list(device, work, flags, records, takers, givers)
        self.rows.check(device.get(self.rows.work), kernel.source.stem, device.name)
        found.nodes += int(now[_NODES])
        found.given += givers
        if kernel.as_leaves:
            found.leaves.append(device.get(table.sum(axis=0)))
        else:
            low, high = now[_TOTAL : _TOTAL + 2].view(np.uint64).tolist()
            found.total += low + (high << 64)

    def _leaves(self) -> Any:
        """Tables of leaves: copies, held, pivots."""
        width = self.degree + 1
        copies = max(1, min(_MOST_LEAF_COPIES, _LEAF_CELLS // (width * (self.k + 1))))
        return self.device.zeros((copies, self.k + 1, width), np.uint64)

    def _binomials(self) -> Any:
        """Binomials up to the longest row, rounded up to whole words of a set, so that graphs share a few tables."""
        most = -(-self.degree // 64) * 64
        return self.device.constant(("binomials", most, self.k), lambda: binomials(most, self.k, 2))


def _record_words(set_words: int) -> int:
    """Words of a task in the queue: two sets."""
    return _TASK_HEADER + 2 * set_words


def _queue_records(record_words: int) -> int:
    return min(QUEUE_RECORDS, _QUEUE_WORDS // record_words)


def cut_out_from(k: int) -> int:
    """The number of missing vertices from which the candidates of a search get a separate matrix."""
    return k if k <= NEVER_CUT_OUT_UP_TO else CUT_OUT_FROM


def patience(device: KernelDevice) -> int:
    """How often an idle warp looks for work. Emulated blocks must not wait, because they run one after another."""
    return 0 if device.xp is np else PATIENCE


def _start_new_list(device: KernelDevice, work: Any, flags: Any, records: Any, takers: int, givers: int) -> None:
    """Moves the records that no warp has taken to the front of the queue's list, and frees the rest of the list."""
    left = max(0, givers - takers)
    records[:left] = records[takers:givers].copy()
    flags[:] = 0
    flags[:left] = 1
    work[_QUEUE:] = device.asarray(np.array([0, left, 0, 0], np.uint32).view(np.int64))


def _matchings() -> AnyArray:
    """C(m, j) 2^j: the ways to choose j of m pairs and one end of each."""
    side = range(_MOST_PAIRS + 1)
    return np.array([[comb(m, j) << j for j in side] for m in side], np.uint64)


def _region_words(max_words: int) -> int:
    """32-bit words of pivot_region<max_words>, rounded up to a multiple of 16 bytes."""
    if max_words <= _NARROW_WORDS:
        return 0
    levels = _LEVELS * (1 + 2 * max_words)
    words = 9 + max_words + levels + 16 * max_words + max_words * (32 * max_words + 1)
    return -(-words // 4) * 4


def _space_words(max_words: int, degree: int) -> int:
    """32-bit words of a warp_space for roots of up to `degree` neighbors, rounded up to a multiple of 16 bytes."""
    lists = 16 * max(max_words, _NARROW_WORDS) + _NARROW_DEGREE // 2 + _SINGLE_STRIDE // 2
    matrices = _NARROW_WORDS * _NARROW_STRIDE + _SINGLE_STRIDE
    return -(-(matrices + _STACK_WORDS + lists + _STATE_WORDS + 2 * -(-degree // 32)) // 4) * 4
