"""Drives motifs/wedges.cu: sums over pairs of vertices that have common neighbors.

Wedges are enumerated from their higher end: one task per vertex and, for vertices with many, per range of other ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.motifs.graph import MotifGraph
from graphlode.cuda.motifs.tasks import (
    PAIR_WEDGES_PER_LAUNCH,
    WARP_WORDS,
    Tasks,
    launches,
    make_tasks,
    wait_between,
)
from graphlode.cuda.motifs.twins import twin_hubs
from graphlode.types import Task

SOURCE = KernelSource("motifs/wedges", ("motif_wedge_counts", "motif_range_cuts", "motif_wedges"))

_CUTS_BYTES = 1 << 28
_PACKED_LIMIT = 1 << 16  # common neighbors; with fewer, two counters share a word


def wedge_tasks(device: KernelDevice, graph: MotifGraph, task: Task, words: int) -> list[Tasks]:
    """Task lists of the passes over pairs and over 5-cycles."""
    rows = task.end - task.begin
    keys, totals = [device.empty(rows, np.int64) for _ in range(2)], device.zeros(2, np.int64)
    inputs = (graph.offsets, graph.neighbors, graph.firsts, graph.places, np.int32(task.begin), np.int32(task.end))
    grid, block = launch_shape(device, 32 * rows)
    device.load(SOURCE).launch("motif_wedge_counts", grid, block, (*inputs, *keys, totals))
    return make_tasks(device, keys, totals, words)


def count_pairs(
    device: KernelDevice,
    graph: MotifGraph,
    tasks: Tasks,
    words: int,
    work: Any,
    *,
    with_third: bool,
    control: Control,
) -> None:
    """Adds the sums over pairs; `with_third` also those that use common neighbors of three vertices."""
    vertices = graph.num_vertices - graph.first_vertex
    room = words if graph.most_common >= _PACKED_LIMIT else 2 * words
    num_ranges = max(1, -(-vertices // room))
    span = max(1, -(-vertices // num_ranges))
    ranged = tasks.cuts[-2] < tasks.cuts[-1]
    cuts = range_cuts(device, graph, num_ranges, span) if ranged else device.empty(1, np.int32)
    twins = twin_hubs(device, graph, tasks.total)
    for shape in launches(device, tasks, words, PAIR_WEDGES_PER_LAUNCH):
        control.check()
        untabled, tabled = shape.num_untabled * num_ranges, shape.ranges[3] - shape.ranges[2]
        items = untabled + tabled + -(-(shape.ranges[5] - shape.ranges[4]) * 32 // shape.threads)
        arguments = (
            *(*graph.arguments, graph.degrees, tasks.keys, *(np.int64(x) for x in shape.ranges)),
            *(np.int32(x) for x in (graph.first_vertex, span, words, WARP_WORDS, with_third, len(cuts) > 1)),
            *(cuts, *twins, device.zeros(3, np.uint64), work),
        )
        kernels = device.load(SOURCE)
        kernels.launch("motif_wedges", min(items, shape.blocks), shape.threads, arguments, 4 * shape.shared_words)
        wait_between(device, tasks, PAIR_WEDGES_PER_LAUNCH)


def range_cuts(device: KernelDevice, graph: MotifGraph, num_ranges: int, span: int) -> Any:
    """By row, the position at which each range of vertices begins. If this needs too much memory, kernels search."""
    count = graph.num_vertices * (num_ranges + 1)
    if num_ranges == 1 or 4 * count > _CUTS_BYTES:
        return device.empty(1, np.int32)
    cuts = device.empty(count, np.int32)
    grid, block = launch_shape(device, count)
    scalars = (np.int32(x) for x in (graph.num_vertices, graph.first_vertex, span, num_ranges))
    inputs = (graph.offsets, graph.neighbors, *scalars)
    device.load(SOURCE).launch("motif_range_cuts", grid, block, (*inputs, cuts))
    return cuts
