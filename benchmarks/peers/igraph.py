"""igraph for Python."""

from __future__ import annotations

from typing import Any

import igraph
import numpy as np

from benchmarks.inputs import Input
from benchmarks.peers.peer import Builder, Methods, Peer
from graphlode.types import AnyArray


class Igraph(Peer):
    name = "igraph"
    version = igraph.__version__

    def __init__(self, threads: int) -> None:
        self.settings = "serial library"

    def build(self, given: Input) -> Builder:
        ends = np.column_stack([given.src, given.dst]).astype(np.int64)
        return Builder(
            "Graph(n, edges), then simplify",
            lambda: igraph.Graph(n=given.num_vertices, edges=ends).simplify(),
            lambda graph: graph.ecount(),
        )

    def triangles(self, given: Input) -> Methods:
        graph = _graph(given)
        degrees = given.graph.degrees()
        wedges = int((degrees * (degrees - 1) // 2).sum())
        return {
            "transitivity_undirected * wedges / 3": lambda: round(
                graph.transitivity_undirected(mode="zero") * wedges / 3
            )
        }

    def cores(self, given: Input) -> Methods:
        graph = _graph(given)

        def run() -> Any:
            values = graph.coreness()
            return lambda: values

        return {"coreness": run}

    def bfs(self, given: Input, source: int) -> Methods:
        graph = _graph(given)

        def run() -> Any:
            order, starts, _ = graph.bfs(source)
            return lambda: _levels(given.num_vertices, order, starts)

        return {"bfs": run}

    def shortest_paths(self, given: Input, weights: AnyArray, source: int) -> Methods:
        graph = _graph(given)
        graph.es["weight"] = weights.tolist()

        def run() -> Any:
            distances = graph.distances(source, weights="weight")[0]
            return lambda: distances

        return {"distances": run}

    def components(self, given: Input) -> Methods:
        graph = _graph(given)

        def run() -> Any:
            found = graph.connected_components()
            return lambda: found.membership

        return {"connected_components": run}

    def pagerank(self, given: Input, damping: float, moved: float) -> Methods:
        graph = _graph(given)

        def run() -> Any:
            values = graph.pagerank(damping=damping)
            return lambda: values

        return {"pagerank, by PRPACK to its own precision": run}

    def maximal_cliques(self, given: Input) -> Methods:
        graph = _graph(given)
        return {"maximal_cliques": lambda: len(graph.maximal_cliques())}

    def max_clique(self, given: Input) -> Methods:
        graph = _graph(given)
        return {"clique_number": graph.clique_number, "largest_cliques": lambda: len(graph.largest_cliques()[0])}


def _levels(num_vertices: int, order: list[int], starts: list[int]) -> Any:
    levels = np.full(num_vertices, -1)
    sizes = np.diff(starts)
    levels[order] = np.repeat(np.arange(sizes.size), sizes)
    return levels


def _graph(given: Input) -> Any:
    return igraph.Graph(n=given.num_vertices, edges=given.simple.astype(np.int64))
