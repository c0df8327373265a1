"""The tasks that a peer may offer. Cases leave out a peer that does not offer their task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.inputs import Input
from graphlode.types import AnyArray

Methods = dict[str, Callable[[], Any]]


@dataclass(frozen=True)
class Builder:
    """How a library builds a simple undirected graph; `count_edges` reads the result, outside of the timed call."""

    method: str
    run: Callable[[], Any]
    count_edges: Callable[[Any], int]


class Peer:
    """A library. Conversions to the array types that it wants are made before the clock starts."""

    name: str
    version: str
    settings: str

    def build(self, given: Input) -> Builder:
        raise NotImplementedError(f"{self.name} builds no graph")

    def triangles(self, given: Input) -> Methods:
        """Ways to the number of triangles, from the library's own graph."""
        raise NotImplementedError(f"{self.name} counts no triangles")

    def cores(self, given: Input) -> Methods:
        """Ways to the core numbers; each returns a function that reads them, which is not timed."""
        raise NotImplementedError(f"{self.name} has no core numbers")

    def bfs(self, given: Input, source: int) -> Methods:
        """Ways to the levels of a breadth-first search; each returns a function that reads them, which is not timed."""
        raise NotImplementedError(f"{self.name} has no breadth-first search")

    def shortest_paths(self, given: Input, weights: AnyArray, source: int) -> Methods:
        """Ways to distances along edges with these lengths, in the order of `given.simple`; each returns a function
        that reads them, which is not timed."""
        raise NotImplementedError(f"{self.name} has no shortest paths")

    def components(self, given: Input) -> Methods:
        """Ways to the component of each vertex; each returns a function that reads them, which is not timed."""
        raise NotImplementedError(f"{self.name} finds no components")

    def pagerank(self, given: Input, damping: float, moved: float) -> Methods:
        """Ways to PageRank, until an iteration moves less than `moved`; each returns a function that reads the
        values."""
        raise NotImplementedError(f"{self.name} has no PageRank")

    def cliques(self, given: Input, k: int) -> Methods:
        """Ways to the number of k-cliques, from the library's own graph."""
        raise NotImplementedError(f"{self.name} counts no cliques")

    def all_cliques(self, given: Input, max_k: int | None) -> Methods:
        """Ways to the numbers of cliques of all sizes, as a list with the size as index."""
        raise NotImplementedError(f"{self.name} counts no cliques of all sizes")

    def maximal_cliques(self, given: Input) -> Methods:
        """Ways to the number of maximal cliques, all of which are made."""
        raise NotImplementedError(f"{self.name} lists no maximal cliques")

    def max_clique(self, given: Input) -> Methods:
        """Ways to the size of the largest clique."""
        raise NotImplementedError(f"{self.name} finds no largest clique")

    def orbits(self, given: Input, size: int) -> Methods:
        """Ways to the orbits of vertices; each returns a function that reads the table of those that are not induced,
        which is not timed."""
        raise NotImplementedError(f"{self.name} counts no orbits")

    def read(self, file: Path, rows: int) -> Methods:
        """Ways to read the first `rows` lines into an array with two columns."""
        raise NotImplementedError(f"{self.name} reads no text")
