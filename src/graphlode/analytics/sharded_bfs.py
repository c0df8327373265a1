"""Breadth-first search over the shards of a store, one exchange per level.

Every shard holds some of the rows whole and keeps who was reached so far. It is told the frontier and answers who of the
next level it can see, with the lowest parent it sees for each; a vertex that several shards see gets the lowest of all.
So the tree is the same as on one device. The kernels are `analytics/bfs_step` of each backend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from graphlode.config import settings
from graphlode.control import Control
from graphlode.execute.device import kernel_module
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import Outcome
from graphlode.execute.shares import slot_of
from graphlode.execute.wait import Progress, wait_all
from graphlode.graph.shard import HeldShard
from graphlode.graph.snapshot import Snapshot
from graphlode.types import AnyArray, BoolArray

KERNEL = "analytics.bfs_step"


def worth_looking_back(frontier_entries: int, entries_left: int, unreached: int) -> bool:
    """Whether a level is cheaper to find backwards; told in native/src/analytics/bfs_search.hpp."""
    return 2 * frontier_entries**2 > unreached * entries_left


class _Part:
    """One shard in the search; each call is one trip to its device's worker."""

    def __init__(self, shard: HeldShard, num_vertices: int, own: BoolArray) -> None:
        self.device = shard.device
        self._kernels = kernel_module(shard.device, KERNEL)
        self._search = self._kernels.begin(self.device, shard.state, num_vertices=num_vertices, own=own)

    def entries_of(self, frontier: AnyArray) -> int:
        return int(self._kernels.entries_of(self.device, self._search, frontier))

    def step(self, frontier: AnyArray, level: int, backwards: bool, control: Control) -> tuple[AnyArray, AnyArray]:
        found: tuple[AnyArray, AnyArray] = self._kernels.step(
            self.device, self._search, frontier, level=level, backwards=backwards, control=control
        )
        return found


@dataclass
class _Tree:
    levels: AnyArray
    parents: AnyArray

    def join(self, parts: Sequence[tuple[AnyArray, AnyArray]], level: int) -> AnyArray:
        """Enters what the shards found on a level; gives each vertex of it once."""
        new = []
        for vertices, parents in parts:
            first = self.levels[vertices] < 0
            self.levels[vertices] = level
            self.parents[vertices] = np.where(first, parents, np.minimum(self.parents[vertices], parents))
            new.append(vertices[first])
        return np.concatenate(new)


def search_shards(snapshot: Snapshot, source: int, *, progress: Progress | None) -> Outcome:
    """Levels and parents of all vertices, as the operation on one device has them."""
    started = perf_counter()
    control = Control()
    n, shards = snapshot.num_vertices, snapshot.shards
    owner = snapshot.owners[slot_of(np.arange(n))]
    begins = [shard.device.submit(partial(_Part, shard, n, owner == i)) for i, shard in enumerate(shards)]
    parts: list[_Part] = wait_all(begins, control)

    def ask(question: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Asks all shards at the same time."""
        return wait_all([part.device.submit(partial(question, part, *arguments)) for part in parts], control)

    begun = perf_counter()
    tree = _Tree(np.full(n, -1, np.int32), np.full(n, -1, np.int32))
    frontier: AnyArray = np.array([source], np.int32)
    tree.levels[source] = level = reached = 0
    entries_left = snapshot.sizes["num_entries"]
    while frontier.size:
        reached += frontier.size
        if progress is not None:
            progress(reached, n)
        entries = sum(ask(_Part.entries_of, frontier))
        entries_left = max(0, entries_left - entries)
        backwards = not snapshot.directed and worth_looking_back(entries, entries_left, n - reached)
        found = ask(_Part.step, frontier, level, backwards, control)
        level += 1
        frontier = tree.join(found, level)
    ended = perf_counter()
    return Outcome(
        {"levels": tree.levels, "parents": tree.parents, "reached": reached, "depth": level - 1},
        Provenance(
            operation="analytics.bfs",
            version=snapshot.version,
            devices=tuple(shard.device.name for shard in shards),
            method=f"level by level over {len(shards)} shards",
            seconds=ended - started,
            steps={"view": begun - started, "kernel": ended - begun},
            threads=settings().threads,
        ),
    )
