"""Edges arrive at a store in batches, and the graph is mined exactly after each batch.

From the second half on, every batch also deletes the edges of an old batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from graphlode.analytics.components import connected_components
from graphlode.analytics.triangles import count_triangles
from graphlode.execute.devices import Devices
from graphlode.generate import rmat_edges
from graphlode.graph.store.batch import Batch
from graphlode.graph.store.dynamic import DynamicGraph
from graphlode.types import VertexArray

EDGE_FACTOR = 16


@dataclass(frozen=True)
class Step:
    """The state after one batch."""

    batch: int
    updates: int  # drawn edges of the batch that arrive or leave
    num_edges: int
    triangles: int
    largest_component: int  # number of vertices
    update_seconds: float
    mine_seconds: float

    @property
    def updates_per_second(self) -> float:
        return self.updates / self.update_seconds


def steps(scale: int, batches: int, *, seed: int, devices: Devices) -> Iterator[Step]:
    """Draws the edges of a recursive matrix graph; they arrive in `batches` batches of equal size."""
    src, dst = rmat_edges(scale, EDGE_FACTOR, seed=seed)
    bounds = [src.size * batch // batches for batch in range(batches + 1)]
    with DynamicGraph(num_vertices=2**scale, devices=devices) as store:
        for batch in range(1, batches + 1):
            updates = Batch(src[bounds[batch - 1] : bounds[batch]], dst[bounds[batch - 1] : bounds[batch]])
            leaving = batch - 1 - (batches + 1) // 2
            if leaving >= 0:
                updates = _and_delete(updates, slice(bounds[leaving], bounds[leaving + 1]), src, dst)
            started = perf_counter()
            store.apply(updates)
            updated = perf_counter()
            graph = store.snapshot()
            triangles = count_triangles(graph, devices=devices).total
            components = connected_components(graph, devices=devices)
            ended = perf_counter()
            largest = int(components.sizes.max())
            yield Step(batch, len(updates), store.num_edges, triangles, largest, updated - started, ended - updated)


def _and_delete(arriving: Batch, old: slice, src: VertexArray, dst: VertexArray) -> Batch:
    """The batch with additional deletions. An edge that leaves and arrives in the same batch stays."""
    tails, heads = np.concatenate([src[old], arriving.src]), np.concatenate([dst[old], arriving.dst])
    return Batch(tails, heads, delete=np.arange(tails.size) < src[old].size)
