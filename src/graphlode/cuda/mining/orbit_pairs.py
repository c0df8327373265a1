"""Drives mining/orbit_pairs.cu: sums over the common neighbors of all pairs, from each end of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.mining.motif_graph import MotifGraph
from graphlode.cuda.mining.motif_tasks import (
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
from graphlode.cuda.mining.orbit_arrays import OrbitEntries

SOURCE = KernelSource("mining/orbit_pairs", ("orbit_pairs",), {"EDGES": ("0", "1")})

WEDGES_PER_LAUNCH = 1 << 28
SCRATCH_BYTES = 1 << 30
_TABLE_BITS = (2 * SMALL_WEDGES - 1).bit_length()
_SLOT_WORDS = 4  # and two more for edges
_MOST_KEY = (1 << 31) - 1


def count_pairs(
    device: KernelDevice,
    graph: MotifGraph,
    values: Any,
    products: Any,
    *,
    size: int,
    edges: bool,
    control: Control,
) -> None:
    """Every vertex with two neighbors or more, by the number of its wedges: with a table, or with counters by vertex."""

    def launch(ranges: tuple[int, int, int, int], threads: int, blocks: int) -> None:
        _launch(device, graph, tasks, ranges, threads, blocks, values, products, size=size, edges=edges)
        device.synchronize()
        control.check()

    beyond = (graph.degrees - graph.firsts)[graph.neighbors].astype(np.int64) - 1
    wedges = OrbitEntries(device, graph, {}).row_sum(beyond) * (graph.degrees >= 2)
    keys = device.xp.minimum(wedges, _MOST_KEY) << 32 | device.xp.arange(graph.num_vertices, dtype=np.int64)
    tasks = make_tasks(device, [keys], wedges.sum(keepdims=True), large_words(device))[0]
    something, _, untabled, _, end = tasks.cuts
    for begin, stop in pieces(device, tasks, untabled, end, WEDGES_PER_LAUNCH):
        launch((begin, stop, 0, 0), LARGE_THREADS, LARGE_BLOCKS)
    if something < untabled:
        launch((0, 0, something, untabled), SMALL_THREADS, SMALL_BLOCKS)


def _launch(
    device: KernelDevice,
    graph: MotifGraph,
    tasks: Tasks,
    ranges: tuple[int, int, int, int],
    threads: int,
    blocks_per_multiprocessor: int,
    values: Any,
    products: Any,
    *,
    size: int,
    edges: bool,
) -> None:
    n = graph.num_vertices
    listed, tabled = ranges[1] - ranges[0], ranges[3] - ranges[2]
    blocks = min(listed + tabled, blocks_per_multiprocessor * device.num_multiprocessors)
    if listed:
        blocks = max(1, min(blocks, SCRATCH_BYTES // (24 * n)))
    counters = blocks * n if listed else 1
    longest = int(graph.degrees[-1]) if edges else 1
    arguments = (
        *(*graph.arguments, graph.degrees, tasks.keys, *(np.int64(x) for x in ranges)),
        *(np.int32(x) for x in (_TABLE_BITS, size, longest)),
        np.int64(graph.num_entries),
        device.zeros(3 * counters, np.uint32),
        device.zeros(counters if edges else 1, np.uint64),
        device.empty(counters, np.int32),
        device.empty(2 * longest * blocks * threads // 32 if edges else 1, np.int32),
        *(device.zeros(2, np.uint64), values, products),
    )
    shared_bytes = 4 * (_SLOT_WORDS + 2 * edges) << _TABLE_BITS if tabled else 0
    device.load(SOURCE, EDGES=str(int(edges))).launch("orbit_pairs", blocks, threads, arguments, shared_bytes)
