"""The sum that arrives at every row, by analytics/pagerank.cu. Used by PageRank on one device and on several shards.

On pages an additional launch first sums within leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph.rows import DEFINES, KernelRows, kernel_rows, row_places
from graphlode.cuda.interface import WARP, KernelDevice, launch_shape

SOURCE = KernelSource(
    "analytics/pagerank",
    ("pagerank_rows", "pagerank_long_rows", "pagerank_sums", "pagerank_long_sums", "pagerank_leaves"),
    DEFINES,
)

# The longest row that one warp sums, in entries or on pages in leaves; longer ones get a block each.
LONGEST = 2048


class ArrivingSums:
    """The rows of a view, and arrays for their sums. `weights` are those of the entries of compressed rows."""

    def __init__(self, device: KernelDevice, view: Mapping[str, Any], weights: Any = None) -> None:
        rows = self._rows = kernel_rows(device, view)
        self._device, self._num_rows = device, rows.num_rows
        self._kernels = device.load(SOURCE, ROWS=rows.define)
        self._weighted = np.int32(weights is not None)
        if rows.state is not None:
            self._of_leaves = device.empty(rows.num_leaves, np.float64)
            self._of_rows = device.zeros(rows.num_rows, np.float64)
        else:
            self._of_rows = device.empty(1, np.float64)  # neither array is used
            self._of_leaves = self._of_rows if weights is None else weights
        self._long_rows = device.xp.flatnonzero(_lengths(device, rows) > LONGEST).astype(np.int64)
        self._shape = launch_shape(device, rows.num_rows)
        self._long_shape = launch_shape(device, len(self._long_rows), per_block=1)

    @property
    def num_parts(self) -> int:
        """Number of partial sums of `run`: one per warp, and one per block of long rows."""
        grid, block = self._shape
        return grid * block // WARP + (self._long_shape[0] if len(self._long_rows) else 0)

    def run(self, sent: Any, kernel: str, long_kernel: str, arguments: tuple[Any, ...], parts: Any = None) -> None:
        """Sum and have the kernels finish every row; `parts` is where they leave their own sums, if they have any."""
        rows = self._rows
        first, second = rows.arguments
        if rows.state is not None:
            grid, block = launch_shape(self._device, WARP * rows.num_leaves)
            leaves = (first, second, sent, self._of_leaves, self._of_rows)
            self._kernels.launch("pagerank_leaves", grid, block, leaves)
        grid, block = self._shape
        common = (first, second, sent, self._of_leaves, self._of_rows, self._weighted, *arguments)
        short_parts, long_parts = ((), ()) if parts is None else ((parts,), (parts[grid * block // WARP :],))
        bounds = (np.int64(rows.num_rows), np.int64(LONGEST))
        self._kernels.launch(kernel, grid, block, (*common, *short_parts, *bounds))
        if len(self._long_rows):
            listed = (self._long_rows, np.int64(len(self._long_rows)))
            self._kernels.launch(long_kernel, *self._long_shape, (*common, *long_parts, *listed))

    def sums(self, sent: Any) -> Any:
        """The sum that arrives at each row."""
        arriving = self._device.empty(self._num_rows, np.float64)
        if self._num_rows:
            self.run(sent, "pagerank_sums", "pagerank_long_sums", (arriving,))
        return arriving


def _lengths(device: KernelDevice, rows: KernelRows) -> Any:
    """The number of terms of each row: its entries, or on pages the leaves that it extends over."""
    if rows.state is None:
        return device.xp.diff(rows.arguments[0])
    return device.xp.diff(row_places(rows.state, slice(rows.num_rows + 1)))
