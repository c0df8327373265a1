"""Drives analytics/bfs.cu: a launch and a look per large level, thousands of small levels per launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape, raise_fault, vertex_define
from graphlode.types import Task

OPERATION = "analytics.bfs"
SOURCE = KernelSource(
    "analytics/bfs",
    ("bfs_start", "bfs_walk", "bfs_tail", "bfs_look_back", "bfs_collect"),
    {"VERTEX_T": ("int", "long long")},
)

# Words of bfs_state in bfs.cu, followed by the two status words.
_FRONTIER, _REACHED, STATE_LEVEL, STATE_WORDS = 8, 10, 11, 13

# What one block does faster than a grid that must be launched anew for each level.
_TAIL_LEVELS, _TAIL_ENTRIES = 4096, 16 * 1024


def worth_looking_back(frontier_entries: int, entries_left: int, unreached: int) -> bool:
    """Whether a level is cheaper to find backwards; told in native/src/analytics/bfs_search.hpp."""
    return 2 * frontier_entries**2 > unreached * entries_left


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    source: int,
    symmetric: bool,
) -> dict[str, Any] | None:
    """Levels and parents of every vertex; the one task is the whole graph."""
    task = next(iter(tasks), None)
    if task is None:
        return None
    search = _Search(device, view, source)
    search.run(control, symmetric)
    control.advance(task.end - task.begin)
    return {
        "levels": device.get(search.levels),
        "parents": device.get(search.parents),
        "reached": search.reached,
        "depth": search.depth,
    }


class _Search:
    def __init__(self, device: KernelDevice, view: Mapping[str, Any], source: int) -> None:
        offsets, neighbors = view["offsets"], view["neighbors"]
        self._device = device
        self._num_vertices, self._entries_left = len(offsets) - 1, len(neighbors)
        self.levels = device.empty(self._num_vertices, neighbors.dtype)
        self.parents = device.empty(self._num_vertices, neighbors.dtype)
        self.levels.fill(-1)
        self.parents.fill(-1)
        queues = device.empty(2 * self._num_vertices, neighbors.dtype)
        self._words = device.zeros(STATE_WORDS + 2, np.int64)
        state, status = self._words[:STATE_WORDS], self._words[STATE_WORDS:]
        self._kernels = device.load(SOURCE, VERTEX_T=vertex_define(neighbors.dtype))
        count = np.int64(self._num_vertices)
        self._arguments = (offsets, neighbors, count, self.levels, self.parents, queues, state, status)
        self._grid, self._block = launch_shape(device, self._num_vertices)
        self._kernels.launch("bfs_start", 1, 32, (*self._arguments, neighbors.dtype.type(source)))
        self._look()

    def run(self, control: Control, symmetric: bool) -> None:
        size, entries, queued = self._queued()
        while size:
            control.check()
            self._entries_left = max(0, self._entries_left - entries)
            unreached = self._num_vertices - int(self._now[_REACHED])
            if symmetric and worth_looking_back(entries, self._entries_left, unreached):
                size, entries, queued = self._look_back()
            else:
                if not queued:
                    self._kernels.launch("bfs_collect", self._grid, self._block, self._arguments)
                size, entries, queued = self._walk(entries)
        # The level under way has nobody on it.
        self.reached, self.depth = int(self._now[_REACHED]), int(self._now[STATE_LEVEL]) - 1

    def _walk(self, entries: int) -> tuple[int, int, bool]:
        if entries <= _TAIL_ENTRIES:
            limits = (np.int64(_TAIL_LEVELS), np.int64(_TAIL_ENTRIES))
            self._kernels.launch("bfs_tail", 1, self._block, (*self._arguments, *limits))
        else:
            grid, block = launch_shape(self._device, entries)
            self._kernels.launch("bfs_walk", grid, block, self._arguments)
        self._look()
        return self._queued()

    def _look_back(self) -> tuple[int, int, bool]:
        self._kernels.launch("bfs_look_back", self._grid, self._block, self._arguments)
        self._look()
        return int(self._now[_FRONTIER]), int(self._now[_FRONTIER + 1]), False

    def _look(self) -> None:
        self._now = self._device.get(self._words)
        raise_fault(self._now[STATE_WORDS:], OPERATION, self._device.name)

    def _queued(self) -> tuple[int, int, bool]:
        """How many vertices and entries the level under way has, and that they are queued."""
        short_rows, long_rows, entries = self._now[3 * (int(self._now[STATE_LEVEL]) & 1) :][:3].tolist()
        return short_rows + long_rows, entries, True


def memory(device: KernelDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes beside the view: level, parent and two queues per vertex."""
    return 4 * shape["vertex_bytes"] * shape["num_vertices"]
