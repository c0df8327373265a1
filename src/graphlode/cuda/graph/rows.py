"""The rows of a view as arguments of kernels: compressed, or on the pages of a shard.

A kernel that reads rows is compiled for a type of rows, the define ROWS: `csr_rows` of include/rows.cuh or `page_rows`
of store/rows.cuh. Its first two arguments are the arrays of that type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.common.store import LEAF_SLOTS, PAGE_LEAVES
from graphlode.cuda.interface import vertex_define
from graphlode.cuda.store.state import State

DEFINES = {"ROWS": ("csr_rows<int>", "csr_rows<long long>", "page_rows")}


@dataclass(frozen=True)
class KernelRows:
    """The define, the two arguments and sizes; for rows on pages also their state. Compressed rows have no leaves."""

    define: str
    arguments: tuple[Any, Any]
    num_rows: int
    num_entries: int
    dtype: np.dtype[Any]  # dtype of a vertex
    state: State | None = None

    @property
    def num_leaves(self) -> int:
        return 0 if self.state is None else int(self.state.pages.size) * PAGE_LEAVES

    @property
    def entries_by_length(self) -> float:
        """Number of entries divided by the length of the rows as kernels measure it: on pages it includes gaps."""
        return 1.0 if self.state is None else self.num_entries / (self.num_leaves * LEAF_SLOTS)


def kernel_rows(view: Mapping[str, Any]) -> KernelRows:
    """The rows of a view that has `offsets` and `neighbors`, or `pages` and `num_rows`.

    Valid until the shard, or another version of it, is written: that may move the arrays of the arguments.
    """
    if "pages" in view:
        state: State = view["pages"]
        described = state.described()
        sizes = (int(view["num_rows"]), state.num_entries)
        return KernelRows("page_rows", (described, described), *sizes, np.dtype(np.int32), state)
    offsets, neighbors = view["offsets"], view["neighbors"]
    define = f"csr_rows<{vertex_define(neighbors.dtype)}>"
    return KernelRows(define, (offsets, neighbors), len(offsets) - 1, len(neighbors), np.dtype(neighbors.dtype))


def row_places(state: State, rows: Any) -> Any:
    """Positions in key order of the leaves where the rows selected by `rows` begin."""
    leaves = state.row_leaves[rows].astype(np.int64)
    positions = state.directory.positions[leaves // PAGE_LEAVES].astype(np.int64)
    return positions * PAGE_LEAVES + leaves % PAGE_LEAVES
