"""Drives analytics/pagerank_tiles.cu: two launches and one look per iteration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape
from graphlode.types import FloatArray, Int64Array

SOURCE = KernelSource(
    "analytics/pagerank_tiles", ("pagerank_tiles_begin", "pagerank_tiles_sums", "pagerank_tiles_finish")
)

# A segment costs a pass over the sums of its row beside its edges: these should be many more.
_EDGES_BY_DESTINATIONS = 8
_THREADS = 512


class TileRanking:
    """The iteration on a tiled view."""

    def __init__(
        self, device: KernelDevice, view: Mapping[str, Any], damping: float, restart: FloatArray | None
    ) -> None:
        xp, n = device.xp, int(view["num_rows"])
        self._device, self._view, self._damping, self._num_vertices = device, view, damping, n
        self._kernels = device.load(SOURCE)
        self._num_columns = -(-n >> 16)
        leaving = view["out_degrees"]
        self._share = xp.where(leaving > 0, 1.0 / xp.where(leaving > 0, leaving, 1), 0.0)
        self.values = device.empty(n, np.float64)
        self.values.fill(1.0 / n)
        self._restart = xp.full(n, 1.0 / n) if restart is None else device.asarray(restart)
        self._stuck = float((self._share == 0).sum()) / n
        self._sent, self._sums = device.empty(n, np.uint64), device.zeros(n, np.uint64)
        row_ends = device.get(view["tile_offsets"][:: self._num_columns])
        segments = cut_segments(row_ends, _EDGES_BY_DESTINATIONS << view["row_bits"])
        self._num_segments = len(segments)
        self._segments = device.asarray(segments.ravel())
        self._shape = launch_shape(device, n)
        grid, block = self._shape
        self._parts = device.empty((grid * block // WARP, 2), np.float64)
        self._kernels.launch("pagerank_tiles_begin", grid, block, (self.values, self._share, self._sent, np.int64(n)))

    def iterate(self) -> float:
        """One iteration; how far the values moved, all together."""
        view, n = self._view, np.int64(self._num_vertices)
        if self._num_segments:
            shape = launch_shape(self._device, self._num_segments, threads=_THREADS, per_block=1)
            tiles = (view["tile_offsets"], view["edges"], self._segments, np.int64(self._num_segments))
            sizes = (np.int64(self._num_columns), np.int32(view["row_bits"]))
            arguments = (*tiles, self._sent, *sizes, self._sums)
            self._kernels.launch("pagerank_tiles_sums", *shape, arguments, 8 << view["row_bits"])
        spread = self._damping * self._stuck + (1.0 - self._damping)
        settings = (self._restart, self._share, np.float64(self._damping), np.float64(spread))
        finish = (self._sums, *settings, self.values, self._sent, n, self._parts)
        self._kernels.launch("pagerank_tiles_finish", *self._shape, finish)
        moved, self._stuck = self._device.get(self._parts.sum(axis=0)).tolist()
        return float(moved)


def cut_segments(row_ends: Int64Array, most: int) -> Int64Array:
    """Row of tiles, first edge and end of segments of about `most` edges or less, each within a row; none are empty.

    `row_ends` is where the first row begins, and where each ends.
    """
    begins, lengths = row_ends[:-1], np.diff(row_ends)
    counts = -(-lengths // most)
    rows = np.repeat(np.arange(lengths.size), counts)
    nth = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
    cuts = [begins[rows] + lengths[rows] * i // np.maximum(counts[rows], 1) for i in (nth, nth + 1)]
    return np.stack([rows, *cuts], axis=1).astype(np.int64)
