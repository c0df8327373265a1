"""Drives analytics/pagerank_tiles.cu: two launches per iteration, without a check by the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape
from graphlode.cuda.walks.pagerank_totals import RankTotals
from graphlode.types import FloatArray, Int64Array

SOURCE = KernelSource(
    "analytics/pagerank_tiles", ("pagerank_tiles_begin", "pagerank_tiles_sums", "pagerank_tiles_finish")
)

# In addition to its edges, a segment costs a pass over the sums of its row. It should have many more edges than sums.
_EDGES_BY_DESTINATIONS = 16
_THREADS = 1024  # two blocks of this size fill a multiprocessor; their sums fill its shared memory


class FixedValues:
    """Vertex values with fixed-point sums: the values sent, and the update from the arriving sums.

    Kernels that add up read `sent` and add to `sums`, which are zero between iterations. In addition to the vertices
    here there are `isolated` vertices without edges: each receives its part of what is spread over all vertices.
    """

    def __init__(
        self,
        device: KernelDevice,
        out_degrees: Any,
        damping: float,
        restart: FloatArray | None = None,
        isolated: int = 0,
    ) -> None:
        xp, n = device.xp, len(out_degrees)
        self._damping = np.float64(damping)
        uniform = 1.0 / (n + isolated)
        self._num_vertices = np.int64(n)
        self._kernels = device.load(SOURCE)
        self._share = xp.where(out_degrees > 0, 1.0 / xp.where(out_degrees > 0, out_degrees, 1), 0.0)
        self.values = device.empty(n, np.float64)
        self.values.fill(uniform)
        self._restart = device.asarray(np.array([uniform]) if restart is None else restart)
        self._restart_step = np.int32(restart is not None)  # 0: one value is used for all vertices
        self._uniform, self._isolated = uniform, np.float64(isolated * uniform)
        dangling = float((self._share == 0).sum()) * uniform + isolated * uniform
        self._totals = RankTotals(device, damping, dangling)
        self.sent, self.sums = device.empty(n, np.uint64), device.zeros(n, np.uint64)
        self._shape = grid, block = launch_shape(device, n)
        self._num_parts = np.int64(grid * block // WARP)
        self._parts = device.empty((grid * block // WARP, 2), np.float64)
        begin = (self.values, self._share, self.sent, self._num_vertices)
        self._kernels.launch("pagerank_tiles_begin", grid, block, begin)

    def finish(self) -> None:
        """Updates the values at the end of an iteration."""
        restart = (self._restart, self._restart_step)
        settings = (*restart, self._share, self._damping, self.values, self.sent, self._num_vertices)
        parts = (self._parts, self._num_parts, self._totals.state, self._isolated)
        arguments = (self.sums, *settings, *parts, self._totals.next_state, self._totals.tickets)
        self._kernels.launch("pagerank_tiles_finish", *self._shape, arguments)
        self._totals.swap()

    def change(self) -> float:
        """The sum of the absolute changes in the last iteration; waits for it."""
        return self._totals.change()

    def value_of_isolated(self) -> float:
        """The value of each isolated vertex."""
        return self._totals.spread_before() * self._uniform


class TileRanking:
    """The iteration on a tiled view."""

    def __init__(
        self, device: KernelDevice, view: Mapping[str, Any], damping: float, restart: FloatArray | None
    ) -> None:
        self._device, self._view = device, view
        self._kernels = device.load(SOURCE)
        self._num_columns = -(-int(view["num_rows"]) >> 16)
        isolated = int(view.get("num_vertices", view["num_rows"])) - int(view["num_rows"])
        self._state = FixedValues(device, view["out_degrees"], damping, restart, isolated)
        ends = device.get(view["tile_offsets"])
        segments = cut_segments(ends, self._num_columns, _EDGES_BY_DESTINATIONS << view["row_bits"])
        self._num_segments = len(segments)
        self._segments = device.asarray(segments.ravel())

    @property
    def values(self) -> Any:
        if "linked" not in self._view:
            return self._state.values
        values = self._device.xp.full(self._view["num_vertices"], self._state.value_of_isolated())
        values[self._view["linked"]] = self._state.values
        return values

    def start(self) -> None:
        """Starts one iteration, which may still run when this returns."""
        view = self._view
        if self._num_segments:
            shape = launch_shape(self._device, self._num_segments, threads=_THREADS, per_block=1)
            tiles = (view["tile_offsets"], view["edges"], self._segments, np.int64(self._num_segments))
            sizes = (np.int64(self._num_columns), np.int32(view["row_bits"]))
            arguments = (*tiles, self._state.sent, *sizes, self._state.sums)
            self._kernels.launch("pagerank_tiles_sums", *shape, arguments, 8 << view["row_bits"])
        self._state.finish()

    def change(self) -> float:
        """The sum of the absolute changes in the last iteration; waits for it."""
        return self._state.change()


def cut_segments(tile_ends: Int64Array, num_columns: int, most: int) -> Int64Array:
    """Segments of at most about `most` edges, each within a row of tiles: its row, first edge, end and first column.

    `tile_ends` is the begin of the first tile and the end of each tile, row by row. No segment is empty.
    """
    row_ends = tile_ends[::num_columns]
    begins, lengths = row_ends[:-1], np.diff(row_ends)
    counts = -(-lengths // most)
    rows = np.repeat(np.arange(lengths.size), counts)
    nth = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
    first, end = (begins[rows] + lengths[rows] * i // np.maximum(counts[rows], 1) for i in (nth, nth + 1))
    columns = tile_ends[1:].searchsorted(first, side="right") - rows * num_columns
    return np.stack([rows, first, end, columns], axis=1).astype(np.int64)
