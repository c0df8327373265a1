"""Mines the bundled real graphs."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from graphlode.analytics.cores import core_numbers
from graphlode.analytics.triangles import count_triangles
from graphlode.datasets import dataset
from graphlode.execute.devices import Devices
from graphlode.graph.graph import Graph
from graphlode.types import Int64Array

GRAPHS = ("karate", "jazz", "netscience", "power", "polblogs", "email-Eu-core", "CollegeMsg")
SHOWN = "email-Eu-core"
"""The graph of the plots."""


@dataclass(frozen=True)
class Mined:
    """The results for one graph, and the seconds it took to read and to mine it."""

    name: str
    graph: Graph
    triangles: int
    cores: Int64Array
    clustering: float
    read_seconds: float
    mine_seconds: float

    @property
    def degeneracy(self) -> int:
        return int(self.cores.max(initial=0))


def mine(name: str, devices: Devices) -> Mined:
    started = perf_counter()
    graph = dataset(name).undirected()
    read = perf_counter()
    triangles = count_triangles(graph, devices=devices)
    cores = core_numbers(graph, devices=devices)
    ended = perf_counter()
    return Mined(
        name=name,
        graph=graph,
        triangles=triangles.total,
        cores=cores.values,
        clustering=_clustering(graph, triangles.total),
        read_seconds=read - started,
        mine_seconds=ended - read,
    )


def _clustering(graph: Graph, triangles: int) -> float:
    """The fraction of all paths of two edges that are closed to triangles."""
    degrees = graph.degrees()
    paths = int((degrees * (degrees - 1)).sum()) // 2
    return 3 * triangles / paths if paths else 0.0
