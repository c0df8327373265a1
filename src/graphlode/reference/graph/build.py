"""Rows from edges, as a set of pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.types import AnyArray


def build(
    src: AnyArray, dst: AnyArray, *, num_vertices: int | None, directed: bool, keep_positions: bool, control: Control
) -> dict[str, Any]:
    """Sorted rows without self-loops and repeated edges."""
    pairs = [(int(u), int(v)) for u, v in zip(src, dst, strict=True)]
    ids = sorted({v for pair in pairs for v in pair}) if num_vertices is None else list(range(num_vertices))
    index = {v: i for i, v in enumerate(ids)}
    rows: list[dict[int, int]] = [{} for _ in ids]
    self_loops = 0
    for position, (u, v) in enumerate(pairs):
        if u == v:
            self_loops += 1
            continue
        rows[index[u]][index[v]] = position
        if not directed:
            rows[index[v]][index[u]] = position
    entries = sum(len(row) for row in rows)
    num_edges = entries if directed else entries // 2
    offsets = np.zeros(len(ids) + 1, np.int64)
    offsets[1:] = np.cumsum([len(row) for row in rows])
    return {
        "offsets": offsets,
        "neighbors": np.array([v for row in rows for v in sorted(row)], np.int32),
        "ids": None if ids == list(range(len(ids))) else np.array(ids, np.int64),
        "positions": np.array([row[v] for row in rows for v in sorted(row)], np.int64) if keep_positions else None,
        "num_edges": num_edges,
        "self_loops": self_loops,
        "duplicates": len(pairs) - self_loops - num_edges,
    }
