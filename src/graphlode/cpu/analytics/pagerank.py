"""PageRank on the CPU; see native/src/analytics/pagerank_pull.hpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import FloatArray, Task

READS_PAGES = True


def launch(
    device: CpuDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    damping: float,
    tolerance: float,
    max_iter: int,
    restart: FloatArray | None,
    weights: FloatArray | None,
) -> dict[str, Any]:
    out_weights = _out_weights(device, view, weights, control)
    options = (damping, tolerance, max_iter, restart, device.threads, control.words)
    for _ in tasks:  # one task: the whole graph
        if "pages" in view:
            found = _native.analytics_pagerank(view["pages"], view["num_rows"], out_weights, *options)
        else:
            found = _native.analytics_pagerank(view["offsets"], view["neighbors"], out_weights, weights, *options)
    return dict(zip(("values", "iterations", "converged"), found, strict=True))


def _out_weights(
    device: CpuDevice, view: Mapping[str, Any], weights: FloatArray | None, control: Control
) -> FloatArray:
    """The weight of all edges that leave each vertex, or their number."""
    if weights is not None:  # whoever is in a row leads to it
        sums = np.bincount(view["neighbors"], weights, view["offsets"].size - 1)
        return sums.astype(np.float64, copy=False)
    if "pages" in view:
        degrees = view["pages"].degrees(device.threads, control.beside().words)[: view["num_rows"]]
    else:
        degrees = view["out_degrees"] if "out_degrees" in view else np.diff(view["offsets"])
    counts: FloatArray = degrees.astype(np.float64)
    return counts


def memory(device: CpuDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes beside the view: value, share, what is sent now and next, and the degree of each vertex, and block sums."""
    n = shape["num_vertices"]
    return 5 * 8 * n + 16 * (n // 1024 + 1)
