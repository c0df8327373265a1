"""Drives mining/motifs.cu and the drivers of the other fused passes of motif counting.

Vertices, edges and triangles have one kernel each. Pairs with common neighbors and 5-cycles use task lists (see
`motifs.wedges`, `motifs.cycles`, `motifs.tasks`). The clique kernels count 5-cliques. `method="materialize"` stores
lists instead, see `motifs.materialize`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.graph import roots
from graphlode.cuda.interface import KernelDevice, launch_shape, raise_fault
from graphlode.cuda.mining import cliques
from graphlode.cuda.motifs import materialize as motif_materialize
from graphlode.cuda.motifs.cycles import SCRATCH_BYTES, count_cycles
from graphlode.cuda.motifs.graph import SOURCE as GRAPH_SOURCE
from graphlode.cuda.motifs.graph import MotifGraph, available, prepare, prepared_memory
from graphlode.cuda.motifs.passes import Clock, NoClock, PassClock
from graphlode.cuda.motifs.sums import NUM_WORDS, STATUS_WORDS, names_of, read_sums
from graphlode.cuda.motifs.tasks import Tasks, large_words
from graphlode.cuda.motifs.wedges import count_pairs, wedge_tasks
from graphlode.errors import UnsupportedError
from graphlode.types import Pass, Task

OPERATION = "mining.motifs"
METHODS = ("fused", "materialize")


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    size: int,
    method: str,
) -> dict[str, int]:
    """The raw sums of `graphlode.mining.motifs` over the vertices of the tasks."""
    return _launch(device, view, tasks, control, size, method, NoClock())


def time_passes(
    device: KernelDevice, view: Mapping[str, Any], *, control: Control, size: int, method: str
) -> tuple[dict[str, int], list[Pass]]:
    """The sums of all vertices, and the time of each pass; the device is idle before each pass."""
    clock = PassClock(device)
    everything = Task(0, len(view["offsets"]) - 1)
    return _launch(device, view, iter([everything]), control, size, method, clock), clock.passes


def _launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    control: Control,
    size: int,
    method: str,
    clock: Clock,
) -> dict[str, int]:
    if method not in METHODS:
        raise UnsupportedError(f"{OPERATION} on {device.name} has the methods {', '.join(METHODS)}, not {method!r}")
    total = dict.fromkeys((*names_of(size), *(("cliques5",) if size == 5 else ())), 0)
    graph: MotifGraph | None = None
    for task in tasks:
        if task.begin < task.end and len(view["neighbors"]) > 0:
            if graph is None:
                with clock.time("prepare"):
                    graph = prepare(device, view, local_bytes=partial(_local_bytes, device, view, size, method))
                passes = _Passes(device, graph, control, clock)
            if method == "materialize":
                found = motif_materialize.count(passes, view["edges"], task, size)
            else:
                found = passes.count(task, size)
            for name in total:
                total[name] += found.get(name, 0)
        control.advance(task.end - task.begin)
    return total


def memory(device: KernelDevice, shape: Mapping[str, int], *, size: int, method: str) -> int:
    """Bytes in addition to the view, without local graphs, which use what is left, and the lists of "materialize"."""
    n, m = shape["num_vertices"], shape["num_edges"]
    needed = prepared_memory(shape) + 48 * n
    if size == 5:
        cycles = max(8 * n, min(SCRATCH_BYTES, 16 * n * device.num_multiprocessors))
        upper = (shape["vertex_bytes"] + 1) * m + 48 * n
        needed += max(cycles, upper + cliques.memory(device, shape, k=5, by=None, method="pivot"))
    return needed


def preferred(device: KernelDevice, shape: Mapping[str, int], *, size: int) -> tuple[str, str]:
    """The method for "auto", and the reason."""
    return "fused", "which stores no wedges and no diamonds"


def _local_bytes(device: KernelDevice, view: Mapping[str, Any], size: int, method: str, wanted: int) -> int:
    """Bytes for local graphs, at most `wanted`. Only the fused method for 4 and more vertices uses them."""
    if size == 3 or method == "materialize":
        return 0
    shape = {
        "num_vertices": len(view["offsets"]) - 1,
        "num_edges": len(view["neighbors"]) // 2,
        "vertex_bytes": view["neighbors"].dtype.itemsize,
    }
    return available(device, memory(device, shape, size=size, method=method), wanted)


class _Passes:
    """The passes over one prepared graph."""

    def __init__(self, device: KernelDevice, graph: MotifGraph, control: Control, clock: Clock) -> None:
        self.device, self.graph, self.control, self.clock = device, graph, control, clock
        self.words = large_words(device)
        self._upper: dict[str, Any] | None = None

    def count(self, task: Task, size: int) -> dict[str, int]:
        """All sums of the vertices of a task for patterns of up to `size` vertices."""
        work = self.device.zeros(NUM_WORDS, np.int64)
        self.vertices_and_edges(task, work)
        cliques5 = 0
        if size >= 4:
            self.control.check()
            pairs, cycles = self.wedge_tasks(task)
            self.triangles(task, work)
            self.pairs(pairs, work, with_third=size == 5)
            if size == 5:
                self.cycles(cycles, work)
                cliques5 = self.cliques5(task)
        return self.read(work) | {"cliques5": cliques5}

    def read(self, work: Any) -> dict[str, int]:
        words = self.device.get(work)
        raise_fault(words[:STATUS_WORDS], OPERATION, self.device.name)
        return read_sums(words)

    def vertices_and_edges(self, task: Task, work: Any) -> None:
        device, graph = self.device, self.graph
        with self.clock.time("vertices and edges", work):
            kernels = device.load(GRAPH_SOURCE)
            grid, block = launch_shape(device, 32 * (task.end - task.begin))
            rows = (graph.offsets, graph.neighbors, graph.vertex_triangles, np.int32(task.begin), np.int32(task.end))
            kernels.launch("motif_vertex_sums", grid, block, (*rows, work))
            begin, end = self.entries(task, graph.offsets)
            inputs = (graph.offsets, graph.neighbors, graph.supports, graph.rows, graph.vertex_triangles)
            if begin < end:
                grid, block = launch_shape(device, end - begin)
                kernels.launch("motif_edge_sums", grid, block, (*inputs, np.int64(begin), np.int64(end), work))

    def wedge_tasks(self, task: Task) -> list[Tasks]:
        """Vertices grouped by the work of the passes over pairs and over 5-cycles."""
        with self.clock.time("tasks"):
            return wedge_tasks(self.device, self.graph, task, self.words)

    def triangles(self, task: Task, work: Any) -> None:
        graph = self.graph
        with self.clock.time("triangles", work):
            grid, block = launch_shape(self.device, graph.num_entries)
            bounds = (graph.rows, np.int64(graph.num_entries), np.int32(task.begin), np.int32(task.end))
            kernels = self.device.load(GRAPH_SOURCE)
            kernels.launch("motif_triangles", grid, block, (*graph.arguments, *bounds, work))

    def pairs(self, tasks: Tasks, work: Any, *, with_third: bool) -> None:
        with self.clock.time("pairs", work):
            count_pairs(self.device, self.graph, tasks, self.words, work, with_third=with_third, control=self.control)

    def cycles(self, tasks: Tasks, work: Any) -> None:
        with self.clock.time("cycles", work):
            count_cycles(self.device, self.graph, tasks, self.words, work, control=self.control)

    def cliques5(self, task: Task) -> int:
        """5-cliques whose lowest vertex is in the task, counted by the clique kernels."""
        device, graph = self.device, self.graph
        with self.clock.time("cliques", gives=("cliques5",)):
            if self._upper is None:
                upper = {"offsets": graph.offsets - graph.lower_offsets, "neighbors": graph.upper}
                self._upper = roots.build(device, upper, None, control=self.control)
            begin, end = self.entries(task, self._upper["offsets"])
            entries, control = iter([Task(begin, end)]), self.control.beside()
            found = cliques.launch(device, self._upper, entries, control=control, k=5, by=None, method="pivot")
            return int(found["total"])

    def entries(self, task: Task, offsets: Any) -> tuple[int, int]:
        """The range of entries of a task's rows. If these are all rows, nothing is read from the device."""
        if task.begin == 0 and task.end == self.graph.num_vertices:
            return 0, self.graph.num_entries if offsets is self.graph.offsets else self.graph.num_entries // 2
        begin, end = device_ints(self.device, offsets[[task.begin, task.end]])
        return begin, end


def device_ints(device: KernelDevice, array: Any) -> list[int]:
    values: list[int] = device.get(array).tolist()
    return values
