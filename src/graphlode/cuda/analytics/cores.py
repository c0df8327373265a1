"""Core numbers on a CUDA device; see cores.cu.

The host enqueues the kernels of many rounds at a time and looks at the state in between: seldom enough not to slow the
device down, often enough to hear a stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape, vertex_define
from graphlode.types import Task

SOURCE = KernelSource(
    "analytics/cores",
    ("analytics_cores_lowest", "analytics_cores_collect", "analytics_cores_round", "analytics_cores_chain"),
    {"VERTEX_T": ("int", "long long")},
)

# The words of peel_state in cores.cu.
_STATE_WORDS = 8
_LEFT, _LOWEST = 4, 5

_CHAIN_THREADS = 256
_CHAIN_ROUNDS = 4096
_MOST_STEPS_AHEAD = 64


def launch(device: KernelDevice, view: Mapping[str, Any], tasks: Iterator[Task], *, control: Control) -> dict[str, Any]:
    for _ in tasks:  # one task: the whole graph
        core, rounds = peel(device, view, control)
    return {"core": device.get(core), "round": device.get(rounds)}


def peel(device: KernelDevice, view: Mapping[str, Any], control: Control) -> tuple[Any, Any]:
    """Core number and round of each vertex, as arrays of the device."""
    xp = device.xp
    offsets, neighbors = view["offsets"], view["neighbors"]
    num_vertices = int(offsets.size) - 1
    n = np.int64(num_vertices)
    degrees = xp.diff(offsets).astype(neighbors.dtype)
    core = device.zeros(num_vertices, np.int32)
    rounds = xp.full(num_vertices, -1, np.int32)
    lists = device.empty(num_vertices, neighbors.dtype), device.empty(num_vertices, neighbors.dtype)
    start = np.zeros(_STATE_WORDS, np.int64)
    start[_LEFT], start[_LOWEST] = num_vertices, np.iinfo(np.int64).max
    state = device.asarray(start.copy())
    module = device.load(SOURCE, VERTEX_T=vertex_define(neighbors.dtype))
    by_thread = launch_shape(device, num_vertices)
    by_warp = launch_shape(device, num_vertices, per_block=8)
    shared = (offsets, neighbors, degrees, core, rounds, *lists)
    left, steps = num_vertices, 2
    while left:
        control.check()
        for _ in range(steps):
            module.launch("analytics_cores_lowest", *by_thread, (degrees, rounds, n, state))
            module.launch("analytics_cores_collect", *by_thread, (degrees, rounds, n, *lists, state))
            module.launch("analytics_cores_round", *by_warp, (*shared, state))
            module.launch("analytics_cores_chain", 1, _CHAIN_THREADS, (*shared, np.int32(_CHAIN_ROUNDS), state))
        steps = min(2 * steps, _MOST_STEPS_AHEAD)
        now = int(device.get(state)[_LEFT])
        control.advance(left - now)
        left = now
    return core, rounds


def memory(device: KernelDevice, shape: Mapping[str, int]) -> int:
    """Bytes beside the view: degree, two lists, core and round per vertex."""
    return shape["num_vertices"] * (3 * shape["vertex_bytes"] + 8)
