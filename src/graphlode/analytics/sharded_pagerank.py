"""PageRank over the shards of a store, with one exchange per iteration.

In every iteration each shard is told what all vertices send and answers what arrives over its own entries; the sums of
all shards, added in a fixed order, are what arrives. Of an undirected graph rows are whole on one shard and lead both
ways: a shard sums its rows, on its pages. The entries of a directed graph lie with their tails, but are summed at their
heads: each shard turns its own entries round once, in its own memory, and then sums rows as well. Adding to the heads
instead, entry by entry, would take an atomic addition each, in an order that changes from run to run, and so would the
last digits of the answer.

The kernels are `analytics/pagerank_step` of each backend.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.analytics.sharded import ShardedRun
from graphlode.common.control import Control
from graphlode.common.wait import Progress
from graphlode.execute.device import kernel_module
from graphlode.execute.run import Outcome
from graphlode.graph.store.pages import part_rows, part_view
from graphlode.graph.store.shard import HeldShard
from graphlode.graph.store.snapshot import Snapshot
from graphlode.graph.views import Transposed
from graphlode.types import FloatArray

OPERATION = "analytics.pagerank"
KERNEL = "analytics.pagerank_step"


class _Part:
    """One shard in the iteration."""

    def __init__(self, shard: HeldShard, view: Mapping[str, Any]) -> None:
        self._device = shard.device
        self._kernels = kernel_module(shard.device, KERNEL)
        self._rows = self._kernels.begin(shard.device, view)

    def pull(self, sent: FloatArray, control: Control) -> FloatArray:
        sums: FloatArray = self._kernels.pull(self._device, self._rows, sent, control=control)
        return sums


def rank_shards(
    snapshot: Snapshot,
    *,
    damping: float,
    tolerance: float,
    max_iter: int,
    restart: FloatArray | None,
    progress: Progress | None,
) -> Outcome:
    """Values of all vertices, as the operation on one device has them."""
    n, run = snapshot.num_vertices, ShardedRun(snapshot)

    def begin(_: int, shard: HeldShard) -> _Part:
        on_pages = not snapshot.directed and max_iter <= iterations_on_pages(shard)
        view = part_view(shard, OPERATION, n) if on_pages else part_rows(shard, n)
        if snapshot.directed:
            turn = kernel_module(shard.device, Transposed.name)
            view = turn.build(shard.device, view, Transposed(), control=run.control.beside())
        return _Part(shard, view)

    leaving = snapshot.degrees()
    parts = run.on_all(begin)
    run.viewed()
    share = np.divide(1.0, leaving, out=np.zeros(n), where=leaving > 0)
    again: FloatArray = np.full(n, 1.0 / max(n, 1)) if restart is None else restart
    values: FloatArray = np.full(n, 1.0 / max(n, 1))
    iterations, converged = 0, n == 0
    while iterations < max_iter and not converged:
        stuck = float(values[leaving == 0].sum())
        arriving = sum(run.on_parts(parts, _Part.pull, values * share, run.control))
        before, values = values, damping * arriving + (damping * stuck + 1.0 - damping) * again
        converged = float(np.abs(values - before).sum()) < tolerance
        iterations += 1
        if progress is not None:
            progress(n if converged else n * iterations // max_iter, n)
    value = {"values": values, "iterations": iterations, "converged": converged}
    return run.outcome(value, OPERATION, "power iteration")


def iterations_on_pages(shard: HeldShard) -> float:
    """Up to how many iterations the shard's pages are read faster than its rows are written and read."""
    return float(getattr(kernel_module(shard.device, OPERATION), "ITERATIONS_ON_PAGES", 0))
