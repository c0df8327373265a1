"""Edges that arrive in batches, with the triangles counted exactly after each batch.

A batch extends the list of edges, and the graph of the longer list is built anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

from graphlode.analytics.triangles import count_triangles
from graphlode.execute.devices import Devices
from graphlode.generate import rmat_edges
from graphlode.graph.build import from_edges

EDGE_FACTOR = 16


@dataclass(frozen=True)
class Step:
    """The state after one batch."""

    batch: int
    arrived: int  # edges so far, as they came
    num_edges: int  # edges so far, each once
    triangles: int
    build_seconds: float
    count_seconds: float

    @property
    def edges_per_second(self) -> float:
        """Edges of the graph handled per second, from arrays to the exact answer."""
        return self.arrived / (self.build_seconds + self.count_seconds)


def steps(scale: int, batches: int, *, seed: int, devices: Devices) -> Iterator[Step]:
    """Draw the edges of a recursive matrix graph and let them arrive in `batches` batches of equal size."""
    src, dst = rmat_edges(scale, EDGE_FACTOR, seed=seed)
    for batch in range(1, batches + 1):
        arrived = src.size * batch // batches
        started = perf_counter()
        graph = from_edges(src[:arrived], dst[:arrived], num_vertices=2**scale)
        built = perf_counter()
        triangles = count_triangles(graph, devices=devices).total
        ended = perf_counter()
        yield Step(batch, arrived, graph.num_edges, triangles, built - started, ended - built)
