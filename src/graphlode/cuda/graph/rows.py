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
from graphlode.cuda.interface import KernelDevice, vertex_define
from graphlode.cuda.store.version import Description, Version

DEFINES = {"ROWS": ("csr_rows<int>", "csr_rows<long long>", "page_rows")}


@dataclass(frozen=True)
class KernelRows:
    """The define, the two arguments, and sizes; of rows on pages also whose they are. Compressed rows have no leaves.

    Keep it until the kernels have run: it keeps what the arguments point to, which batches of the store replace.
    """

    define: str
    arguments: tuple[Any, Any]
    num_rows: int
    num_entries: int
    dtype: np.dtype[Any]  # of a vertex
    state: Version | None = None
    description: Description | None = None

    @property
    def num_leaves(self) -> int:
        return 0 if self.state is None else int(self.state.pages.size) * PAGE_LEAVES

    @property
    def entries_by_length(self) -> float:
        """Number of entries divided by the length of the rows as kernels measure it: on pages it includes gaps."""
        return 1.0 if self.state is None else self.num_entries / (self.num_leaves * LEAF_SLOTS)


def kernel_rows(device: KernelDevice, view: Mapping[str, Any]) -> KernelRows:
    """The rows of a view that has `offsets` and `neighbors`, or `pages` and `num_rows`."""
    if "pages" in view:
        state: Version = view["pages"]
        description = state.description(device)
        sizes = (int(view["num_rows"]), state.num_entries)
        both = description.struct, description.struct
        return KernelRows("page_rows", both, *sizes, np.dtype(np.int32), state, description)
    offsets, neighbors = view["offsets"], view["neighbors"]
    define = f"csr_rows<{vertex_define(neighbors.dtype)}>"
    return KernelRows(define, (offsets, neighbors), len(offsets) - 1, len(neighbors), np.dtype(neighbors.dtype))


def row_places(state: Version, rows: Any) -> Any:
    """The positions in key order of the leaves at which rows begin. `rows` selects some of the rows."""
    leaves = state.row_leaves[rows].astype(np.int64)
    positions = state.directory.positions[leaves // PAGE_LEAVES].astype(np.int64)
    return positions * PAGE_LEAVES + leaves % PAGE_LEAVES
