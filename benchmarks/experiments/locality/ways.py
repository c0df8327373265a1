"""Ways to run PageRank that `locality-walltime` compares. A way is a function: one more in a table is one more row.

Each gets the same shuffled list of edges and runs a given number of iterations. The time before the first one is paid
once. `WAYS` are those of the CPU, `WAYS_ON_DEVICE` those of any other device, which they get by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import process_time

import numpy as np

from graphlode.analytics.pagerank import Layout, pagerank
from graphlode.config import configure, settings
from graphlode.cpu.locality.tiles import rank_tiles, tile_list
from graphlode.execute import call
from graphlode.graph.build import from_edges
from graphlode.locality import EdgeOrder, rank_edges
from graphlode.locality.orders import Key, Order
from graphlode.measure import Timer
from graphlode.types import FloatArray, Int64Array

_MORE_ITERATIONS = 100


@dataclass(frozen=True)
class ShuffledList:
    """The common input of all ways."""

    src: Int64Array
    dst: Int64Array
    num_vertices: int


@dataclass(frozen=True)
class Run:
    """Seconds before the first iteration, of each iteration, and of all cores in total; and the final values."""

    once: float
    iterations: tuple[float, ...]
    cpu: tuple[float, ...]
    values: FloatArray

    @classmethod
    def of_alike(cls, once: float, wall: float, cpu: float, iterations: int, values: FloatArray) -> Run:
        """Iterations that were timed together."""
        return cls(once, (wall / iterations,) * iterations, (cpu / iterations,) * iterations, values)


Way = Callable[[ShuffledList, int], Run]


def list_in_order(
    given: ShuffledList,
    iterations: int,
    *,
    order: Order = "none",
    key: Key = "source",
    lanes: int = 32,
    device: str = "cpu",
) -> Run:
    """The list itself, on the CPU on one thread. Once, both ends of an edge are packed into a word, and the list may be
    sorted; both on the CPU."""
    with Timer() as once:
        edges = EdgeOrder(given.src, given.dst, order=order, key=key, lanes=lanes)
    found = rank_edges(edges, num_vertices=given.num_vertices, tol=0, max_iter=iterations, devices=device)
    return Run(once.seconds, found.seconds, found.cpu_seconds, found.values)


def pull_rows(given: ShuffledList, iterations: int, *, threads: int | None = None) -> Run:
    """`graphlode.pagerank`, which builds rows and pulls; its iterations are timed together, and taken as alike."""
    with configure(threads=threads or settings().threads):
        with Timer() as timer:
            graph = from_edges(given.src, given.dst, num_vertices=given.num_vertices, directed=True)
            first = pagerank(graph, tol=0, max_iter=1, layout="rows", devices="cpu")  # makes the transposed rows
        once = timer.seconds - first.provenance.steps["kernel"]
        begun_cpu = process_time()
        found = pagerank(graph, tol=0, max_iter=iterations, layout="rows", devices="cpu")
        cpu = process_time() - begun_cpu
    return Run.of_alike(once, found.provenance.steps["kernel"], cpu, iterations, found.values)


def on_tiles(given: ShuffledList, iterations: int, *, threads: int | None = None) -> Run:
    """Tiles of 2^16 by 2^16 vertices, built from the list; iterations are timed together, and taken as alike."""
    with configure(threads=threads or settings().threads):
        with Timer() as once:
            words = given.src.astype(np.int64) << 32 | given.dst
            tiles = call(lambda control: tile_list(words, given.num_vertices, control))
            out_degrees = np.bincount(given.src, minlength=given.num_vertices)
        begun_cpu = process_time()
        with Timer() as timer:
            values = call(lambda control: rank_tiles(*tiles, out_degrees, 0.85, iterations, control))
        cpu = process_time() - begun_cpu
    return Run.of_alike(once.seconds, timer.seconds, cpu, iterations, values)


def whole_calls(given: ShuffledList, iterations: int, *, layout: Layout, device: str) -> Run:
    """`graphlode.pagerank` on a device. What a call with many more iterations takes longer is taken as theirs, and
    alike; before them rows are built on the CPU and brought there, and tiles are built from them."""
    with Timer() as once:
        graph = from_edges(given.src, given.dst, num_vertices=given.num_vertices, directed=True)

        def seconds(count: int) -> float:
            found = pagerank(graph, tol=0, max_iter=count, layout=layout, devices=device)
            return found.provenance.steps["kernel"]

        seconds(iterations)  # builds the view and compiles the kernels
    few = min(seconds(iterations), seconds(iterations))
    begun_cpu = process_time()
    each = max(0.0, seconds(iterations + _MORE_ITERATIONS) - few) / _MORE_ITERATIONS
    cpu = (process_time() - begun_cpu) / (iterations + _MORE_ITERATIONS)
    values = pagerank(graph, tol=0, max_iter=iterations, layout=layout, devices=device).values
    return Run(once.seconds, (each,) * iterations, (cpu,) * iterations, values)


WAYS: dict[str, Way] = {
    "shuffled": list_in_order,
    "sorted by source": partial(list_in_order, order="sorted"),
    "sorted by destination": partial(list_in_order, order="sorted", key="destination"),
    "CSR pull, 1 thread": partial(pull_rows, threads=1),
    "CSR pull": pull_rows,
    "tiles, 1 thread": partial(on_tiles, threads=1),
    "tiles": on_tiles,
}


WAYS_ON_DEVICE: dict[str, Callable[..., Run]] = {
    "shuffled": list_in_order,
    "sorted by source": partial(list_in_order, order="sorted"),
    "sorted by destination": partial(list_in_order, order="sorted", key="destination"),
    "CSR pull": partial(whole_calls, layout="rows"),
    "tiles": partial(whole_calls, layout="tiles"),
}


def ways_on(device: str) -> dict[str, Way]:
    """The ways of a device by name."""
    if device == "cpu":
        return WAYS
    return {name: partial(way, device=device) for name, way in WAYS_ON_DEVICE.items()}


def progressive_way(lanes: int, device: str) -> Way:
    return partial(list_in_order, order="progressive", lanes=lanes, device=device)
