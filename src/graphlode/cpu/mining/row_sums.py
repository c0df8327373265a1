"""Native sums along rows; see native/src/mining/row_sums.cpp."""

from __future__ import annotations

import numpy as np

from graphlode.control import Control
from graphlode.cpu import _native
from graphlode.types import AnyArray, Int64Array

MOST_COLUMNS = 16


def row_sums(
    offsets: Int64Array,
    neighbors: AnyArray,
    edges: AnyArray,
    weights: Int64Array | None,
    values: Int64Array,
    *,
    threads: int,
    control: Control,
) -> tuple[Int64Array, list[bool]]:
    """For `values` [vertex][column], the sums over each vertex's neighbours, and which columns do not fit 64 bits.

    `weights`, one per edge, are multiplied on; at most 16 columns.
    """
    sums = np.zeros_like(values)
    weighted = np.zeros(0, np.int64) if weights is None else weights
    overflowed = _native.mining_row_sums(
        offsets, neighbors, edges, weighted, values.reshape(-1), sums.reshape(-1), threads, control.words
    )
    return sums, [bool(overflowed >> column & 1) for column in range(values.shape[1])]
