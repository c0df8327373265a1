"""Breadth-first search over the shards of a store, one exchange per level.

Every shard holds some of the rows completely and remembers which vertices were reached. For each level it receives the
frontier and returns the vertices of the next level that it can see, each with its lowest parent. If several shards see
a vertex, the lowest parent wins. In an undirected graph each shard first reports how many entries the frontier has; all
then search in the same direction. The tree is therefore the same as on one device. Each vertex is sent once to every
shard and returned at most once by each. The kernels are `analytics/bfs_step` of each backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphlode.analytics.sharded import ShardedRun
from graphlode.common.control import Control
from graphlode.common.wait import Progress
from graphlode.execute.device import kernel_module
from graphlode.execute.run import Outcome
from graphlode.execute.shares import bucket_of
from graphlode.graph.store.shard import HeldShard
from graphlode.graph.store.snapshot import Snapshot
from graphlode.types import AnyArray, BoolArray

KERNEL = "analytics.bfs_step"


def worth_looking_back(frontier_entries: int, entries_left: int, unreached: int) -> bool:
    """Whether a level is cheaper to find backwards; native/src/walks/bfs_search.hpp explains the rule."""
    return 2 * frontier_entries**2 > unreached * max(frontier_entries, entries_left)


class _Part:
    """One shard in the search. Each call runs on its device's worker."""

    def __init__(self, shard: HeldShard, own: BoolArray) -> None:
        self._device = shard.device
        self._kernels = kernel_module(shard.device, KERNEL)
        self._search = self._kernels.begin(self._device, shard.state, num_vertices=own.size, own=own)

    def enter(self, frontier: AnyArray, level: int, control: Control) -> int:
        return int(self._kernels.enter(self._device, self._search, frontier, level=level, control=control))

    def step(self, level: int, backwards: bool, control: Control) -> tuple[AnyArray, AnyArray]:
        found: tuple[AnyArray, AnyArray] = self._kernels.step(
            self._device, self._search, level=level, backwards=backwards, control=control
        )
        return found

    def advance(self, frontier: AnyArray, level: int, control: Control) -> tuple[AnyArray, AnyArray]:
        """`enter` and a forward `step` in one call."""
        self.enter(frontier, level, control)
        return self.step(level, False, control)


@dataclass
class _Tree:
    levels: AnyArray
    parents: AnyArray

    def join(self, parts: Sequence[tuple[AnyArray, AnyArray]], level: int) -> AnyArray:
        """Records what the shards found on a level; returns each new vertex once."""
        new = []
        for vertices, parents in parts:
            first = self.levels[vertices] < 0
            self.levels[vertices] = level
            self.parents[vertices] = np.where(first, parents, np.minimum(self.parents[vertices], parents))
            new.append(vertices[first])
        return np.concatenate(new)


def search_shards(snapshot: Snapshot, source: int, *, progress: Progress | None) -> Outcome:
    """Levels and parents of all vertices, in the same form as from one device."""
    n, run = snapshot.num_vertices, ShardedRun(snapshot)
    owner = snapshot.owners[bucket_of(np.arange(n))]
    parts = run.on_all(lambda number, shard: _Part(shard, owner == number))
    run.views_built()
    tree = _Tree(np.full(n, -1, np.int32), np.full(n, -1, np.int32))
    frontier: AnyArray = np.array([source], np.int32)
    tree.levels[source] = level = reached = 0
    entries_left = snapshot.sizes["num_entries"]
    while frontier.size:
        reached += frontier.size
        if progress is not None:
            progress(reached, n)
        if snapshot.directed:
            found = run.on_parts(parts, _Part.advance, frontier, level, run.control)
        else:
            entries = sum(run.on_parts(parts, _Part.enter, frontier, level, run.control))
            entries_left = max(0, entries_left - entries)
            backwards = worth_looking_back(entries, entries_left, n - reached)
            found = run.on_parts(parts, _Part.step, level, backwards, run.control)
        level += 1
        frontier = tree.join(found, level)
    value = {"levels": tree.levels, "parents": tree.parents, "reached": reached, "depth": level - 1}
    return run.outcome(value, "analytics.bfs", "level by level")
