"""Drives analytics/components.cu: first a few entries of each row, then all entries outside the largest tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph.rows import DEFINES, kernel_rows
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape
from graphlode.types import Task

OPERATION = "analytics.components"
SOURCE = KernelSource("analytics/components", ("components_join", "components_compress"), DEFINES)
_FIRST_ENTRIES = 2
_SAMPLES = 1024
_NO_ROOT = -1


def launch(
    device: KernelDevice, view: Mapping[str, Any], tasks: Iterator[Task], *, control: Control, symmetric: bool
) -> dict[str, Any] | None:
    """The component of every vertex; the only task is the whole graph."""
    task = next(iter(tasks), None)
    if task is None:
        return None
    xp, rows = device.xp, kernel_rows(device, view)
    num_vertices, dtype = rows.num_rows, rows.dtype
    if num_vertices == 0:
        return {"labels": np.zeros(0, dtype), "count": 0}
    kernels = device.load(SOURCE, ROWS=rows.define)
    by_rows, by_vertices = (
        launch_shape(device, WARP * rows.num_leaves or num_vertices),
        launch_shape(device, num_vertices),
    )
    parents = xp.arange(num_vertices, dtype=dtype)
    status = device.status()

    def join(first_place: int, last_place: int, skip: int) -> None:
        control.check()
        places = (np.int64(first_place), np.int64(last_place), dtype.type(skip))
        arguments = (*rows.arguments, np.int64(num_vertices), *places, parents, status)
        kernels.launch("components_join", *by_rows, arguments)
        kernels.launch("components_compress", *by_vertices, (np.int64(num_vertices), parents))

    join(0, _FIRST_ENTRIES, _NO_ROOT)
    join(_FIRST_ENTRIES, rows.num_entries, _frequent_root(device, parents) if symmetric else _NO_ROOT)
    device.raise_status(status, OPERATION)
    # A root is the lowest vertex of its component, so roots ascend with their components.
    numbers = xp.cumsum(parents == xp.arange(num_vertices, dtype=dtype), dtype=dtype)
    labels = numbers[parents] - 1
    control.advance(task.end - task.begin)
    return {"labels": device.get(labels), "count": int(numbers[-1])}


def _frequent_root(device: KernelDevice, parents: Any) -> int:
    """The most frequent root in a sample of vertices. Its tree is skipped: edges out of it have another end."""
    chosen = np.linspace(0, len(parents) - 1, min(len(parents), _SAMPLES)).astype(np.int64)
    roots, votes = np.unique(device.get(parents[device.asarray(chosen)]), return_counts=True)
    return int(roots[votes.argmax()])


def memory(device: KernelDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes in addition to the view: pointers, numbers of roots, labels, and temporary arrays."""
    return 6 * shape["vertex_bytes"] * shape["num_vertices"]
