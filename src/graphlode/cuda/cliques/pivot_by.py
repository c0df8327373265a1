"""Drives cliques/pivot_by.cu: the number of k-cliques at each vertex or edge, by pivoting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from graphlode.common.control import Control
from graphlode.common.counts import binomials, bound_of_rows, limbs_for
from graphlode.cuda.cliques.rows import CliqueRoots, CliqueRows, batches, build_rows, rows_memory, select_roots
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, raise_fault, vertex_define
from graphlode.types import AnyArray, Task

OPERATION = "mining.cliques"
SOURCE = KernelSource(
    "cliques/pivot_by", ("clique_pivot_by",), {"VERTEX_T": ("int", "long long"), "BY": ("BY_VERTEX", "BY_EDGE")}
)

# As in cliques/pivot_by.cu.
_WARPS, _ROLES, _FRAME_HEADER = 8, 3, 4
_WORK_WORDS, _DRAWN = 4, 2

_SCRATCH_BYTES = 1 << 29
_ROOTS_PER_WARP = 16  # per launch; a stop takes effect between launches


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    k: int,
    by: Literal["vertex", "edge"],
) -> dict[str, Any]:
    """The number of k-cliques, in total and by rank or by entry of the oriented view."""
    limbs = limbs_for(bound_of_rows(view["row_counts"], k))
    units = len(view["offsets"]) - 1 if by == "vertex" else len(view["neighbors"])
    counts = device.zeros((units, limbs), np.uint64)
    for task in tasks:
        roots = select_roots(device, view, task, shortest=k - 1)
        for batch in batches(roots):
            rows = build_rows(device, view, roots, batch)
            _credit(device, view, roots, rows, task, counts, control=control, k=k, by=by)
        control.advance(task.end - task.begin)
    found = device.get(counts)
    shares = k if by == "vertex" else k * (k - 1) // 2  # the number of vertices or edges of a clique
    return {"total": _sum(found) // shares, "counts": found}


def memory(device: KernelDevice, shape: Mapping[str, int], *, k: int, by: Literal["vertex", "edge"]) -> int:
    """Bytes in addition to the view: bit rows, the memory of warps, and counts of two words each."""
    units = shape["num_vertices"] if by == "vertex" else shape["num_edges"]
    return rows_memory(shape) + _SCRATCH_BYTES + 16 * units


def _credit(
    device: KernelDevice,
    view: Mapping[str, Any],
    roots: CliqueRoots,
    rows: CliqueRows,
    task: Task,
    counts: Any,
    *,
    control: Control,
    k: int,
    by: str,
) -> None:
    limbs, degree = counts.shape[1], roots.longest_in(rows.batch)
    words, notes = -(-degree // 32), 2 if by == "edge" else 1
    number_words = limbs * (_ROLES + notes * (degree + 2))
    set_words = 2 * degree + 2 + 2 * words + min(k, degree // 2 + 2) * (2 * words + _FRAME_HEADER)
    block_bytes = _WARPS * (8 * number_words + 4 * set_words)
    wanted = -(-(rows.batch.end - rows.batch.begin) // _WARPS)
    grid = max(1, min(wanted, 8 * device.num_multiprocessors, _SCRATCH_BYTES // block_bytes))
    numbers = device.empty(grid * _WARPS * number_words, np.uint64)
    sets = device.empty(grid * _WARPS * set_words, np.uint32)
    table = device.asarray(_binomials(degree, k, limbs))
    work = device.zeros(_WORK_WORDS, np.int64)
    kernels = device.load(SOURCE, VERTEX_T=vertex_define(view["neighbors"].dtype), BY=f"BY_{by.upper()}")
    step = grid * _WARPS * _ROOTS_PER_WARP
    for begin in range(rows.batch.begin, rows.batch.end, step):
        control.check()
        slots = (begin, min(begin + step, rows.batch.end), task.begin, task.end)
        work[_DRAWN] = 0
        arguments = (
            *rows.arguments,
            *(np.int64(value) for value in slots),
            *(np.int32(value) for value in (k, degree, limbs)),
            table,
            numbers,
            np.int64(number_words),
            sets,
            np.int64(set_words),
            counts,
            work,
        )
        kernels.launch("clique_pivot_by", grid, 32 * _WARPS, arguments)
        raise_fault(device.get(work), OPERATION, device.name)
    rows.check(device.get(rows.work), OPERATION, device.name)


@lru_cache(maxsize=16)
def _binomials(most: int, k: int, limbs: int) -> AnyArray:
    return binomials(most, k, limbs)


def _sum(counts: AnyArray) -> int:
    """The exact sum of all numbers. It adds halves of words, whose sums cannot overflow."""
    low = (counts & np.uint64(0xFFFFFFFF)).sum(axis=0, dtype=np.uint64).tolist()
    high = (counts >> np.uint64(32)).sum(axis=0, dtype=np.uint64).tolist()
    return sum((a + (b << 32)) << (64 * limb) for limb, (a, b) in enumerate(zip(low, high, strict=True)))
