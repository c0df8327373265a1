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
    """The search on a shard. `own` marks the shard's rows."""
    return Search(rows_of(packed.csr(device, state))[:num_vertices])


def enter(device: ReferenceDevice, search: Search, frontier: AnyArray, *, level: int, control: Control) -> int:
    """Sets the frontier of the next step, on `level`; returns about how many entries its rows have on this shard."""
    search.frontier = set(frontier.tolist())
    search.visited |= search.frontier
    return sum(len(search.rows[v]) for v in search.frontier)


def step(
    device: ReferenceDevice, search: Search, *, level: int, backwards: bool, control: Control
) -> tuple[AnyArray, AnyArray]:
    """The vertices of the next level that this shard can see, each with the lowest parent that it can see.

    Forwards, these are the neighbors in the frontier's rows. Backwards, which needs a symmetric graph, they are the
    shard's own rows that contain a vertex of the frontier. `level` is that of the frontier.
    """
    control.check()
    if backwards:
        candidates = {v: row & search.frontier for v, row in enumerate(search.rows) if v not in search.visited}
    else:
        candidates = {}
        for u in search.frontier:
            for v in search.rows[u] - search.visited:
                candidates.setdefault(v, set()).add(u)
    found = {v: min(parents) for v, parents in candidates.items() if parents}
    return np.array(list(found), np.int32), np.array(list(found.values()), np.int32)
