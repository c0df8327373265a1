"""PageRank over the shards of a store, with one exchange per iteration.

In every iteration each shard receives what all vertices send and returns the sums over its own entries. The sums of all
shards are added in a fixed order. In an undirected graph every row is complete on one shard and serves as incoming
edges: a shard sums its rows directly on its pages. In a directed graph the entries are stored at their tails but summed
at their heads, so each shard first transposes its entries once, in its own memory. Adding to the heads directly would
need one atomic addition per entry. Their order changes from run to run, and so would the last digits of the answer.

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
    """Values of all vertices, in the same form as from one device."""
    n, run = snapshot.num_vertices, ShardedRun(snapshot)

    def begin(_: int, shard: HeldShard) -> _Part:
        on_pages = not snapshot.directed and max_iter <= iterations_on_pages(shard)
        view = part_view(shard, OPERATION, n) if on_pages else part_rows(shard, n)
        if snapshot.directed:
            turn = kernel_module(shard.device, Transposed.name)
            view = turn.build(shard.device, view, Transposed(), control=run.control.beside())
        return _Part(shard, view)

    out_degrees = snapshot.degrees()
    parts = run.on_all(begin)
    run.views_built()
    send_factor = np.divide(1.0, out_degrees, out=np.zeros(n), where=out_degrees > 0)
    restart_at: FloatArray = np.full(n, 1.0 / max(n, 1)) if restart is None else restart
    values: FloatArray = np.full(n, 1.0 / max(n, 1))
    iterations, converged = 0, n == 0
    while iterations < max_iter and not converged:
        dangling = float(values[out_degrees == 0].sum())
        arriving = sum(run.on_parts(parts, _Part.pull, values * send_factor, run.control))
        previous, values = values, damping * arriving + (damping * dangling + 1.0 - damping) * restart_at
        converged = float(np.abs(values - previous).sum()) < tolerance
        iterations += 1
        if progress is not None:
            progress(n if converged else n * iterations // max_iter, n)
    value = {"values": values, "iterations": iterations, "converged": converged}
    return run.outcome(value, OPERATION, "power iteration")


def iterations_on_pages(shard: HeldShard) -> float:
    """The number of iterations up to which reading the shard's pages is faster than first writing out its rows."""
    return float(getattr(kernel_module(shard.device, OPERATION), "ITERATIONS_ON_PAGES", 0))
