"""pivoterpy: Pivoter in Rust. It orders and searches in one call; its graph object is made before the clock starts."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import pivoterpy

from benchmarks.inputs import Input
from benchmarks.peers.peer import Methods, Peer


class Pivoterpy(Peer):
    name = "pivoterpy"
    version = version("pivoterpy")

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self.settings = f"{threads} threads"

    def cliques(self, given: Input, k: int) -> Methods:
        graph = _graph(given)
        return {
            'pivoter(backend="rust", min_k=k, max_k=k)': lambda: self._counts(graph, min_k=k, max_k=k)[k],
            'pivoter(backend="rust", max_k=k)': lambda: self._counts(graph, max_k=k)[k],
        }

    def all_cliques(self, given: Input, max_k: int | None) -> Methods:
        graph = _graph(given)
        return {'pivoter(backend="rust", max_k=max_k)': lambda: self._counts(graph, max_k=max_k)}

    def _counts(self, graph: Any, **sizes: int | None) -> Any:
        """Counts by size. What goes wrong inside ends the program there: here it is an error like any other."""
        try:
            return pivoterpy.pivoter(graph, backend="rust", procs=self._threads, **sizes).global_counts
        except SystemExit as ended:
            raise RuntimeError(f"pivoterpy gave up with status {ended.code}") from None


def _graph(given: Input) -> Any:
    return pivoterpy.Graph([tuple(edge) for edge in given.simple.tolist()], given.num_vertices)
