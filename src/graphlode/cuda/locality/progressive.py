"""Drives locality/progressive.cu: passes over a list of edges on the device."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape, on_stream
from graphlode.types import Int64Array

SOURCE = KernelSource("locality/progressive", ("progressive_send", "progressive_pass"))

_MOST_WARPS = 8


@on_stream
def reorder(device: KernelDevice, edges: Int64Array, lanes: int, level: int, control: Control) -> None:
    """One pass over packed edges on the host, in place."""
    device_edges = device.asarray(edges)
    run_pass(device, device_edges, lanes, level, control)
    edges[...] = device.get(device_edges)


def run_pass(device: KernelDevice, edges: Any, lanes: int, level: int, control: Control, along: Any = None) -> None:
    """A pass that reorders edges on the device, unless its level is too deep to change anything.

    `along`: whether destinations are in the upper half, the values that sources send, and the sums they are added to.
    None: nothing is sent.
    """
    control.check()
    groups = lanes ** (level - 1)
    if groups >= len(edges):  # at most one edge per group
        if along is not None:
            send(device, edges, control, along)
        return
    full_steps, longer = divmod(len(edges), groups * lanes)
    rows = lanes if full_steps else -(-len(edges) // groups)
    steps = groups * (full_steps + (longer > 0))
    by_destination, sent, sums = (False, edges, edges) if along is None else along
    cuts = (np.int32(lanes), np.int64(groups * lanes), np.int64(full_steps), np.int64(longer))
    sizes = (np.int32(rows), np.int64(steps), np.int32(along is not None), np.int32(by_destination))
    threads = WARP * min(_MOST_WARPS, max(1, rows // 2))
    grid, block = launch_shape(device, steps, threads=threads, per_block=WARP, blocks_per_multiprocessor=16)
    arguments = (edges, *cuts, *sizes, sent, sums)
    device.load(SOURCE).launch("progressive_pass", grid, block, arguments, 8 * WARP * rows)
    device.synchronize()
    control.advance(len(edges))


def send(device: KernelDevice, edges: Any, control: Control, along: tuple[bool, Any, Any]) -> None:
    """A pass without reordering."""
    by_destination, sent, sums = along
    control.check()
    grid, block = launch_shape(device, len(edges))
    arguments = (edges, np.int64(len(edges)), np.int32(by_destination), sent, sums)
    device.load(SOURCE).launch("progressive_send", grid, block, arguments)
    device.synchronize()
    control.advance(len(edges))
