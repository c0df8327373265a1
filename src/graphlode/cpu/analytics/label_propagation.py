"""Label propagation on the CPU; see native/src/analytics/label_propagation.cpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import AnyArray, Task


def launch(
    device: CpuDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    max_iter: int,
    seed: int,
) -> dict[str, Any]:
    for _ in tasks:  # one task: the whole graph
        labels, iterations, converged = _native.analytics_label_propagation(
            view["offsets"], view["neighbors"], max_iter, seed, device.threads, control.words
        )
    return {"labels": labels, "iterations": iterations, "converged": converged}


def memory(device: CpuDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes in addition to the view: per vertex 2 labels, a queue, a mark; per thread a table for the longest row."""
    n, width = shape["num_vertices"], shape["vertex_bytes"]
    return (3 * width + 1) * n + device.threads * 4 * width * min(n, shape["num_edges"])
