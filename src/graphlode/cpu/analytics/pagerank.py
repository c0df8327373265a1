"""PageRank on the CPU; see native/src/walks/pagerank_pull.hpp and pagerank_tiles.hpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import MAX_NARROW_VERTICES, FloatArray, Task

# An iteration is bound by memory, of which pages have ten bytes for each entry, rows four: it takes one and a half times
# as long. Rows take about as long to write as one iteration.
ITERATIONS_ON_PAGES = 2
TILE_ROW_BITS = 16  # the sums of 2^16 destinations fit in the second-level cache

# Pairs of the bytes of all vertex values, which rows read at random, and the smallest number of iterations for which
# building tiles pays. Building takes 5 ns per entry. An iteration on tiles takes 1.4 ns per entry and thread on any
# graph; on rows it takes 1.5 ns with half a MiB, 2.1 with 2 MiB, 4 with 8 MiB.
_TILE_THRESHOLDS = ((8 << 20, 3), (2 << 20, 9))


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
    settings = (damping, tolerance, max_iter, restart)
    options = (*settings, device.threads, control.words)
    for _ in tasks:  # one task: the whole graph
        if "edges" in view:
            found = _on_tiles(device, view, out_weights, settings, control)
        elif "pages" in view:
            found = _native.analytics_pagerank(view["pages"], view["num_rows"], out_weights, *options)
        else:
            found = _native.analytics_pagerank(view["offsets"], view["neighbors"], out_weights, weights, *options)
    return dict(zip(("values", "iterations", "converged"), found, strict=True))


def _on_tiles(
    device: CpuDevice,
    view: Mapping[str, Any],
    out_weights: FloatArray,
    settings: tuple[float, float, int, FloatArray | None],
    control: Control,
) -> tuple[FloatArray, int, bool]:
    offsets, edges, row_bits = view["tile_offsets"], view["edges"], view["row_bits"]
    isolated = view.get("num_vertices", view["num_rows"]) - view["num_rows"]
    values, iterations, converged, value_of_isolated = _native.analytics_pagerank_tiles(
        offsets, edges, row_bits, out_weights, *settings, isolated, device.threads, control.words
    )
    if isolated:
        linked, values = values, np.full(view["num_vertices"], value_of_isolated)
        values[view["linked"]] = linked
    return values, iterations, converged


def _out_weights(
    device: CpuDevice, view: Mapping[str, Any], weights: FloatArray | None, control: Control
) -> FloatArray:
    """The total weight of the edges that leave each vertex, or their number."""
    if weights is not None:  # each entry of a row is the source of an edge
        sums = np.bincount(view["neighbors"], weights, view["offsets"].size - 1)
        return sums.astype(np.float64, copy=False)
    if "pages" in view:
        degrees = view["pages"].degrees(device.threads, control.beside().words)[: view["num_rows"]]
    else:
        degrees = view["out_degrees"] if "out_degrees" in view else np.diff(view["offsets"])
    counts: FloatArray = degrees.astype(np.float64)
    return counts


def prefers_tiles(device: CpuDevice, shape: Mapping[str, int], iterations: float) -> bool:
    """Whether building tiles and running on them takes less time than running on existing rows."""
    n, m = shape["num_vertices"], shape["num_entries"]
    num_rows = -(-n >> TILE_ROW_BITS)  # the number of columns is the same
    if num_rows < device.threads:  # some threads would be idle, while rows of the graph occupy all of them
        return False
    if 16 * num_rows**2 > m or n > MAX_NARROW_VERTICES:  # too few entries per tile
        return False
    return any(8 * n >= size and iterations >= least for size, least in _TILE_THRESHOLDS)


def memory(device: CpuDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes in addition to the view: per vertex the value, share, degree, and what is sent now and next; block sums.

    On tiles also up to 256 copies of the sums for a row of tiles.
    """
    n = shape["num_vertices"]
    segments = min(256, shape["num_entries"] >> 20)
    return 5 * 8 * n + 16 * (n // 1024 + 1) + segments * (8 << TILE_ROW_BITS)
