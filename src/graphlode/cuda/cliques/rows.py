"""Drives cliques/rows.cu: the neighborhood of every root of a task as a matrix of bits, all in one slab.

For a driver that searches below roots:

    roots = select_roots(device, view, task, shortest=k - 1)   # slots by falling length; rows that the task touches
    for batch in batches(roots):                               # almost always one
        rows = build_rows(device, view, roots, batch)
        kernels.launch(..., (*rows.arguments, ...))            # slots batch.begin .. batch.end of rows
    rows.check(words, OPERATION)                               # words: the host's copy of rows.work

`rows.arguments` are the five arrays of `clique_rows<VERTEX_T>` in cliques/rows.cuh, in order: offsets, neighbors, roots
(by slot), slab_shifts (int64, by length), slab (uint32). In a kernel, `rows.at(slot)` gives the vertex of the root, its
first entry, its number of neighbors d, the words ceil(d / 32) of a bit row, and the begin of its d rows. Bits are
undirected: bit j of row i and bit i of row j. `bits_above(i, word)` masks a row to the neighbors that rank above i,
which makes it the directed row. `roots.row_counts[d]` is the number of slots with at least d neighbors (on the host),
so slots of the size class (low, high] are row_counts[high + 1] .. row_counts[low + 1].

A task is a range of entries. `select_roots` also returns rows that are only partly in it (at most two). A kernel clips
the positions of a root to the task, that is to begin - root.begin .. end - root.begin.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from graphlode.common.cached import cached_property
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, raise_fault, vertex_define
from graphlode.types import Int64Array, Task

SOURCE = KernelSource(
    "cliques/rows", ("clique_rows_build", "clique_rows_build_long"), {"VERTEX_T": ("int", "long long")}
)

# As in cliques/rows.cu.
_WARPS, _WARP_DEGREES, _BLOCK_DEGREE, _SPREAD = 8, (64, 32, 16, 8), 512, 4
_WORK_WORDS = 4

SLAB_WORDS = 1 << 28
"""Largest number of words of the slab. Roots that need more are searched in several batches. One root may need more."""


@dataclass(frozen=True)
class CliqueRoots:
    """Rows of an oriented view, by falling length: slot s is row `roots[s]`."""

    roots: Any  # on the device
    row_counts: Int64Array  # row_counts[d]: slots with at least d neighbors, for d = 0 .. longest + 1
    num_roots: int  # slots that are long enough to search; `roots` may hold more
    whole: bool = False  # whether these are all rows of a view; if so, tables that depend on them stay on the device

    @property
    def longest(self) -> int:
        return len(self.row_counts) - 2

    @cached_property
    def key(self) -> bytes:
        """A key that identifies the row counts."""
        return self.row_counts.tobytes()

    def longest_in(self, batch: Task) -> int:
        """Number of neighbors of the first slot of a batch."""
        return int(np.searchsorted(-self.row_counts, -batch.begin)) - 1


@dataclass(frozen=True)
class CliqueRows:
    """The bit rows of a batch of roots, on the device."""

    arguments: tuple[Any, ...]
    work: Any  # its first two words are the status
    batch: Task

    def check(self, words: Any, operation: str, device: str) -> None:
        """Raise KernelFaultError if the build found an invalid neighbor; `words` is `work` on the host."""
        raise_fault(words, operation, device)


def select_roots(device: KernelDevice, view: Mapping[str, Any], task: Task, *, shortest: int) -> CliqueRoots:
    """The roots with at least `shortest` neighbors and at least one entry in the task."""
    row_counts: Int64Array = view["row_counts"]
    if shortest >= len(row_counts):
        return CliqueRoots(view["roots"], np.zeros(2, np.int64), 0)
    enough = int(row_counts[shortest])
    if task.begin == 0 and task.end == len(view["neighbors"]):
        return CliqueRoots(view["roots"], row_counts, enough, whole=True)
    offsets, roots = view["offsets"], view["roots"][:enough]
    touched = (offsets[roots] < task.end) & (offsets[roots + 1] > task.begin)
    roots = roots[touched]
    lengths = device.get(offsets[roots + 1] - offsets[roots])
    counts = np.append(np.bincount(lengths, minlength=1)[::-1].cumsum()[::-1], 0)
    return CliqueRoots(roots, counts, len(lengths))


def batches(roots: CliqueRoots, most_words: int = 0) -> Iterator[Task]:
    """Ranges of slots whose matrices fit in the slab, heaviest first."""
    limit = most_words or SLAB_WORDS
    words, begins, total = _layout(roots.key)
    if total <= limit:
        if roots.num_roots:
            yield Task(0, roots.num_roots)
        return
    slot = 0
    while slot < roots.num_roots:
        degree = int(np.searchsorted(-roots.row_counts, -slot)) - 1
        end_word = _begin_of(roots, words, begins, slot, degree) + max(limit, int(words[degree]))
        # The shortest length that still fits at least partly, then the slots of this length that fit.
        while degree > 0 and begins[degree - 1] <= end_word and roots.row_counts[degree] < roots.num_roots:
            degree -= 1
        first = int(roots.row_counts[degree + 1])
        fitting = (end_word - int(begins[degree])) // max(1, int(words[degree]))
        end = min(first + fitting, int(roots.row_counts[degree]), roots.num_roots)
        yield Task(slot, end)
        slot = end


def build_rows(device: KernelDevice, view: Mapping[str, Any], roots: CliqueRoots, batch: Task) -> CliqueRows:
    """The matrices of the slots of a batch. Returns before they are built: use them on the same stream."""
    offsets, neighbors = view["offsets"], view["neighbors"]
    words, begins, _ = _layout(roots.key)
    degree = roots.longest_in(batch)
    start = _begin_of(roots, words, begins, batch.begin, degree)
    last_degree = int(np.searchsorted(-roots.row_counts, -(batch.end - 1))) - 1
    size = _begin_of(roots, words, begins, batch.end, last_degree) - start
    shifts = _shifts(device, roots, start)
    slab = device.empty(max(1, size), np.uint32)
    work = device.zeros(_WORK_WORDS, np.int64)
    arguments = (offsets, neighbors, roots.roots, shifts, slab)
    kernels = device.load(SOURCE, VERTEX_T=vertex_define(neighbors.dtype))
    inputs = (*arguments[:4], np.int64(len(offsets) - 1))

    first = min(batch.end, max(batch.begin, _longer_than(roots, _BLOCK_DEGREE)))
    if batch.begin < first:
        grid = min(first - batch.begin, 4 * device.num_multiprocessors)
        scalars = (np.int64(batch.begin), np.int64(first))
        kernels.launch("clique_rows_build_long", grid, 32 * _WARPS, (*inputs, *scalars, slab, work))
    if first < batch.end:
        within = [min(batch.end, max(first, _longer_than(roots, most))) for most in _WARP_DEGREES]
        middle = within[0]
        degree = min(degree, _BLOCK_DEGREE)
        itemsize = neighbors.dtype.itemsize
        warp_bytes = _SPREAD * _WARP_DEGREES[0] * (itemsize + 2)
        shared_bytes = max(_WARPS * warp_bytes, _space_bytes(degree, itemsize) if first < middle else 0)
        blocks = min(8, max(1, device.max_shared_bytes // (shared_bytes + 1024)))
        items = (middle - first) + -(-(batch.end - middle) // _WARPS)
        grid = max(1, min(items, blocks * device.num_multiprocessors))
        per_draw = max(4, min(32, (batch.end - within[2]) // (4 * _WARPS * grid) // 4 * 4))
        slots = (np.int64(slot) for slot in (first, *within, batch.end))
        scalars_ = (*slots, np.int32(degree), np.int32(per_draw))
        kernels.launch("clique_rows_build", grid, 32 * _WARPS, (*inputs, *scalars_, slab, work), shared_bytes)
    return CliqueRows(arguments, work, batch)


def rows_memory(shape: Mapping[str, int]) -> int:
    """An upper bound of the bytes of a slab: a degeneracy order has no rows longer than sqrt(2 m)."""
    edges = shape["num_edges"]
    longest = int((2 * edges) ** 0.5) + 1
    return 4 * min(SLAB_WORDS, edges * -(-longest // 32))


class _Layout(NamedTuple):
    """The layout of matrices stored back to back, if all slots are in one slab."""

    words: Int64Array  # of the matrix of a root, by its number of neighbors
    begins: Int64Array  # by number of neighbors, the word at which slots of this length begin
    total: int


@lru_cache(maxsize=64)
def _layout(row_counts: bytes) -> _Layout:
    counts = np.frombuffer(row_counts, np.int64)
    exactly = counts[:-1] - counts[1:]
    degrees = np.arange(exactly.size)
    words = degrees * ((degrees + 31) // 32)
    ends = (exactly * words)[::-1].cumsum()[::-1]
    return _Layout(words, ends - exactly * words, int(ends[0]))


def _shifts(device: KernelDevice, roots: CliqueRoots, start: int) -> Any:
    """By number of neighbors, the offset that turns slot times words into the position in the slab."""

    def make() -> Int64Array:
        words, begins, _ = _layout(roots.key)
        return begins - roots.row_counts[1:] * words - start

    return device.constant(("slab shifts", roots.key, start), make) if roots.whole else device.asarray(make())


def _begin_of(roots: CliqueRoots, words: Int64Array, begins: Int64Array, slot: int, degree: int) -> int:
    return int(begins[degree] + (slot - roots.row_counts[degree + 1]) * words[degree])


def _longer_than(roots: CliqueRoots, degree: int) -> int:
    return int(roots.row_counts[degree + 1]) if degree + 1 < len(roots.row_counts) else 0


def _space_bytes(degree: int, itemsize: int) -> int:
    """Shared memory to build a matrix: row begins, the table of members with positions, bits. As build_space."""
    slots = 1 << max(5, (degree * _SPREAD - 1).bit_length())
    return -(-(degree * 16 + slots * (itemsize + 2) + 4 * degree * -(-degree // 32)) // 16) * 16
