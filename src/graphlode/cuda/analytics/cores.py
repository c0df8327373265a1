"""Drives analytics/cores.cu: rounds of peeling. The host checks only after several rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape, raise_fault, vertex_define
from graphlode.types import Task

OPERATION = "analytics.cores"
SOURCE = KernelSource(
    "analytics/cores",
    ("cores_round", "cores_scan", "cores_collect", "cores_tail"),
    {"VERTEX_T": ("int", "long long")},
)

# Words of peel_state in cores.cu, followed by the two status words.
_REMAINING, _LEAST_DEGREE, _DONE, _STATE_WORDS = 6, 10, 13, 15

# The tail: limits up to which one block is faster than a grid that is launched once per round.
_TAIL_ROUNDS, _TAIL_ENTRIES, _TAIL_REMAINING = 4096, 16 * 1024, 8 * 1024

# Steps launched between two checks by the host. A step without work costs some microseconds.
_FIRST_STEPS, _MOST_STEPS = 2, 16


def launch(
    device: KernelDevice, view: Mapping[str, Any], tasks: Iterator[Task], *, control: Control
) -> dict[str, Any] | None:
    """Core number and round of removal of every vertex; the only task is the whole graph."""
    task = next(iter(tasks), None)
    if task is None:
        return None
    core, rounds = peel(device, view, control=control)
    control.advance(task.end - task.begin)
    return {"core": device.get(core), "round": device.get(rounds)}


def peel(device: KernelDevice, view: Mapping[str, Any], *, control: Control) -> tuple[Any, Any]:
    """The same as `launch`, as arrays on the device. `view` is a symmetric CSR graph."""
    xp, offsets, neighbors = device.xp, view["offsets"], view["neighbors"]
    num_vertices = len(offsets) - 1
    core, rounds = device.empty(num_vertices, np.int32), device.empty(num_vertices, np.int32)
    if num_vertices == 0:
        return core, rounds
    core.fill(-1)
    degree = xp.diff(offsets).astype(np.int32)
    queues = device.empty(2 * num_vertices, neighbors.dtype)
    listed = device.empty(2 * num_vertices, neighbors.dtype)
    listed[:num_vertices] = xp.arange(num_vertices, dtype=neighbors.dtype)
    start = np.zeros(_STATE_WORDS + 2, np.int64)
    start[_REMAINING] = num_vertices
    start[_LEAST_DEGREE] = np.iinfo(np.int64).max
    words = device.asarray(start)
    state, status = words[:_STATE_WORDS], words[_STATE_WORDS:]

    kernels = device.load(SOURCE, VERTEX_T=vertex_define(neighbors.dtype))
    arguments = (offsets, neighbors, np.int64(num_vertices), degree, core, rounds, queues, listed, state, status)
    tail = (*arguments, np.int64(_TAIL_ROUNDS), np.int64(_TAIL_ENTRIES), np.int64(_TAIL_REMAINING))
    grid, block = launch_shape(device, num_vertices)
    wide_grid, _ = launch_shape(device, 32 * num_vertices)
    steps = _FIRST_STEPS
    while True:
        control.check()
        for _ in range(steps):
            kernels.launch("cores_tail", 1, block, tail)
            kernels.launch("cores_round", wide_grid, block, arguments)
            kernels.launch("cores_scan", grid, block, arguments)
            kernels.launch("cores_collect", grid, block, arguments)
        now = device.get(words)
        raise_fault(now[_STATE_WORDS:], OPERATION, device.name)
        if now[_DONE]:
            return core, rounds
        steps = min(2 * steps, _MOST_STEPS)


def memory(device: KernelDevice, shape: Mapping[str, int]) -> int:
    """Bytes in addition to the view: two queues, two lists, degree, core and round per vertex."""
    return shape["num_vertices"] * (4 * shape["vertex_bytes"] + 12)
