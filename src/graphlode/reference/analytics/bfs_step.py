"""One shard's part of a breadth-first search, with sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph import packed
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray, BoolArray


@dataclass
class Search:
    rows: list[set[int]]  # those of other shards are empty
    visited: set[int] = field(default_factory=set)


def begin(device: ReferenceDevice, state: Any, *, num_vertices: int, own: BoolArray) -> Search:
    """Where the search stands on a shard whose rows are those that `own` marks."""
    return Search(rows_of(packed.csr(device, state))[:num_vertices])


def entries_of(device: ReferenceDevice, search: Search, frontier: AnyArray) -> int:
    """About how many entries the frontier's rows have on this shard."""
    return sum(len(search.rows[v]) for v in frontier.tolist())


def step(
    device: ReferenceDevice, search: Search, frontier: AnyArray, *, level: int, backwards: bool, control: Control
) -> tuple[AnyArray, AnyArray]:
    """Who is on the next level as far as this shard can see, and the lowest parent it sees for each.

    Forwards it sees what the frontier's rows lead to; backwards, which only a symmetric graph allows, those of its own
    rows that hold somebody of the frontier. `level` is the frontier's.
    """
    now = set(frontier.tolist())
    search.visited |= now
    control.check()
    if backwards:
        around = {v: row & now for v, row in enumerate(search.rows) if v not in search.visited}
    else:
        around = {}
        for u in now:
            for v in search.rows[u] - search.visited:
                around.setdefault(v, set()).add(u)
    found = {v: min(before) for v, before in around.items() if before}
    return np.array(list(found), np.int32), np.array(list(found.values()), np.int32)
