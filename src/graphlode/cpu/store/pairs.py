"""Pairs of positions as keys, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.common.store import Pairs
from graphlode.cpu import _native
from graphlode.types import AnyArray


def entries_of(
    pairs: Pairs, deletes: Any, weights: AnyArray | None, threads: int
) -> tuple[AnyArray, AnyArray | None, AnyArray | None, int]:
    """Keys, the delete flag and weight of each, and how many entries were dropped as self-loops.

    Raises InputError if a position is not below `pairs.num_rows`.
    """
    rows, neighbors, both = pairs.rows, pairs.neighbors, pairs.both
    keys, self_loops = _native.packed_pair_keys(rows, neighbors, pairs.num_rows, both, threads)

    def for_entries(values: AnyArray) -> AnyArray:
        return _native.packed_pair_values(rows, neighbors, np.ascontiguousarray(values), both, threads)

    if deletes is True:
        deletes = np.ones(keys.size, np.bool_)
    elif deletes is not None:
        deletes = for_entries(deletes)
    return keys, deletes, None if weights is None else for_entries(weights), self_loops << both
