"""The oriented view, directly from its definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.analytics.cores import peel
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray


def build(device: ReferenceDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, AnyArray]:
    rows = rows_of(base)
    keys = {
        "degree": lambda: [len(row) for row in rows],
        "degeneracy": lambda: peel(rows, control)[1],
        "approximate": lambda: approximate_rounds(rows),
    }[view.by]()
    order = sorted(range(len(rows)), key=lambda v: (keys[v], v))
    rank = {v: r for r, v in enumerate(order)}
    oriented = [sorted(rank[u] for u in rows[v] if rank[u] > rank[v]) for v in order]
    offsets = np.zeros(len(rows) + 1, np.int64)
    offsets[1:] = np.cumsum([len(row) for row in oriented])
    dtype = base["neighbors"].dtype
    return {
        "offsets": offsets,
        "neighbors": np.array([r for row in oriented for r in row], dtype),
        "vertices": np.array(order, dtype),
    }


def approximate_rounds(rows: list[set[int]]) -> list[int]:
    """The round in which each vertex is removed: each round removes all of at most 3/2 of the average degree."""
    rounds = [-1] * len(rows)
    remaining = set(range(len(rows)))
    number = 0
    while remaining:
        degree = {v: len(rows[v] & remaining) for v in remaining}
        total, count = sum(degree.values()), len(remaining)
        removed = {v for v in remaining if 2 * degree[v] * count <= 3 * total}
        for v in removed:
            rounds[v] = number
        remaining -= removed
        number += 1
    return rounds


def memory(device: ReferenceDevice, shape: Mapping[str, int]) -> int:
    return 0
