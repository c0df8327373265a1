"""Drives mining/all_cliques.cu: cliques of every size in one search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.common.counts import sizes_of_leaves
from graphlode.cuda.cliques.pivot import MAX_WORDS, PivotCount, PivotKernel, count_task, pivot_memory
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice
from graphlode.types import Task

OPERATION = "mining.all_cliques"
SOURCE = KernelSource(
    "mining/all_cliques",
    ("all_cliques",),
    {"MAX_WORDS": tuple(str(words) for words in MAX_WORDS)},
)
LEAVES = PivotKernel(SOURCE, as_leaves=True)

# Rows with fewer neighbors have no triangle below them. The caller counts sizes 1 and 2.
_SHORTEST = 2


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    max_k: int | None,
) -> dict[str, Any]:
    """Cliques of 3 and more vertices whose lowest edge is in the tasks' entries, by size. Smaller sizes are 0."""
    longest = len(view["row_counts"]) - 2
    largest = longest + 1 if max_k is None else min(max_k, longest + 1)
    found = PivotCount()
    for task in tasks:
        if largest > _SHORTEST:
            count_task(device, view, task, LEAVES, found, k=largest, shortest=_SHORTEST, control=control)
        control.advance(task.end - task.begin)
    counts: list[int] = []
    for leaves in found.leaves:
        sizes = sizes_of_leaves(leaves, max_k)
        counts += [0] * (len(sizes) - len(counts))
        for k, size in enumerate(sizes):
            counts[k] += size
    return {"counts": counts}


def memory(device: KernelDevice, shape: Mapping[str, int], *, max_k: int | None) -> int:
    """Bytes in addition to the view."""
    return pivot_memory(device, shape, leaves=True)
