"""Splitting the keys of a batch by the shards that own their rows."""

from __future__ import annotations

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.types import AnyArray, Int64Array


def by_owner(keys: AnyArray, owners: Int64Array, num_owners: int, *, threads: int) -> list[Int64Array]:
    """Places of the keys of each owner, ascending; `owners` has one for every slot."""
    places, begins = _native.packed_split(keys, owners, num_owners, threads, Control().words)
    return [places[begins[owner] : begins[owner + 1]] for owner in range(num_owners)]
