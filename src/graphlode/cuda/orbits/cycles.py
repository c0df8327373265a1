"""Drives orbits/cycles.cu: counts 5-cycles at vertices or edges, from their highest vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.motifs.graph import MotifGraph
from graphlode.cuda.motifs.tasks import CYCLE_WEDGES_PER_LAUNCH, WARP_WORDS, large_words, launches
from graphlode.cuda.motifs.wedges import wedge_tasks
from graphlode.types import Task

SOURCE = KernelSource("orbits/cycles", ("orbit_cycles",), {"EDGES": ("0", "1")})

SCRATCH_BYTES = 1 << 30  # of counters in global memory
_BYTES_PER_VERTEX = 24
_WORDS = 2  # factor compared with motif passes: a slot has four words instead of two


def count_cycles(
    device: KernelDevice,
    graph: MotifGraph,
    task: Task,
    vertices: Any,
    entries: Any,
    *,
    edges: bool,
    control: Control,
) -> None:
    """Adds the cycles whose highest vertex is in the task: twice each by vertex, or once by entry of a higher end."""
    words = large_words(device) // _WORDS
    tasks = wedge_tasks(device, graph, task, words)[1]
    kernels = device.load(SOURCE, EDGES=str(int(edges)))
    for shape in launches(device, tasks, words, CYCLE_WEDGES_PER_LAUNCH):
        tabled = shape.ranges[3] - shape.ranges[2]
        items = shape.num_untabled + tabled + -(-(shape.ranges[5] - shape.ranges[4]) * 32 // shape.threads)
        blocks = min(items, shape.blocks)
        counters = 1
        if shape.num_untabled:
            blocks = min(blocks, max(1, SCRATCH_BYTES // (_BYTES_PER_VERTEX * graph.num_vertices)))
            counters = blocks * graph.num_vertices
        arguments = (
            *(graph.offsets, graph.neighbors, graph.lower, graph.firsts, graph.places),
            *(np.int32(graph.num_vertices), tasks.keys, *(np.int64(x) for x in shape.ranges)),
            np.int32(_WORDS * WARP_WORDS),
            *(device.zeros(counters, np.uint32), device.zeros(2 * counters, np.uint64)),
            *(device.empty(counters, np.int32), device.zeros(3, np.uint64), vertices, entries),
        )
        kernels.launch("orbit_cycles", blocks, shape.threads, arguments, 4 * _WORDS * shape.shared_words)
        device.synchronize()
        control.check()
