"""Drives cliques/credit.cu: counts k-cliques by vertex or by edge by enumeration, one block per root."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import perf_counter
from typing import Any, Literal

import numpy as np

from graphlode.common.control import Control
from graphlode.common.counts import bound_of_rows, limbs_for
from graphlode.cuda.cliques.plan import next_slice
from graphlode.cuda.cliques.rows import CliqueRows, batches, build_rows, rows_memory, select_roots
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, vertex_define
from graphlode.errors import UnsupportedError
from graphlode.types import Task

OPERATION = "mining.cliques"
SOURCE = KernelSource(
    "cliques/credit", ("clique_credit",), {"VERTEX_T": ("int", "long long"), "BY": ("BY_VERTEX", "BY_EDGE")}
)

# As in cliques/credit.cu: sets have at most 32 words, one per lane; a path fits in the lanes of a warp.
LONGEST_ROW = 1024
LARGEST_K = 33

_WARPS, _WORK_WORDS, _DRAWN = 4, 3, 2
_FIRST_SLICE = 1 << 10
_SCRATCH_BYTES = 1 << 30
_BATCH_WORDS = 1 << 26


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    k: int,
    by: Literal["vertex", "edge"],
) -> dict[str, Any]:
    """k-cliques (k >= 3) whose two lowest vertices are entries of the tasks, counted by rank or by entry."""
    longest = len(view["row_counts"]) - 2
    if longest >= k - 1 and (longest > LONGEST_ROW or k > LARGEST_K):
        raise UnsupportedError(
            f'{OPERATION} on {device.name}: enumeration with by="{by}" takes rows of up to {LONGEST_ROW} entries and k up '
            f'to {LARGEST_K}, got {longest} and {k}; use method="pivot" or devices="cpu"'
        )
    limbs = limbs_for(bound_of_rows(view["row_counts"], k))
    units = len(view["offsets"]) - 1 if by == "vertex" else len(view["neighbors"])
    counts = device.zeros((units, limbs), np.uint64)
    total = sum(_count(device, view, task, counts, control=control, k=k, by=by) for task in tasks)
    return {"total": total, "counts": device.get(counts)}


def memory(device: KernelDevice, shape: Mapping[str, int], *, k: int, by: Literal["vertex", "edge"]) -> int:
    """Bytes in addition to the view: bit rows, sums of the active roots, and counts of two limbs."""
    units = shape["num_vertices"] if by == "vertex" else shape["num_edges"]
    return min(rows_memory(shape), 4 * _BATCH_WORDS) + _SCRATCH_BYTES + 16 * units


def _count(
    device: KernelDevice, view: Mapping[str, Any], task: Task, counts: Any, *, control: Control, k: int, by: str
) -> int:
    roots = select_roots(device, view, task, shortest=k - 1)
    work = device.zeros(_WORK_WORDS, np.int64)
    size, left = _FIRST_SLICE, task.end - task.begin
    for batch in batches(roots, _BATCH_WORDS):
        rows = build_rows(device, view, roots, batch)
        rows.check(device.get(rows.work), OPERATION, device.name)
        degree = roots.longest_in(batch)
        sums = degree + 1 if by == "vertex" else degree * (degree + 1)
        most_blocks = max(1, min(8 * device.num_multiprocessors, _SCRATCH_BYTES // (8 * sums)))
        scratch = device.zeros(most_blocks * sums, np.uint64)
        begin = batch.begin
        while begin < batch.end:
            control.check()
            end = min(batch.end, begin + size)
            started = perf_counter()
            work[_DRAWN] = 0
            blocks = min(most_blocks, end - begin)
            _launch(device, rows, Task(begin, end), task, blocks, scratch, sums, counts, work, degree, k, by)
            device.synchronize()
            size = next_slice(size, perf_counter() - started)
            share = left * (end - begin) // (roots.num_roots - begin)
            control.advance(share)
            left -= share
            begin = end
    control.advance(left)
    low, high = (int(word) & (2**64 - 1) for word in device.get(work)[:2])
    return low + (high << 64)


def _launch(
    device: KernelDevice,
    rows: CliqueRows,
    slots: Task,
    task: Task,
    blocks: int,
    scratch: Any,
    sums: int,
    counts: Any,
    work: Any,
    degree: int,
    k: int,
    by: str,
) -> None:
    frame_words = 2 * k * -(-degree // 32)
    kernel = device.load(SOURCE, VERTEX_T=vertex_define(rows.arguments[1].dtype), BY=f"BY_{by.upper()}")
    scalars = (
        *(np.int64(x) for x in (slots.begin, slots.end, task.begin, task.end)),
        np.int32(k),
        np.int32(frame_words),
        np.int64(sums),
    )
    arguments = (*rows.arguments, *scalars, scratch, np.int32(counts.shape[1]), counts, work)
    kernel.launch("clique_credit", blocks, 32 * _WARPS, arguments, 4 * _WARPS * frame_words)
