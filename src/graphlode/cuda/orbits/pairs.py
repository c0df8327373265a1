"""Drives orbits/pairs.cu: sums over the common neighbors of all pairs, from each end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.motifs.graph import MotifGraph
from graphlode.cuda.motifs.tasks import (
    LARGE_BLOCKS,
    LARGE_THREADS,
    SMALL_BLOCKS,
    SMALL_THREADS,
    SMALL_WEDGES,
    Tasks,
    large_words,
    make_tasks,
    pieces,
)
from graphlode.cuda.motifs.twins import twin_hubs
from graphlode.cuda.motifs.wedges import range_cuts
from graphlode.cuda.orbits.arrays import OrbitEntries
from graphlode.types import Task

SOURCE = KernelSource("orbits/pairs", ("orbit_pairs", "orbit_twins"), {"EDGES": ("0", "1")})

WEDGES_PER_LAUNCH = 1 << 28
SCRATCH_BYTES = 1 << 30
MOST_RANGES = 64
_TABLE_BITS = (2 * SMALL_WEDGES - 1).bit_length()
_COUNTERS = 3  # per vertex, one of them only for edges; a slot of a table also has a key
_MOST_KEY = (1 << 31) - 1


def count_pairs(
    device: KernelDevice,
    graph: MotifGraph,
    task: Task,
    values: Any,
    *,
    size: int,
    edges: bool,
    control: Control,
) -> None:
    """Counts vertices of the task with two or more neighbors: with a table, by ranges, or with counters by vertex."""

    def launch(ranges: tuple[int, int, int, int], threads: int, blocks: int) -> None:
        _launch(device, graph, tasks, ranges, parts, twins, threads, blocks, values, size=size, edges=edges)
        device.synchronize()
        control.check()

    beyond = (graph.degrees - graph.firsts)[graph.neighbors].astype(np.int64) - 1
    rows = slice(task.begin, task.end)
    wedges = OrbitEntries(device, graph, {}).row_sum(beyond)[rows] * (graph.degrees[rows] >= 2)
    keys = device.xp.minimum(wedges, _MOST_KEY) << 32 | device.xp.arange(task.begin, task.end, dtype=np.int64)
    tasks = make_tasks(device, [keys], wedges.sum(keepdims=True), large_words(device))[0]
    nonempty, _, untabled, _, end = tasks.cuts
    parts = _make_ranges(device, graph, edges) if untabled < end else _Ranges(0, 1, device.empty(1, np.int32))
    # Rims and bridges are added to edges of all members of a class, so there are no leaders for edges.
    twins = twin_hubs(device, graph, -1 if edges else tasks.total)
    for begin, stop in pieces(device, tasks, untabled, end, WEDGES_PER_LAUNCH):
        launch((begin, stop, 0, 0), LARGE_THREADS, LARGE_BLOCKS)
    if nonempty < untabled:
        launch((0, 0, nonempty, untabled), SMALL_THREADS, SMALL_BLOCKS)
    if int(twins[0]) < graph.num_vertices:
        bounds = (np.int64(int(x)) for x in device.get(graph.offsets[[task.begin, task.end]]))
        copied = (*graph.arguments, graph.rows, np.int64(graph.num_entries), *bounds, *twins, values)
        grid, block = launch_shape(device, graph.num_entries)
        device.load(SOURCE, EDGES=str(int(edges))).launch("orbit_twins", grid, block, copied)


@dataclass(frozen=True)
class _Ranges:
    """Ranges of vertices whose counters fit in shared memory; no ranges if there would be too many."""

    span: int
    number: int
    cuts: Any


def _make_ranges(device: KernelDevice, graph: MotifGraph, edges: bool) -> _Ranges:
    vertices = graph.num_vertices - graph.first_vertex
    most = large_words(device) // (_COUNTERS if edges else _COUNTERS - 1)
    number = max(1, -(-vertices // most))
    if number > MOST_RANGES:
        return _Ranges(0, 1, device.empty(1, np.int32))
    span = max(1, -(-vertices // number))
    return _Ranges(span, number, range_cuts(device, graph, number, span))


def _launch(
    device: KernelDevice,
    graph: MotifGraph,
    tasks: Tasks,
    ranges: tuple[int, int, int, int],
    parts: _Ranges,
    twins: tuple[Any, Any, Any],
    threads: int,
    blocks_per_multiprocessor: int,
    values: Any,
    *,
    size: int,
    edges: bool,
) -> None:
    n = graph.num_vertices
    large, tabled = (ranges[1] - ranges[0]) * parts.number, ranges[3] - ranges[2]
    blocks = min(large + tabled, blocks_per_multiprocessor * device.num_multiprocessors)
    counters = 1
    if large and parts.span == 0:
        blocks = max(1, min(blocks, SCRATCH_BYTES // (4 * (_COUNTERS + 1) * n)))
        counters = blocks * n
    longest = int(graph.degrees[-1]) if edges else 1
    arguments = (
        *(*graph.arguments, graph.degrees, tasks.keys, *(np.int64(x) for x in ranges)),
        *(np.int32(x) for x in (graph.first_vertex, parts.span, len(parts.cuts) > 1)),
        parts.cuts,
        *(np.int32(x) for x in (_TABLE_BITS, size, longest)),
        *(np.int64(graph.num_entries), *twins),
        device.zeros(_COUNTERS * counters, np.uint32),
        device.empty(counters, np.int32),
        device.empty(2 * longest * blocks * threads // 32 if edges else 1, np.int32),
        *(device.zeros(2, np.uint64), values),
    )
    shared_words = (_COUNTERS + 1) << _TABLE_BITS if tabled else 0
    if large and parts.span:
        shared_words = max(shared_words, _COUNTERS * parts.span if edges else (_COUNTERS - 1) * parts.span)
    device.load(SOURCE, EDGES=str(int(edges))).launch("orbit_pairs", blocks, threads, arguments, 4 * shared_words)
