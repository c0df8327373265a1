"""Drives analytics/shortest_paths.cu: rounds and ranges with rare checks by the host, then parents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape, raise_fault, vertex_define
from graphlode.types import Task

OPERATION = "analytics.shortest_paths"
SOURCE = KernelSource(
    "analytics/shortest_paths",
    (
        *("paths_start", "paths_round", "paths_scan", "paths_collect", "paths_tail"),
        *("parents_queue_reached", "parents_nearer", "parents_queue_settled", "parents_equal"),
    ),
    {"VERTEX_T": ("int", "long long")},
)

# Words of paths_state in shortest_paths.cu, followed by the two status words.
_WIDTH, _DONE, _REACHED, _ORPHANS, _STATE_WORDS = 10, 14, 15, 16, 18

# The tail: limits up to which one block is faster than a grid that is launched once per round.
_TAIL_ROUNDS, _TAIL_ENTRIES, _TAIL_LISTED = 4096, 16 * 1024, 8 * 1024

# Steps launched between two checks by the host. A step without work costs some microseconds.
_FIRST_STEPS, _MOST_STEPS = 2, 16


def range_width(mean_length: float, mean_degree: float) -> float:
    """The width of the range of near distances: such that a vertex adds about a warp of near vertices."""
    return WARP * mean_length / max(mean_degree, 1.0) or 1.0


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    source: int,
    symmetric: bool,
    delta: float | None,
) -> dict[str, Any] | None:
    """Distances and parents of every vertex; the only task is the whole graph."""
    task = next(iter(tasks), None)
    if task is None:
        return None
    search = _Search(device, view, source, delta)
    search.find_distances(control)
    search.find_parents(control)
    control.advance(task.end - task.begin)
    return {
        "distances": device.get(search.distances),
        "parents": device.get(search.parents),
        "reached": search.reached,
    }


class _Search:
    def __init__(self, device: KernelDevice, view: Mapping[str, Any], source: int, delta: float | None) -> None:
        offsets, neighbors, lengths = view["offsets"], view["neighbors"], view["weights"]
        count, dtype = len(offsets) - 1, neighbors.dtype
        width = delta or range_width(view["mean_weight"], len(neighbors) / count)
        self._device, self._count = device, count
        self._source = np.dtype(dtype).type(source)
        self.distances = device.empty(count, np.float64)
        self.distances.fill(np.inf)
        self._queued, far_marks = device.empty(count, np.int32), device.zeros(count, np.int32)
        self._queued.fill(-1)
        queues, listed = device.empty(2 * count, dtype), device.empty(2 * count, dtype)
        self.parents = listed[:count]  # the lists are no longer needed when parents are found
        start = np.zeros(_STATE_WORDS + 2, np.int64)
        start[_WIDTH : _WIDTH + 1].view(np.float64)[0] = width
        self._words = device.asarray(start)
        state, status = self._words[:_STATE_WORDS], self._words[_STATE_WORDS:]
        self._kernels = device.load(SOURCE, VERTEX_T=vertex_define(dtype))
        graph = (offsets, neighbors, lengths, np.int64(count))
        self._arguments = (*graph, self.distances, self._queued, far_marks, queues, listed, state, status)

    def find_distances(self, control: Control) -> None:
        grid, block = launch_shape(self._device, self._count)
        wide_grid, _ = launch_shape(self._device, 32 * self._count)
        limits = (np.int64(_TAIL_ROUNDS), np.int64(_TAIL_ENTRIES), np.int64(_TAIL_LISTED))
        self._launch("paths_start", 1, 32, self._source)
        steps = _FIRST_STEPS
        while True:
            control.check()
            for _ in range(steps):
                self._launch("paths_tail", 1, block, *limits)
                self._launch("paths_round", wide_grid, block)
                self._launch("paths_scan", grid, block)
                self._launch("paths_collect", grid, block)
            if self._read_state()[_DONE]:
                return
            steps = min(2 * steps, _MOST_STEPS)

    def find_parents(self, control: Control) -> None:
        grid, block = launch_shape(self._device, self._count)
        wide_grid, _ = launch_shape(self._device, 32 * self._count)
        self.parents.fill(-1)
        self._launch("parents_queue_reached", grid, block)
        self._launch("parents_nearer", wide_grid, block, self.parents)
        now = self._read_state()
        self.reached = int(now[_REACHED])
        if not now[_ORPHANS]:
            return
        self._queued.fill(np.iinfo(np.int32).max)
        self._launch("parents_queue_settled", grid, block, self.parents, self._source)
        round_ = 0
        while now[_ORPHANS]:
            control.check()
            round_ += 1
            self._launch("parents_equal", wide_grid, block, self.parents, np.int32(round_))
            now = self._read_state()

    def _launch(self, entry: str, grid: int, block: int, *more: Any) -> None:
        self._kernels.launch(entry, grid, block, (*self._arguments, *more))

    def _read_state(self) -> Any:
        now = self._device.get(self._words)
        raise_fault(now[_STATE_WORDS:], OPERATION, self._device.name)
        return now


def memory(device: KernelDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes in addition to the view: distance, two marks, two queues and two lists per vertex."""
    return (16 + 4 * shape["vertex_bytes"]) * shape["num_vertices"]
