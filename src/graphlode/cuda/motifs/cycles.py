"""Drives motifs/cycles.cu: counts 5-cycles from their highest vertices, with the wedges to every other vertex."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.motifs.graph import MotifGraph
from graphlode.cuda.motifs.tasks import CYCLE_WEDGES_PER_LAUNCH, WARP_WORDS, Tasks, launches, wait_between

SOURCE = KernelSource("motifs/cycles", ("motif_cycles",))

SCRATCH_BYTES = 1 << 30  # of counters in global memory


def count_cycles(
    device: KernelDevice, graph: MotifGraph, tasks: Tasks, words: int, work: Any, *, control: Control
) -> None:
    """Adds the sum over 5-cycles, each from its highest vertex."""
    for shape in launches(device, tasks, words, CYCLE_WEDGES_PER_LAUNCH):
        control.check()
        tabled = shape.ranges[3] - shape.ranges[2]
        items = shape.num_untabled + tabled + -(-(shape.ranges[5] - shape.ranges[4]) * 32 // shape.threads)
        blocks = min(items, shape.blocks)
        scratch_words = 1
        if shape.num_untabled:
            blocks = min(blocks, max(1, SCRATCH_BYTES // (8 * graph.num_vertices)))
            scratch_words = blocks * graph.num_vertices
        arguments = (
            *(graph.offsets, graph.neighbors, graph.lower, graph.firsts, graph.places),
            *(np.int32(graph.num_vertices), tasks.keys, *(np.int64(x) for x in shape.ranges)),
            *(np.int32(WARP_WORDS), device.zeros(scratch_words, np.uint32), device.empty(scratch_words, np.int32)),
            *(device.zeros(3, np.uint64), work),
        )
        shared_bytes = 4 * shape.shared_words
        device.load(SOURCE).launch("motif_cycles", blocks, shape.threads, arguments, shared_bytes)
        wait_between(device, tasks, CYCLE_WEDGES_PER_LAUNCH)
