"""One shard's part of a breadth-first search, with sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.reference.store import shard as packed
from graphlode.types import AnyArray, BoolArray


@dataclass
class Search:
    rows: list[set[int]]  # those of other shards are empty
    frontier: set[int] = field(default_factory=set)
    visited: set[int] = field(default_factory=set)


def begin(device: ReferenceDevice, state: Any, *, num_vertices: int, own: BoolArray) -> Search:
    """Where the search stands on a shard whose rows are those that `own` marks."""
    return Search(rows_of(packed.csr(device, state))[:num_vertices])


def enter(device: ReferenceDevice, search: Search, frontier: AnyArray, *, level: int, control: Control) -> int:
    """The frontier from which the next step goes, and its level; about how many entries its rows have on this shard."""
    search.frontier = set(frontier.tolist())
    search.visited |= search.frontier
    return sum(len(search.rows[v]) for v in search.frontier)


def step(
    device: ReferenceDevice, search: Search, *, level: int, backwards: bool, control: Control
) -> tuple[AnyArray, AnyArray]:
    """Who is on the next level as far as this shard can see, and the lowest parent it sees for each.

    Forwards it sees what the frontier's rows lead to; backwards, which only a symmetric graph allows, those of its own
    rows that hold somebody of the frontier. `level` is the frontier's.
    """
    control.check()
    if backwards:
        around = {v: row & search.frontier for v, row in enumerate(search.rows) if v not in search.visited}
    else:
        around = {}
        for u in search.frontier:
            for v in search.rows[u] - search.visited:
                around.setdefault(v, set()).add(u)
    found = {v: min(before) for v, before in around.items() if before}
    return np.array(list(found), np.int32), np.array(list(found.values()), np.int32)
