"""The transposed view, directly from its definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray


def build(device: ReferenceDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, AnyArray]:
    rows = rows_of(base)
    transposed: list[list[int]] = [[] for _ in rows]
    for u, row in enumerate(rows):
        for v in row:
            transposed[v].append(u)
    offsets = np.zeros(len(rows) + 1, np.int64)
    offsets[1:] = np.cumsum([len(row) for row in transposed])
    neighbors = np.array([u for row in transposed for u in row], base["neighbors"].dtype)
    return {"offsets": offsets, "neighbors": neighbors, "out_degrees": np.diff(base["offsets"])}


def memory(device: ReferenceDevice, shape: Mapping[str, int]) -> int:
    return 0
