"""Orders of the vertices, natively; see native/src/graph/order.cpp."""

from __future__ import annotations

import numpy as np

from graphlode.cpu import _native
from graphlode.types import MAX_NARROW_VERTICES, AnyArray


def order_by_round(rounds: AnyArray) -> AnyArray:
    """Vertices by ascending round, ties by vertex: a counting sort."""
    if rounds.size > MAX_NARROW_VERTICES:
        return np.argsort(rounds, kind="stable")
    order: AnyArray = _native.graph_order_by_round(rounds, int(rounds.max(initial=-1)) + 1)
    return order
