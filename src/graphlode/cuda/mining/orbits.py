"""Drives mining/orbits.cu, orbits/pairs.cu, orbits/cycles.cu and orbits/cliques5.cu, the latter by their own drivers.

For each entry h of a row u, the kernels sum over the patterns with the edge uh, seen from u (see orbits/sums.cuh).
`orbits.arrays` turns these into sums by vertex and by edge. A task has the entries of its rows. Some sums have sums
over all rows as weights; they are returned only if the tasks covered the whole graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.cliques.plan import next_slice
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.mining import cliques
from graphlode.cuda.motifs.graph import available, prepare, prepared_memory
from graphlode.cuda.motifs.tasks import LARGE_BLOCKS
from graphlode.cuda.orbits import cliques5 as orbit_cliques5
from graphlode.cuda.orbits.arrays import (
    COMPOSED,
    EDGE_NAMES,
    SUMS,
    VERTEX_NAMES,
    VERTEX_SUMS,
    OrbitEntries,
    edge_arrays,
    vertex_arrays,
)
from graphlode.cuda.orbits.cycles import count_cycles
from graphlode.cuda.orbits.pairs import SCRATCH_BYTES, count_pairs
from graphlode.errors import UnsupportedError
from graphlode.types import AnyArray, Task

OPERATION = "mining.orbits"
__all__ = ["COMPOSED", "launch", "memory"]
SOURCE = KernelSource("mining/orbits", ("orbit_triangles", "orbit_cliques", "orbit_second"), {"EDGES": ("0", "1")})

_FIRST_SLICE = 1 << 19  # entries
_STACK_BYTES = 1 << 26
_COUNTER_LIMIT, _SUM_LIMIT = 1 << 32, 1 << 62


def launch(
    device: KernelDevice,
    view: Mapping[str, Any],
    tasks: Iterator[Task],
    *,
    control: Control,
    size: int,
    edges: bool,
) -> dict[str, AnyArray]:
    """The contributions of the tasks' rows to the raw arrays of `graphlode.mining.orbits`."""
    if len(view["neighbors"]) == 0:
        control.advance(sum(task.end - task.begin for task in tasks))
        return _without_edges(len(view["offsets"]) - 1, size, edges)
    counter: _Counter | None = None
    for task in tasks:
        if task.begin < task.end:
            counter = counter or _Counter(device, view, control, size=size, edges=edges)
            counter.count(task)
        control.advance(task.end - task.begin)
    return {} if counter is None else counter.raw_arrays()


def memory(device: KernelDevice, shape: Mapping[str, int], *, size: int, edges: bool) -> int:
    """Bytes in addition to the view, without local graphs, which use what is left."""
    n, m = shape["num_vertices"], shape["num_edges"]
    sums = len(SUMS) if edges else len(VERTEX_SUMS)
    scratch = max(24 * n, min(SCRATCH_BYTES, 24 * n * LARGE_BLOCKS * device.num_multiprocessors))
    needed = prepared_memory(shape) + 16 * m * (sums + 6) + scratch + 64 * n
    if size == 5:
        by = "edge" if edges else "vertex"
        needed += cliques.memory(device, shape, k=5, by=by, method="pivot")  # type: ignore[arg-type]
    return needed


def _without_edges(num_vertices: int, size: int, edges: bool) -> dict[str, AnyArray]:
    """All arrays for a graph without edges, where kernels would have nothing to do."""
    nothing = np.zeros(0, np.int64)
    names = EDGE_NAMES if edges else VERTEX_NAMES
    per_unit = nothing if edges else np.zeros(num_vertices, np.int64)
    found = {"e5": nothing, "e11": nothing} | ({"fans": nothing} if edges else {})
    return found | {name: per_unit for name, smallest in names.items() if smallest <= size}


class _Counter:
    """Counts one graph, from the view to raw arrays."""

    def __init__(
        self, device: KernelDevice, view: Mapping[str, Any], control: Control, *, size: int, edges: bool
    ) -> None:
        self.device, self.view, self.control, self.size, self.edges = device, view, control, size, edges
        num_vertices, num_entries = len(view["offsets"]) - 1, len(view["neighbors"])
        shape = {
            "num_vertices": num_vertices,
            "num_edges": num_entries // 2,
            "vertex_bytes": view["neighbors"].dtype.itemsize,
        }
        needed = memory(device, shape, size=size, edges=edges)
        self.graph = prepare(device, view, local_bytes=partial(available, device, needed))
        self._check_counters()
        sums = SUMS if edges else VERTEX_SUMS
        self.values = device.zeros((len(sums), num_entries), np.uint64)
        self.cycles = device.zeros(num_vertices, np.uint64)
        self.entries = OrbitEntries(device, self.graph, dict(zip(sums, self.values.view(np.int64), strict=True)))
        self.ahead = self.entries.row_sum(self.entries.of_neighbor(self.graph.degrees) - 1)
        self.cliques5: Any = None  # by vertex or edge, on the host, if the clique kernels count them
        self.rows_done = 0

    def count(self, task: Task) -> None:
        """All sums by entry of the rows of a task, except those that need all rows."""
        graph, control = self.graph, self.control
        begin, end = self._entries_of(task)
        self._by_entry("orbit_triangles", begin, end, graph.vertex_triangles, self.ahead)
        self._by_entry("orbit_cliques", begin, end)
        count_pairs(self.device, graph, task, self.values, size=self.size, edges=self.edges, control=control)
        if self.size == 5:
            at_entries = self.values[SUMS.index("cycles")] if self.edges else self.cycles
            count_cycles(self.device, graph, task, self.cycles, at_entries, edges=self.edges, control=control)
            if graph.num_local == graph.num_vertices:
                self._by_entry("orbit_cliques5", begin, end, source=orbit_cliques5.SOURCE)
            else:
                found = orbit_cliques5.count_without_local_graphs(
                    self.device, graph, self.view["edges"], task, edges=self.edges, control=control
                )
                self.cliques5 = found if self.cliques5 is None else self.cliques5 + found
        self.rows_done += task.end - task.begin

    def raw_arrays(self) -> dict[str, AnyArray]:
        whole = self.rows_done == self.graph.num_vertices
        if self.size == 5 and whole:
            self._by_entry("orbit_second", 0, self.graph.num_entries)
        entries = self.entries
        found = {"e5": entries.by_edge(entries["squares"]), "e11": entries.by_edge(entries["cliques"] // 2)}
        if self.edges:
            found["fans"] = entries["fans"]
            arrays = edge_arrays(entries, self.size, whole=whole)
            found |= {name: entries.by_edge(array) for name, array in arrays.items()}
        else:
            found |= vertex_arrays(entries, self.cycles.view(np.int64), self.size, whole=whole)
        result = self._fetched(found)
        if self.cliques5 is not None:
            result["e67" if self.edges else "o72"] = self.cliques5
        return result

    def _fetched(self, found: dict[str, Any]) -> dict[str, AnyArray]:
        """Copies arrays to the host; small arrays of the same length in one copy."""
        result: dict[str, AnyArray] = {}
        for length in {len(array) for array in found.values()}:
            names = [name for name, array in found.items() if len(array) == length]
            if 8 * length * len(names) <= _STACK_BYTES:
                stacked = self.device.xp.stack([found[name] for name in names])
                result |= zip(names, self.device.get(stacked), strict=True)
            else:
                result |= {name: self.device.get(found[name]) for name in names}
        return result

    def _entries_of(self, task: Task) -> tuple[int, int]:
        if task.begin == 0 and task.end == self.graph.num_vertices:
            return 0, self.graph.num_entries
        begin, end = self.device.get(self.graph.offsets[[task.begin, task.end]]).tolist()
        return begin, end

    def _check_counters(self) -> None:
        """Checks that 32-bit counters of pairs (2 D, sums of triangles) and 64-bit sums of entries cannot overflow."""
        second, longest = (int(degree) for degree in self.device.get(self.graph.degrees[-2:]))
        triangles = int(self.view["triangles"].max())
        most = second * max(second, triangles)
        if most >= _COUNTER_LIMIT or longest * second * max(second, longest, triangles) >= _SUM_LIMIT:
            raise UnsupportedError(
                f"{OPERATION} on {self.device.name}: pairs with up to {second} common neighbors and rows of up to {longest} "
                "could overflow its counters; devices='cpu' has no such limit"
            )

    def _by_entry(self, kernel: str, begin: int, end: int, *inputs: Any, source: KernelSource = SOURCE) -> None:
        """Launches a warp per entry, in slices that take a while each."""
        kernels, size = self.device.load(source, EDGES=str(int(self.edges))), _FIRST_SLICE
        while begin < end:
            stop = min(end, begin + size)
            started = perf_counter()
            grid, block = launch_shape(self.device, 32 * (stop - begin))
            scalars = (np.int64(x) for x in (self.graph.num_entries, begin, stop))
            kernels.launch(
                kernel, grid, block, (*self.graph.arguments, self.graph.rows, *inputs, *scalars, self.values)
            )
            self.device.synchronize()
            self.control.check()
            size, begin = next_slice(size, perf_counter() - started), stop
