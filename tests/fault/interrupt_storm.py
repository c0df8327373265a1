"""A program that is interrupted at any moment by another process: run by test_interrupt_storm.py.

It does what users do (batches of all sizes, snapshots, questions, operations), keeps a model beside the store, and checks
after every interrupt that the last batch is there as a whole or not at all, as its error says. It ends by itself.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import graphlode as gl

NUM_VERTICES = 3000
SIZES = (1, 30, 800, 3000, 20_000)


class Storm:
    def __init__(self, seconds: float, devices: list[str]) -> None:
        self.rng = np.random.default_rng(1)
        self.store = gl.DynamicGraph(True, num_vertices=NUM_VERTICES, devices=devices)
        self.graph = gl.rmat(10, 8000, seed=1)
        self.triangles = gl.count_triangles(self.graph, devices="cpu").total
        self.there = np.zeros(NUM_VERTICES**2, bool)  # the model: whether each edge is there
        self.version = 0
        self.until = time.monotonic() + seconds
        self.interrupts = self.applied = self.refused = 0

    def batch(self) -> None:
        """One batch; the model follows, also if it is interrupted."""
        size = int(self.rng.choice(SIZES))
        src, dst = self.rng.integers(0, NUM_VERTICES, (2, size))
        gone = bool(self.rng.random() < 0.4)
        keys = (src * NUM_VERTICES + dst)[src != dst]
        self.pending = keys, gone
        self.store.apply(gl.Batch(src, dst, delete=gone))

    def settle(self, error: KeyboardInterrupt | None) -> None:
        """Bring the model up to date: the version of the store says whether the pending batch is there."""
        if self.pending is None:
            return
        keys, gone = self.pending
        self.pending = None
        happened = self.store.version == self.version + 1
        assert happened or self.store.version == self.version, "a version is missing"
        for note in getattr(error, "__notes__", []):
            assert ("not applied" in note) != happened, note
        if error is None:
            assert happened, "a batch returned and is not there"
        self.applied, self.refused = self.applied + happened, self.refused + (not happened)
        if happened:
            self.there[keys] = not gone
            self.version += 1
        assert self.store.num_edges == np.count_nonzero(self.there), "edges are lost"

    pending: tuple[Any, bool] | None = None

    def verbs(self) -> list[Callable[[], Any]]:
        store, graph = self.store, self.graph
        return [
            self.batch,
            self.batch,
            self.batch,
            lambda: store.snapshot().has_edge(1, 2),
            lambda: store.snapshot().degrees(),
            lambda: store.statistics(),
            lambda: store.memory_usage(),
            lambda: store.rebalance(),
            lambda: gl.bfs(store, 0),
            lambda: gl.pagerank(store, max_iter=5),
            lambda: gl.count_triangles(graph, devices="cpu"),
            lambda: gl.count_cliques(graph, 5, devices=["cpu", "cpu"]),
            lambda: sum(map(len, gl.list_cliques(graph, 3, batch_size=500, devices="cpu"))),
            lambda: gl.connected_components(graph, devices="cpu"),
        ]

    def run(self) -> None:
        verbs = self.verbs()
        while time.monotonic() < self.until:
            error: KeyboardInterrupt | None = None
            try:
                verbs[int(self.rng.integers(len(verbs)))]()
            except KeyboardInterrupt as caught:
                error = caught
            self.quietly(error)

    def quietly(self, error: KeyboardInterrupt | None) -> None:
        """Look at what is there without being interrupted oneself."""
        while True:
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                break
            except KeyboardInterrupt:
                self.interrupts += 1
        self.interrupts += error is not None
        self.settle(error)
        assert not self.store._lock.locked(), "the lock of the store is held by no call"
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def check(self) -> None:
        """The store is sound, is the same as a new one with the same edges, and other threads can use it."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self.store.check()
        found = self.store.snapshot().edges()
        assert np.array_equal(np.sort(found[:, 0] * NUM_VERTICES + found[:, 1]), np.flatnonzero(self.there))
        thread = threading.Thread(target=self.store.insert, args=([5], [7]), daemon=True)
        thread.start()
        thread.join(10)
        assert not thread.is_alive(), "another thread cannot write"
        assert gl.count_triangles(self.graph, devices="cpu").total == self.triangles


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # until there is a block that expects it
    storm = Storm(float(sys.argv[1]), sys.argv[2].split("+"))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            storm.run()
            break
        except KeyboardInterrupt:  # between two verbs
            storm.quietly(None) if storm.pending is None else storm.quietly(KeyboardInterrupt())
    storm.check()
    sys.stdout.write(f"{storm.interrupts} {storm.applied} {storm.refused}\n")


if __name__ == "__main__":
    main()
