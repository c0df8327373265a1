"""The supported view, directly from its definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray


def build(device: ReferenceDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, AnyArray]:
    given = rows_of(base)
    order = sorted(range(len(given)), key=lambda v: (len(given[v]), v))
    rank = {v: r for r, v in enumerate(order)}
    rows = [sorted(rank[w] for w in given[v]) for v in order]
    edge_ids: dict[tuple[int, int], int] = {}
    triangles = []
    for u, row in enumerate(rows):
        control.check()
        for v in row:
            if v < u:
                edge_ids[u, v] = len(edge_ids)
                triangles.append(len(set(row) & set(rows[v])))
    edges = [edge_ids[max(u, v), min(u, v)] for u, row in enumerate(rows) for v in row]
    offsets = np.zeros(len(rows) + 1, np.int64)
    offsets[1:] = np.cumsum([len(row) for row in rows])
    dtype = base["neighbors"].dtype
    return {
        "offsets": offsets,
        "neighbors": np.array([v for row in rows for v in row], dtype),
        "lower": np.array([sum(v < u for v in row) for u, row in enumerate(rows)], np.int32),
        "edges": np.array(edges, np.int32),
        "triangles": np.array(triangles, np.int32),
        "vertices": np.array(order, dtype),
    }


def memory(device: ReferenceDevice, shape: Mapping[str, int]) -> int:
    return 0
