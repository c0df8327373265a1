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
    """What `pull` needs of rows that hold for each vertex those that lead to it."""
    neighbors = view["neighbors"].tolist()
    return [neighbors[a:b] for a, b in pairwise(view["offsets"].tolist())]


def pull(device: ReferenceDevice, part: Any, sent: FloatArray, *, control: Control) -> FloatArray:
    """What arrives at each vertex if everybody sends their number of `sent` along each of their entries."""
    control.check()
    return np.array([sum(sent[u] for u in row) for row in part], np.float64)
