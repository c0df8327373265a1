"""One shard's part of a breadth-first search on the CPU; see native/src/analytics/bfs_shard.cpp."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import AnyArray, BoolArray


def begin(device: CpuDevice, state: Any, *, num_vertices: int, own: BoolArray) -> Any:
    words = np.zeros(-(-num_vertices // 64), np.uint64)
    packed = np.packbits(own, bitorder="little")
    words.view(np.uint8)[: packed.size] = packed
    return _native.BfsShard(state, num_vertices, words)


def enter(device: CpuDevice, search: Any, frontier: AnyArray, *, level: int, control: Control) -> int:
    return int(search.enter(frontier, device.threads, control.beside().words))


def step(device: CpuDevice, search: Any, *, level: int, backwards: bool, control: Control) -> tuple[AnyArray, AnyArray]:
    search_step = search.backwards if backwards else search.forwards
    vertices, parents = search_step(device.threads, control.words)
    return vertices, parents
