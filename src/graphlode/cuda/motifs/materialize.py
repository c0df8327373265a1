"""Drives motifs/materialize.cu: step one stores triangles, wedges and diamonds as lists, step two counts from them.

The lists of a task are made by counting, a prefix sum, writes without conflicts and a sort. Before a list is allocated,
its size is compared with the free memory. 5-cycles and 5-cliques need no list; the fused passes count them.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.motifs.graph import MotifGraph, available
from graphlode.cuda.motifs.passes import Clock
from graphlode.cuda.motifs.sums import NUM_WORDS
from graphlode.errors import DeviceMemoryError
from graphlode.types import Task

OPERATION = "mining.motifs"
SOURCE = KernelSource(
    "motifs/materialize",
    (
        *("materialize_triangles", "materialize_wedge_counts", "materialize_wedges"),
        *("materialize_diamond_counts", "materialize_diamonds", "materialize_pair_sums", "materialize_houses"),
        *("materialize_triangle_sums", "materialize_diamond_sums"),
    ),
)

_KEY_BYTES = 24  # a key, its copy during sorting, and the begin of a run if all keys are different


class FusedPasses(Protocol):
    """The methods of the fused passes that this method uses, too."""

    device: KernelDevice
    graph: MotifGraph
    control: Control
    clock: Clock

    def vertices_and_edges(self, task: Task, work: Any) -> None: ...
    def wedge_tasks(self, task: Task) -> list[Any]: ...
    def cycles(self, tasks: Any, work: Any) -> None: ...
    def cliques5(self, task: Task) -> int: ...
    def entries(self, task: Task, offsets: Any) -> tuple[int, int]: ...
    def read(self, work: Any) -> dict[str, int]: ...


def count(passes: FusedPasses, edges: Any, task: Task, size: int) -> dict[str, int]:
    """The sums of a task; `edges` are the edge ids of the view's entries."""
    work = passes.device.zeros(NUM_WORDS, np.int64)
    passes.vertices_and_edges(task, work)
    cliques5 = 0
    if size >= 4:
        lists = _Lists(passes, edges, task)
        lists.count(work)
    if size == 5:
        passes.cycles(passes.wedge_tasks(task)[1], work)
        cliques5 = passes.cliques5(task)
    return passes.read(work) | {"cliques5": cliques5}


class _Lists:
    """The lists of one task."""

    def __init__(self, passes: FusedPasses, edges: Any, task: Task) -> None:
        self.passes, self.device, self.graph, self.task = passes, passes.device, passes.graph, task
        self.kernels = self.device.load(SOURCE)
        self.edges = edges
        begin, end = passes.entries(task, self.graph.offsets)
        self.span = (np.int64(begin), np.int64(end))
        self.num_entries = end - begin

    def count(self, work: Any) -> None:
        if self.num_entries == 0:
            return
        time = self.passes.clock.time
        with time("list triangles"):
            triangle_begins, triangles = self._triangles()
        with time("triangles", work):
            self._sum_triangles(triangle_begins, triangles, work)
        with time("list wedges"):
            pairs, num_pairs = self._wedges()
        with time("pairs", work):
            self._sum_pairs(pairs, num_pairs, work)
        with time("list diamonds"):
            diamonds, num_runs = self._diamonds(triangle_begins, triangles)
        if num_runs:
            with time("diamonds", work):
                counted = (self.span[0], *diamonds, np.int64(num_runs), *pairs, np.int64(num_pairs), work)
                arguments = (*self.graph.arguments, self.graph.rows, *counted)
                self._launch("materialize_diamond_sums", num_runs, arguments)

    def _sum_triangles(self, begins: Any, triangles: Any, work: Any) -> None:
        graph, task = self.graph, self.task
        everything = (np.int64(graph.num_entries), begins, triangles, np.int32(task.begin), np.int32(task.end))
        inputs = (*graph.arguments, graph.rows, self.edges)
        self._launch("materialize_triangle_sums", 32 * graph.num_entries, (*inputs, *everything, work))

    def _sum_pairs(self, pairs: tuple[Any, Any], num_pairs: int, work: Any) -> None:
        graph = self.graph
        self._launch("materialize_pair_sums", num_pairs, (graph.offsets, *pairs, np.int64(num_pairs), work))
        houses = (*graph.arguments, graph.rows, *self.span, *pairs, np.int64(num_pairs), work)
        self._launch("materialize_houses", 32 * self.num_entries, houses)

    def _triangles(self) -> tuple[Any, Any]:
        """Common neighbors of every edge of the graph, by edge id."""
        graph = self.graph
        begins = self.device.zeros(graph.num_entries // 2 + 1, np.int64)
        begins[1 + self.edges] = graph.supports
        self.device.xp.cumsum(begins, out=begins)
        count = int(begins[-1])
        self._require("triangles", count, 4)
        triangles = self.device.empty(max(1, count), np.int32)
        arguments = (*graph.arguments, graph.rows, self.edges, np.int64(graph.num_entries), begins, triangles)
        self._launch("materialize_triangles", 32 * graph.num_entries, arguments)
        return begins, triangles

    def _wedges(self) -> tuple[tuple[Any, Any], int]:
        """Keys (u, v) of all wedges, sorted, with the begin of each pair; and the number of pairs."""
        graph = self.graph
        begins = self.device.zeros(self.num_entries + 1, np.int64)
        counted = (graph.neighbors, graph.firsts, graph.places, *self.span, begins)
        self._launch("materialize_wedge_counts", self.num_entries, counted)
        self.device.xp.cumsum(begins, out=begins)
        keys = self._keys("wedges", int(begins[-1]))
        written = (graph.offsets, graph.neighbors, graph.firsts, graph.rows, *self.span, begins, keys)
        self._launch("materialize_wedges", 32 * self.num_entries, written)
        return self._runs(keys)

    def _diamonds(self, triangle_begins: Any, triangles: Any) -> tuple[tuple[Any, Any], int]:
        """Keys (entry of h in row u, v), sorted, with the begin of each triple; and the number of triples."""
        inputs = (*self.graph.arguments, self.graph.rows, self.edges, triangle_begins, triangles, *self.span)
        begins = self.device.zeros(self.num_entries + 1, np.int64)
        self._launch("materialize_diamond_counts", 32 * self.num_entries, (*inputs, begins))
        self.device.xp.cumsum(begins, out=begins)
        keys = self._keys("diamonds", int(begins[-1]))
        self._launch("materialize_diamonds", 32 * self.num_entries, (*inputs, begins, keys))
        return self._runs(keys)

    def _keys(self, what: str, count: int) -> Any:
        self._require(what, count, _KEY_BYTES)
        return self.device.empty(count, np.int64)

    def _runs(self, keys: Any) -> tuple[tuple[Any, Any], int]:
        self.passes.control.check()
        xp = self.device.xp
        keys.sort()
        begins = xp.flatnonzero(keys[1:] != keys[:-1]) + 1
        ends = [xp.zeros(min(1, len(keys)), np.int64), begins, xp.asarray([len(keys)], dtype=np.int64)]
        begins = xp.concatenate(ends)
        return (keys, begins), len(begins) - 1

    def _require(self, what: str, count: int, width: int) -> None:
        needed, left = count * width, available(self.device, 0)
        if needed > left:
            raise DeviceMemoryError(
                f'{OPERATION} with method="materialize" on {self.device.name}: the list of {count} {what} needs '
                f'{needed} bytes, {left} are available; method="fused" stores no such list'
            )

    def _launch(self, entry: str, items: int, arguments: tuple[Any, ...]) -> None:
        if items == 0:
            return
        self.passes.control.check()
        grid, block = launch_shape(self.device, items)
        self.kernels.launch(entry, grid, block, arguments)
