"""One shard's part of an iteration of PageRank, one sum per row."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.types import AnyArray, FloatArray


def begin(device: ReferenceDevice, view: Mapping[str, AnyArray]) -> Any:
    """Prepares rows that hold the sources of each vertex's incoming edges for `pull`."""
    neighbors = view["neighbors"].tolist()
    return [neighbors[a:b] for a, b in pairwise(view["offsets"].tolist())]


def pull(device: ReferenceDevice, part: Any, sent: FloatArray, *, control: Control) -> FloatArray:
    """The sum of `sent` over the incoming edges of each vertex."""
    control.check()
    return np.array([sum(sent[u] for u in row) for row in part], np.float64)
