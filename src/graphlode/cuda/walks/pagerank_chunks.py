"""Drives walks/pagerank_chunks.cu: two launches per iteration, without a check by the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape, vertex_define
from graphlode.cuda.walks.pagerank_totals import RankTotals
from graphlode.types import FloatArray

SOURCE = KernelSource(
    "walks/pagerank_chunks",
    ("pagerank_chunks_rows", "pagerank_chunks_join"),
    {"VERTEX_T": ("int", "long long")},
)

_THREADS = 256
CHUNK = 8 * _THREADS  # rows and entries that a block processes at once


class ChunkRanking:
    """The iteration on compressed rows of the incoming edges of each vertex.

    `out_weights` is the total weight of each vertex's outgoing edges. In addition to the vertices with rows there are
    `isolated` vertices without edges.
    """

    def __init__(
        self,
        device: KernelDevice,
        rows: Mapping[str, Any],
        out_weights: Any,
        damping: float,
        *,
        restart: FloatArray | None = None,
        weights: Any = None,
        isolated: int = 0,
    ) -> None:
        xp, n = device.xp, len(out_weights)
        self._num_all = n + isolated
        uniform = 1.0 / self._num_all
        self._damping, self._isolated = np.float64(damping), np.float64(isolated * uniform)
        offsets, neighbors = rows["offsets"], rows["neighbors"]
        self._kernels = device.load(SOURCE, VERTEX_T=vertex_define(neighbors.dtype))
        self._share = xp.where(out_weights > 0, 1.0 / xp.where(out_weights > 0, out_weights, 1), 0.0)
        self.values = xp.full(n, uniform)
        self._sent, self._next_sent = self.values * self._share, device.empty(n, np.float64)
        self._restart = xp.full(n, uniform) if restart is None else device.asarray(restart)
        dangling = float((self._share == 0).sum()) * uniform + isolated * uniform
        self._totals = RankTotals(device, damping, dangling)
        num_items = n + len(neighbors)
        self._num_chunks = -(-num_items // CHUNK)
        cuts = xp.minimum(xp.arange(self._num_chunks + 1, dtype=np.int64) * CHUNK, num_items)
        chunk_rows = xp.searchsorted(offsets[1:] + xp.arange(n, dtype=np.int64), cuts).astype(np.int64)
        self._list = (offsets, chunk_rows, np.int64(self._num_chunks), np.int64(num_items))
        self._entries = (neighbors, self._share if weights is None else weights, np.int32(weights is not None))
        self._open = device.empty(self._num_chunks, np.float64), device.empty(self._num_chunks, np.float64)
        self._shape = launch_shape(device, self._num_chunks, threads=_THREADS, per_block=1)
        self._join_shape = launch_shape(device, self._num_chunks, threads=_THREADS, per_block=_THREADS // WARP)
        first, second = (grid * block // WARP for grid, block in (self._shape, self._join_shape))
        self._first_part, self._num_parts = np.int64(first), np.int64(first + second)
        self._parts = device.empty((first + second, 2), np.float64)

    def start(self) -> None:
        """Starts one iteration, which may still run when this returns."""
        settings = (self._totals.state, self._damping, self._restart, self._share, self.values, self._next_sent)
        common = (*self._list, *settings, *self._open, self._parts)
        neighbors, weights, weighted = self._entries
        self._kernels.launch("pagerank_chunks_rows", *self._shape, (*common, neighbors, self._sent, weights, weighted))
        sums = (self._first_part, self._num_parts, self._isolated, self._totals.next_state, self._totals.tickets)
        self._kernels.launch("pagerank_chunks_join", *self._join_shape, (*common, *sums))
        self._sent, self._next_sent = self._next_sent, self._sent
        self._totals.swap()

    def change(self) -> float:
        """The sum of the absolute changes in the last iteration; waits for it."""
        return self._totals.change()

    def value_of_isolated(self) -> float:
        """The value of each isolated vertex."""
        return self._totals.spread_before() / self._num_all
