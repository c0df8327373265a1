"""Rows by falling length, directly from the definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.types import AnyArray


def build(device: ReferenceDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, AnyArray]:
    lengths = np.diff(base["offsets"]).tolist()
    roots = sorted((row for row, length in enumerate(lengths) if length >= 2), key=lambda row: (-lengths[row], row))
    counts = [sum(length >= d for length in lengths) for d in range(max(lengths, default=0) + 2)]
    return {
        **base,
        "roots": np.array(roots, base["neighbors"].dtype),
        "row_counts": np.array(counts, np.int64),
    }


def memory(device: ReferenceDevice, shape: Mapping[str, int]) -> int:
    return 0
