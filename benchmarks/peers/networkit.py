"""NetworKit."""

from __future__ import annotations

from typing import Any

import networkit as nk
import numpy as np

from benchmarks.inputs import Input
from benchmarks.peers.peer import Builder, Methods, Peer
from graphlode.types import AnyArray


class Networkit(Peer):
    name = "networkit"
    version = nk.__version__

    def __init__(self, threads: int) -> None:
        nk.setNumberOfThreads(threads)
        nk.setLogLevel("ERROR")
        self.settings = f"{threads} threads"

    def build(self, given: Input) -> Builder:
        ends = given.src.astype(np.uint64), given.dst.astype(np.uint64)

        def run() -> Any:
            graph = nk.GraphFromCoo(ends, n=given.num_vertices)
            graph.removeSelfLoops()
            graph.removeMultiEdges()
            return graph

        return Builder("GraphFromCoo, then repeats and self-loops removed", run, lambda graph: graph.numberOfEdges())

    def triangles(self, given: Input) -> Methods:
        graph = _graph(given)
        graph.indexEdges()
        graph.sortEdges()
        degrees = given.graph.degrees()
        pairs = degrees * (degrees - 1) // 2

        def from_clustering() -> int:
            shares = nk.centrality.LocalClusteringCoefficient(graph, turbo=True).run().scores()
            return round(float((np.array(shares) * pairs).sum()) / 3)

        def from_edges() -> int:
            return int(np.array(nk.sparsification.TriangleEdgeScore(graph).run().scores()).sum()) // 3

        def from_edges_forward() -> int:
            return int(np.array(nk.sparsification.ChibaNishizekiTriangleEdgeScore(graph).run().scores()).sum()) // 3

        return {
            "LocalClusteringCoefficient(turbo=True)": from_clustering,
            "TriangleEdgeScore": from_edges,
            "ChibaNishizekiTriangleEdgeScore": from_edges_forward,
        }

    def cores(self, given: Input) -> Methods:
        graph = _graph(given)

        def run(**options: bool) -> Any:
            return nk.centrality.CoreDecomposition(graph, **options).run().scores

        return {
            "CoreDecomposition": run,
            "CoreDecomposition(enforceBucketQueueAlgorithm=True)": lambda: run(enforceBucketQueueAlgorithm=True),
        }

    def bfs(self, given: Input, source: int) -> Methods:
        graph = _graph(given)

        def run() -> Any:
            search = nk.distance.BFS(graph, source, storePaths=False).run()
            return lambda: _levels(search.getDistances())

        return {"BFS(storePaths=False)": run}

    def shortest_paths(self, given: Input, weights: AnyArray, source: int) -> Methods:
        ends = given.simple.astype(np.uint64)
        graph = nk.GraphFromCoo(
            (weights, (ends[:, 0].copy(), ends[:, 1].copy())), n=given.num_vertices, weighted=True, directed=False
        )

        def run() -> Any:
            search = nk.distance.Dijkstra(graph, source, storePaths=False).run()
            return lambda: _distances(search.getDistances())

        return {"Dijkstra(storePaths=False)": run}

    def components(self, given: Input) -> Methods:
        graph = _graph(given)

        def run(method: Any) -> Any:
            found = method(graph).run()
            return lambda: found.getPartition().getVector()

        return {
            "ConnectedComponents": lambda: run(nk.components.ConnectedComponents),
            "ParallelConnectedComponents": lambda: run(nk.components.ParallelConnectedComponents),
        }

    def pagerank(self, given: Input, damping: float, moved: float) -> Methods:
        graph = _graph(given)

        def run() -> Any:
            ranking = nk.centrality.PageRank(graph, damping, moved)
            ranking.norm = nk.centrality.Norm.L1_NORM
            return ranking.run().scores

        return {"PageRank": run}


def _levels(distances: Any) -> Any:
    """NetworKit gives the largest double to a vertex that is not reached."""
    steps = np.asarray(distances)
    return np.where(steps < steps.size, steps, -1).astype(np.int64)


def _distances(found: Any) -> Any:
    """The same for sums of lengths."""
    distances = np.asarray(found)
    return np.where(distances < np.finfo(np.float64).max, distances, np.inf)


def _graph(given: Input) -> Any:
    ends = given.simple.astype(np.uint64)
    return nk.GraphFromCoo((ends[:, 0].copy(), ends[:, 1].copy()), n=given.num_vertices)
