"""A service that runs for long: one thread writes batches, four read snapshots, and every answer is checked.

The writer applies batches of 1 to 100,000 edges to a store and, before it, to a Python set. So a reader that finds a
version knows its number of edges and a few edges that it must have or not have. Now and then a reader compares all edges
with the set and counts the triangles again with SciPy. At the end the memory of the process must be what it was after the
start, and the latencies of batches, snapshots and single questions are written down.

    python -m benchmarks.soak --seconds 3600 --out benchmarks/results/2-cores
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from threading import Event, Thread
from time import monotonic, perf_counter, sleep
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

import graphlode as gl
from benchmarks.record import Record, machine_label, present_run
from graphlode.types import Int64Array

T = TypeVar("T")

NUM_VERTICES = 20_000
MOST_EDGES = 200_000  # above it, batches delete
BATCHES = (1, 10, 100, 1_000, 10_000, 100_000)
READERS = 4
PROBES = 16  # edges by version of which readers know whether they are there
HELD = 5  # snapshots that a reader keeps
WARM_UP = 0.25  # of the time, before memory is looked at
MOST_GROWTH = 1.1  # of the memory after the start
SLACK_BYTES = 32 << 20
RECOUNT_SECONDS = 5.0


class Latencies:
    """Percentiles of any number of durations in constant memory: counts of buckets that are 2 % wide."""

    _WIDTH = math.log(1.02)

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()
        self._longest = 0.0

    def time(self, work: Callable[[], T]) -> T:
        begun = perf_counter()
        result = work()
        self.add(perf_counter() - begun)
        return result

    def add(self, seconds: float) -> None:
        self._counts[math.ceil(math.log(max(seconds, 1e-9)) / self._WIDTH)] += 1
        self._longest = max(self._longest, seconds)

    def merged(self, other: Latencies) -> Latencies:
        both = Latencies()
        both._counts = self._counts + other._counts
        both._longest = max(self._longest, other._longest)
        return both

    def quantile(self, share: float) -> float:
        wanted, seen = share * self._counts.total(), 0
        for bucket, count in sorted(self._counts.items()):
            seen += count
            if seen >= wanted:
                return min(self._longest, math.exp(bucket * self._WIDTH))
        return 0.0

    def summary(self) -> dict[str, float]:
        return {
            "count": self._counts.total(),
            "p50": self.quantile(0.5),
            "p99": self.quantile(0.99),
            "max": self._longest,
        }


@dataclass(frozen=True)
class Truth:
    """What is known of one version."""

    num_edges: int
    probes: list[tuple[int, int, bool]]
    edges: Int64Array | None  # of some versions: all edges as u * NUM_VERTICES + v, ascending


@dataclass
class Service:
    seconds: float
    seed: int = 1
    store: gl.DynamicGraph = field(default_factory=lambda: gl.DynamicGraph(num_vertices=NUM_VERTICES, devices="cpu"))
    truth: dict[int, Truth] = field(default_factory=lambda: {0: Truth(0, [], None)})
    latencies: dict[str, list[Latencies]] = field(
        default_factory=lambda: {name: [] for name in ("batch", "snapshot", "has_edge")}
    )
    recounts: int = 0
    errors: list[BaseException] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    def run(self) -> dict[str, Any]:
        """Run, and return what was measured; raises what any thread raised."""
        work = [self._write, *(partial(self._read, number) for number in range(READERS))]
        threads = [Thread(target=self._guarded, args=(each,)) for each in work]
        for thread in threads:
            thread.start()
        begun, memory = monotonic(), []
        try:
            while monotonic() - begun < self.seconds and not self.errors:
                sleep(min(0.5, self.seconds / 40))
                memory.append(resident_bytes())
        finally:
            self.over.set()
            for thread in threads:
                thread.join()
        if self.errors:
            raise self.errors[0]
        self.store.check()
        after = memory[int(WARM_UP * len(memory)) :]
        part = max(1, len(after) // 4)
        return {
            "seconds": [monotonic() - begun],
            "versions": self.store.version,
            "recounts": self.recounts,
            "latency": {name: self._merged(name).summary() for name in self.latencies},
            "bytes_after_warm_up": int(median(after[:part])),
            "bytes_at_end": int(median(after[-part:])),
            "bytes_peak": max(memory),
        }

    def _merged(self, name: str) -> Latencies:
        total = Latencies()
        for each in self.latencies[name]:
            total = total.merged(each)
        return total

    def _timer(self, name: str) -> Latencies:
        self.latencies[name].append(made := Latencies())
        return made

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            self.errors.append(error)
            self.over.set()

    def _write(self) -> None:
        rng, present, timer = np.random.default_rng(self.seed), set[int](), self._timer("batch")
        known, next_recount = np.empty(0, np.int64), 0.0
        while not self.over.is_set():
            size = int(rng.choice(BATCHES, p=_shares())) if present else MOST_EDGES
            deletes = bool(len(present) > MOST_EDGES or (present and rng.random() < 0.4))
            if size >= 1_000 or not known.size:
                known = np.fromiter(present, np.int64, len(present))
            keys = rng.choice(known, size) if deletes and known.size else _random_keys(rng, size)
            before = len(present)
            (present.difference_update if deletes else present.update)(keys.tolist())
            version, recount = self.store.version + 1, monotonic() >= next_recount
            if recount:
                next_recount = monotonic() + min(RECOUNT_SECONDS, self.seconds / 4)
            some = np.concatenate([rng.choice(keys, PROBES // 2), _random_keys(rng, PROBES // 2)]).tolist()
            probes = [(*divmod(key, NUM_VERTICES), key in present) for key in some]
            everything = np.sort(np.fromiter(present, np.int64, len(present))) if recount else None
            self.truth[version] = Truth(len(present), probes, everything)
            self.truth.pop(version - 2_000, None)
            u, v = np.divmod(keys, NUM_VERTICES)
            change = timer.time(partial(self.store.apply, gl.Batch(u, v, delete=deletes)))
            assert change.inserted - change.deleted == len(present) - before, (version, change)

    def _read(self, number: int) -> None:
        rng, held = np.random.default_rng(1000 + number), deque[gl.Snapshot]()
        snapshots, questions = self._timer("snapshot"), self._timer("has_edge")
        while not self.over.is_set():
            snapshot = snapshots.time(self.store.snapshot)
            held.append(snapshot)
            if len(held) > HELD:
                self._check(held.popleft() if rng.random() < 0.5 else held.pop(), questions)
            self._check(snapshot, questions)
            _operate(snapshot, int(rng.integers(4)))
            truth = self.truth.get(snapshot.version)
            if truth is not None and truth.edges is not None:
                self._recount(snapshot, truth.edges)

    def _check(self, snapshot: gl.Snapshot, questions: Latencies) -> None:
        truth = self.truth.get(snapshot.version)
        if truth is None:  # it is older than what is remembered
            return
        assert snapshot.num_edges == truth.num_edges, (snapshot, truth.num_edges)
        for u, v, there in truth.probes:
            found = questions.time(partial(snapshot.has_edge, u, v))
            assert found == there, (snapshot, u, v, there)

    def _recount(self, snapshot: gl.Snapshot, keys: Int64Array) -> None:
        u, v = snapshot.edges().T
        assert np.array_equal(np.sort(u * NUM_VERTICES + v), keys), snapshot
        tails, heads = np.divmod(keys, NUM_VERTICES)
        rows = csr_array((np.ones(keys.size, np.int64), (tails, heads)), shape=(NUM_VERTICES, NUM_VERTICES))
        triangles = int((rows @ rows).multiply(rows).sum())
        assert gl.count_triangles(snapshot, devices="cpu").total == triangles, snapshot
        self.recounts += 1


def _shares() -> list[float]:
    weights = [1 / math.sqrt(size) for size in BATCHES]
    return [weight / sum(weights) for weight in weights]


def _random_keys(rng: np.random.Generator, size: int) -> Int64Array:
    """Edges u < v; low numbers are hubs."""
    ends = (NUM_VERTICES * rng.random((2, size)) ** 2).astype(np.int64)
    low, high = np.minimum(*ends), np.maximum(*ends)
    high += (low == high) & (high < NUM_VERTICES - 1)
    low -= low == high
    keys: Int64Array = low * NUM_VERTICES + high
    return keys


def _operate(snapshot: gl.Snapshot, which: int) -> None:
    if which == 0:
        assert int(snapshot.degrees().sum()) == 2 * snapshot.num_edges
    elif which == 1 and snapshot.num_edges:
        assert gl.bfs(snapshot, 0, devices="cpu").reached >= 1
    elif which == 2:
        assert gl.connected_components(snapshot, devices="cpu").count <= NUM_VERTICES


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def is_flat(cell: dict[str, Any]) -> bool:
    """Whether the memory at the end is that after the start."""
    grown: bool = cell["bytes_at_end"] <= MOST_GROWTH * cell["bytes_after_warm_up"] + SLACK_BYTES
    return grown


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description="Run a service for long.")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("bench-output"), help="folder for soak.json")
    given = parser.parse_args(words)
    cell = Service(given.seconds, given.seed).run()
    flat = is_flat(cell)
    run = present_run("cpu")
    about = {"experiment": "soak", "title": "A service that runs for long", "label": machine_label(run)}
    record = Record.begin(given.out / "soak.json", about, run, say=print)
    record.add({"graph": "stream", "status": "done" if flat else "failed: memory grew", **cell})
    for name, found in cell["latency"].items():
        print(f"{name}: " + ", ".join(f"{key} {value:.6g}" for key, value in found.items()))
    print(f"memory: {cell['bytes_after_warm_up']:,} bytes after the warm-up, {cell['bytes_at_end']:,} at the end")
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())
