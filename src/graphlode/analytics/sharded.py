"""Shared parts of operations over the shards of a store: all shards work at the same time, each on its own device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

from graphlode.common.control import Control
from graphlode.common.wait import Progress, run_all
from graphlode.config import settings
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import Outcome
from graphlode.graph.store.shard import HeldShard
from graphlode.graph.store.snapshot import Snapshot

P = TypeVar("P")
T = TypeVar("T")


class ShardedRun:
    """One run of an operation over all shards of a snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.control = Control()
        self._snapshot = snapshot
        self._started = self._begun = perf_counter()

    def on_all(self, work: Callable[[int, HeldShard], T], progress: Progress | None = None, total: int = 0) -> list[T]:
        """Runs work(number, shard) for each shard on its device's worker; returns the results in order."""
        shards = enumerate(self._snapshot.shards)
        return run_all(
            [(shard.device, partial(work, number, shard)) for number, shard in shards], self.control, progress, total
        )

    def on_parts(self, parts: Sequence[P], work: Callable[..., T], *arguments: Any) -> list[T]:
        """Runs work(part, *arguments) for each shard's part on its device's worker; returns the results in order."""
        shards = zip(self._snapshot.shards, parts, strict=True)
        return run_all([(shard.device, partial(work, part, *arguments)) for shard, part in shards], self.control)

    def views_built(self) -> None:
        """Counts the time so far as building views."""
        self._begun = perf_counter()

    def outcome(self, value: Any, operation: str, method: str, notes: tuple[str, ...] = ()) -> Outcome:
        ended = perf_counter()
        shards = self._snapshot.shards
        return Outcome(
            value,
            Provenance(
                operation=operation,
                version=self._snapshot.version,
                devices=tuple(shard.device.name for shard in shards),
                method=f"{method} over {len(shards)} shards",
                seconds=ended - self._started,
                steps={"view": self._begun - self._started, "kernel": ended - self._begun},
                threads=settings().threads,
                notes=notes,
            ),
        )
