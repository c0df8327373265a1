"""orbit-count: ORCA. Its counts are induced, and it takes a networkx graph, which is made before the clock starts."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import networkx
import numpy as np
from orbit_count import node_orbit_counts

from benchmarks.inputs import Input
from benchmarks.peers.peer import Methods, Peer
from graphlode.mining.patterns import vertex_orbit_matrix


class OrbitCount(Peer):
    name = "orbit-count"
    version = version("orbit-count")
    settings = "ORCA, 1 thread"

    def __init__(self, threads: int) -> None:
        """It has no threads."""

    def orbits(self, given: Input, size: int) -> Methods:
        graph = networkx.Graph()
        graph.add_nodes_from(range(given.num_vertices))
        graph.add_edges_from(given.simple.tolist())

        def run() -> Any:
            found = node_orbit_counts(graph, graphlet_size=size)
            return lambda: np.asarray(found, np.int64) @ vertex_orbit_matrix()[: found.shape[1], : found.shape[1]].T

        return {"node_orbit_counts": run}
