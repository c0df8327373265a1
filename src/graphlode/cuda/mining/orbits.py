"""Drives mining/orbits.cu and, through its own driver, orbit_pairs.cu: sums by entry, then the raw arrays of orbits from them.

For the entry of h in row u the kernels sum over what the edge uh is part of, from the side of u (see
include/orbit_sums.cuh); `orbit_arrays` makes sums by vertex and by edge of them. Everything is done for the whole graph,
whatever the tasks: half of the sums have the other half as weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from graphlode.control import Control
from graphlode.counts import from_limbs
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph import roots
from graphlode.cuda.interface import KernelDevice, launch_shape
from graphlode.cuda.mining import cliques
from graphlode.cuda.mining.clique_plan import next_slice
from graphlode.cuda.mining.motif_graph import available, prepare, prepared_memory
from graphlode.cuda.mining.motif_tasks import LARGE_BLOCKS
from graphlode.cuda.mining.orbit_arrays import (
    EDGE_NAMES,
    SUMS,
    VERTEX_NAMES,
    VERTEX_SUMS,
    OrbitEntries,
    edge_arrays,
    vertex_arrays,
)
from graphlode.cuda.mining.orbit_pairs import SCRATCH_BYTES, count_pairs
from graphlode.errors import UnsupportedError
from graphlode.types import AnyArray, Task

OPERATION = "mining.orbits"
SOURCE = KernelSource("mining/orbits", ("orbit_triangles", "orbit_cliques", "orbit_second"), {"EDGES": ("0", "1")})

_FIRST_SLICE = 1 << 19  # entries
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
    """The raw arrays of `graphlode.mining.orbits` for the vertices and edges of the tasks, in the order of the tasks."""
    spans = list(tasks)
    counter = _Counter(device, view, control, size=size, edges=edges)
    found = counter.raw_arrays()
    lower_offsets, offsets = counter.bounds()
    control.advance(sum(task.end - task.begin for task in spans))
    result = {}
    for name, array in found.items():
        bounds = offsets if name == "fans" else lower_offsets if name.startswith("e") else None
        cut = [array[_bound(bounds, task.begin) : _bound(bounds, task.end)] for task in spans]
        result[name] = cut[0] if len(cut) == 1 else np.concatenate([array[:0], *cut])
    return result


def memory(device: KernelDevice, shape: Mapping[str, int], *, size: int, edges: bool) -> int:
    """Bytes beside the view, without local graphs, which take what is left."""
    n, m = shape["num_vertices"], shape["num_edges"]
    sums = len(SUMS) if edges else len(VERTEX_SUMS)
    scratch = max(24 * n, min(SCRATCH_BYTES, 24 * n * LARGE_BLOCKS * device.num_multiprocessors))
    needed = prepared_memory(shape) + 16 * m * (sums + 6) + scratch + 64 * n
    if size == 5:
        by = "edge" if edges else "vertex"
        needed += cliques.memory(device, shape, k=5, by=by, method="pivot")  # type: ignore[arg-type]
    return needed


def _bound(bounds: AnyArray | None, vertex: int) -> int:
    return vertex if bounds is None else int(bounds[vertex])


class _Counter:
    """One graph on its way from the view to raw arrays."""

    def __init__(
        self, device: KernelDevice, view: Mapping[str, Any], control: Control, *, size: int, edges: bool
    ) -> None:
        self.device, self.view, self.control, self.size, self.edges = device, view, control, size, edges
        self.num_vertices, self.num_entries = len(view["offsets"]) - 1, len(view["neighbors"])

    def bounds(self) -> tuple[AnyArray, AnyArray]:
        """Where the edges and the entries of each vertex begin, on the host."""
        lower = self.device.get(self.view["lower"])
        return np.append(0, np.cumsum(lower, dtype=np.int64)), self.device.get(self.view["offsets"])

    def raw_arrays(self) -> dict[str, AnyArray]:
        if self.num_entries == 0:
            return self._without_edges()
        shape = {
            "num_vertices": self.num_vertices,
            "num_edges": self.num_entries // 2,
            "vertex_bytes": self.view["neighbors"].dtype.itemsize,
        }
        needed = memory(self.device, shape, size=self.size, edges=self.edges)
        self.graph = prepare(self.device, self.view, local_bytes=partial(available, self.device, needed))
        self._check_counters()
        sums, products = self._sums()
        entries = OrbitEntries(self.device, self.graph, dict(zip(SUMS, sums, strict=False)))
        found = {"e5": entries.by_edge(entries["squares"]), "e11": entries.by_edge(entries["cliques"] // 2)}
        if self.edges:
            found["fans"] = entries["fans"]
            found |= {name: entries.by_edge(array) for name, array in edge_arrays(entries, self.size).items()}
        else:
            found |= vertex_arrays(entries, products, self.size)
        result = {name: self.device.get(array) for name, array in found.items()}
        if self.size == 5:
            result |= self._cliques5()
        return result

    def _without_edges(self) -> dict[str, AnyArray]:
        """All names with arrays of the right length: the kernels would have nothing to do."""
        nothing = np.zeros(0, np.int64)
        names = EDGE_NAMES if self.edges else VERTEX_NAMES
        per_unit = nothing if self.edges else np.zeros(self.num_vertices, np.int64)
        found = {"e5": nothing, "e11": nothing} | ({"fans": nothing} if self.edges else {})
        return found | {name: per_unit for name, smallest in names.items() if smallest <= self.size}

    def _check_counters(self) -> None:
        """Twice D, and sums of triangles over common neighbors, are 32-bit counters of a pair; sums by entry have 64 bits."""
        second, longest = (int(degree) for degree in self.device.get(self.graph.degrees[-2:]))
        triangles = int(self.view["triangles"].max())
        most = second * max(second, triangles)
        if most >= _COUNTER_LIMIT or longest * second * max(second, longest, triangles) >= _SUM_LIMIT:
            raise UnsupportedError(
                f"{OPERATION} on {self.device.name}: pairs with up to {second} common neighbors and rows of up to {longest} "
                "could overflow its counters; devices='cpu' has no such limit"
            )

    def _sums(self) -> tuple[Any, Any]:
        """All sums by entry, and by vertex the products over 5-cycles."""
        device, graph = self.device, self.graph
        values = device.zeros((len(SUMS) if self.edges else len(VERTEX_SUMS), self.num_entries), np.uint64)
        products = device.zeros(self.num_vertices, np.uint64)
        entries = (*graph.arguments, graph.rows)
        ahead = OrbitEntries(device, graph, {}).row_sum(graph.degrees[graph.neighbors].astype(np.int64) - 1)
        self._by_entry("orbit_triangles", (*entries, graph.vertex_triangles, ahead), values)
        self._by_entry("orbit_cliques", entries, values)
        count_pairs(device, graph, values, products, size=self.size, edges=self.edges, control=self.control)
        if self.size == 5:
            self._by_entry("orbit_second", entries, values)
        return values.view(np.int64), products.view(np.int64)

    def _by_entry(self, kernel: str, inputs: tuple[Any, ...], values: Any) -> None:
        """A warp per entry, in slices that take a while each."""
        kernels = self.device.load(SOURCE, EDGES=str(int(self.edges)))
        begin, size = 0, _FIRST_SLICE
        while begin < self.num_entries:
            end = min(self.num_entries, begin + size)
            started = perf_counter()
            grid, block = launch_shape(self.device, 32 * (end - begin))
            scalars = (np.int64(x) for x in (self.num_entries, begin, end))
            kernels.launch(kernel, grid, block, (*inputs, *scalars, values))
            self._wait()
            size, begin = next_slice(size, perf_counter() - started), end

    def _wait(self) -> None:
        self.device.synchronize()
        self.control.check()

    def _cliques5(self) -> dict[str, AnyArray]:
        """5-cliques by vertex or by edge, by the kernels that count cliques."""
        device, graph = self.device, self.graph
        upper = {"offsets": graph.offsets - graph.lower_offsets, "neighbors": graph.upper}
        rooted = roots.build(device, upper, None, control=self.control)
        whole, control = iter([Task(0, self.num_entries // 2)]), self.control.beside()
        by: Any = "edge" if self.edges else "vertex"
        found = cliques.launch(device, rooted, whole, control=control, k=5, by=by, method="pivot")
        counts = from_limbs(found["counts"])
        if not self.edges:
            return {"o72": counts}
        by_id = np.zeros_like(counts)
        by_id[device.get(self.view["edges"][graph.neighbors > graph.rows])] = counts
        return {"e67": by_id}
