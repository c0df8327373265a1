"""Orders of the vertices by the round of their removal, natively; see native/src/graph/order.cpp."""

from __future__ import annotations

from graphlode.cpu import _native
from graphlode.types import AnyArray, Int64Array


def order_by_round(rounds: AnyArray, like: AnyArray) -> AnyArray:
    """Vertices by ascending round, ties by vertex, in the dtype of `like`."""
    order: AnyArray = _native.graph_order_by_round(rounds, _num_rounds(rounds), like)
    return order


def ids_by_round(rounds: AnyArray, ids: Int64Array) -> Int64Array:
    """The original ids of the vertices in the order of `order_by_round`."""
    order: Int64Array = _native.graph_ids_by_round(rounds, _num_rounds(rounds), ids)
    return order


def _num_rounds(rounds: AnyArray) -> int:
    return int(rounds.max(initial=-1)) + 1
