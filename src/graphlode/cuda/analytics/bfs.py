"""Drives analytics/bfs.cu: one launch and one check per large level, thousands of small levels per launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph.rows import DEFINES, KernelRows, kernel_rows
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape, raise_fault
from graphlode.types import Task

OPERATION = "analytics.bfs"
SOURCE = KernelSource(
    "analytics/bfs",
    ("bfs_start", "bfs_enter", "bfs_walk", "bfs_tail", "bfs_look_back", "bfs_collect"),
    DEFINES,
)
# Words of bfs_state in bfs.cu, followed by the two status words.
_FRONTIER, _REACHED, STATE_LEVEL, STATE_WORDS = 8, 10, 11, 13

# Levels and entries up to which one block is faster than a grid that is launched once per level.
_TAIL_LEVELS, _TAIL_ENTRIES = 4096, 16 * 1024


# Looking backwards on pages reads all entries, leaf after leaf (10 bytes each, in order). This number of them costs as
# much as one entry read forwards (32 bytes or more, at random).
_SEQUENTIAL_PER_RANDOM = 8


def worth_looking_back(frontier_entries: int, entries_left: int, unreached: int, read_anyway: int = 0) -> bool:
    """Whether a level is cheaper to find backwards; native/src/walks/bfs_search.hpp explains the rule.

    `read_anyway` is the number of entries that a backward step always reads: on pages all entries.
    """
    looks = unreached * max(frontier_entries, entries_left)
    return 2 * frontier_entries**2 > looks and _SEQUENTIAL_PER_RANDOM * frontier_entries >= read_anyway


def back_shape(device: KernelDevice, rows: KernelRows) -> tuple[int, int]:
    """Grid and block of a backward step: a lane per row, or on pages a warp per leaf."""
    return launch_shape(device, WARP * rows.num_leaves or rows.num_rows)


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
        self._device, self._rows = device, kernel_rows(device, view)
        dtype, count = self._rows.dtype, self._rows.num_rows
        self._entries_left = self._rows.num_entries
        self.levels, self.parents = (device.empty(count, dtype) for _ in range(2))
        self.levels.fill(-1)
        self.parents.fill(-1)
        queues = device.empty(2 * count, dtype)
        self._words = device.zeros(STATE_WORDS + 2, np.int64)
        state, status = self._words[:STATE_WORDS], self._words[STATE_WORDS:]
        self._kernels = device.load(SOURCE, ROWS=self._rows.define)
        self._arguments = (*self._rows.arguments, np.int64(count), self.levels, self.parents, queues, state, status)
        self._kernels.launch("bfs_start", 1, 32, (*self._arguments, dtype.type(source)))
        self._read_state()

    def run(self, control: Control, symmetric: bool) -> None:
        size, length, queued = self._queued()
        while size:
            control.check()
            entries = int(length * self._rows.entries_by_length)
            self._entries_left = max(0, self._entries_left - entries)
            unreached = self._rows.num_rows - int(self._state[_REACHED])
            read_anyway = 0 if self._rows.state is None else self._rows.num_entries
            if symmetric and worth_looking_back(entries, self._entries_left, unreached, read_anyway):
                size, length, queued = self._look_back()
            else:
                if not queued:
                    grid, block = launch_shape(self._device, self._rows.num_rows)
                    self._kernels.launch("bfs_collect", grid, block, self._arguments)
                size, length, queued = self._walk(length)
        # The current level is empty.
        self.reached, self.depth = int(self._state[_REACHED]), int(self._state[STATE_LEVEL]) - 1

    def _walk(self, length: int) -> tuple[int, int, bool]:
        grid, block = launch_shape(self._device, length)
        if length <= _TAIL_ENTRIES:
            limits = (np.int64(_TAIL_LEVELS), np.int64(_TAIL_ENTRIES))
            self._kernels.launch("bfs_tail", 1, block, (*self._arguments, *limits))
        else:
            self._kernels.launch("bfs_walk", grid, block, self._arguments)
        self._read_state()
        return self._queued()

    def _look_back(self) -> tuple[int, int, bool]:
        self._kernels.launch("bfs_look_back", *back_shape(self._device, self._rows), self._arguments)
        self._read_state()
        return int(self._state[_FRONTIER]), int(self._state[_FRONTIER + 1]), False

    def _read_state(self) -> None:
        self._state = self._device.get(self._words)
        raise_fault(self._state[STATE_WORDS:], OPERATION, self._device.name)

    def _queued(self) -> tuple[int, int, bool]:
        """The number of vertices in the current level, the total length of their rows, and True: they are queued."""
        short_rows, long_rows, length = self._state[3 * (int(self._state[STATE_LEVEL]) & 1) :][:3].tolist()
        return short_rows + long_rows, length, True


def memory(device: KernelDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes in addition to the view: level, parent and two queues per vertex."""
    return 4 * shape["vertex_bytes"] * shape["num_vertices"]
