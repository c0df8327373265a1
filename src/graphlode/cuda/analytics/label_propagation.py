"""Drives analytics/label_propagation.cu: eight launches and one check per iteration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.common.phases import iteration_key
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape, raise_fault, vertex_define
from graphlode.types import Task

OPERATION = "analytics.label_propagation"
SOURCE = KernelSource(
    "analytics/label_propagation",
    ("labels_queue", "labels_count", "labels_choose", "labels_wake"),
    {"VERTEX_T": ("int", "long long")},
)

# Words of labels_state in label_propagation.cu, followed by the two status words.
_CHANGES, _STATE_WORDS = 6, 8


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    max_iter: int,
    seed: int,
) -> dict[str, Any] | None:
    """The label of every vertex; the only task is the whole graph."""
    task = next(iter(tasks), None)
    if task is None:
        return None
    count, dtype = len(view["offsets"]) - 1, view["neighbors"].dtype
    labels = device.xp.arange(count, dtype=dtype)
    iterations, converged = 0, False
    step = _Step(device, view, labels) if count else None
    while not converged and iterations < max_iter:
        control.check()
        iterations += 1
        converged = step is None or step.run(iteration_key(seed, iterations)) == 0
        control.advance(count // max_iter)
    control.advance(count - count // max_iter * iterations)
    return {"labels": device.get(labels), "iterations": iterations, "converged": converged}


class _Step:
    def __init__(self, device: KernelDevice, view: Mapping[str, Any], labels: Any) -> None:
        offsets, neighbors = view["offsets"], view["neighbors"]
        count, dtype, slots = len(labels), neighbors.dtype, 2 * len(neighbors)
        self._device = device
        awake = device.empty(count, np.int32)
        awake.fill(1)
        tables = device.empty(max(slots, 1), dtype)
        tables.fill(-1)
        counts = device.zeros(max(slots, 1), np.int32)
        self._words = device.zeros(_STATE_WORDS + 2, np.int64)
        state, status = self._words[:_STATE_WORDS], self._words[_STATE_WORDS:]
        queues = (device.empty(count, dtype), device.empty(count, dtype))
        self._kernels = device.load(SOURCE, VERTEX_T=vertex_define(dtype))
        self._arguments = (offsets, neighbors, np.int64(count), labels, awake, *queues, tables, counts, state, status)
        self._shape, self._wide = launch_shape(device, count), launch_shape(device, WARP * count)

    def run(self, key: int) -> int:
        """Performs one iteration; returns the number of changed labels."""
        self._words[_CHANGES] = 0
        for phase in range(2):
            more = (np.uint64(key), np.uint64(phase))
            self._kernels.launch("labels_queue", *self._shape, (*self._arguments, *more))
            for entry in ("labels_count", "labels_choose", "labels_wake"):
                self._kernels.launch(entry, *self._wide, self._arguments)
        now = self._device.get(self._words)
        raise_fault(now[_STATE_WORDS:], OPERATION, self._device.name)
        return int(now[_CHANGES])


def memory(device: KernelDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes in addition to the view: per vertex label, mark and two queues; per entry two slots of label and count."""
    width = shape["vertex_bytes"]
    return (3 * width + 4) * shape["num_vertices"] + 2 * (width + 4) * shape["num_entries"]
