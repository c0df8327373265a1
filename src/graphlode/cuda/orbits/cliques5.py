"""The kernel orbits/cliques5.cu if all vertices have local graphs, else a count with the clique kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.common.counts import from_limbs
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph import roots
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.mining import cliques
from graphlode.cuda.motifs.graph import MotifGraph
from graphlode.types import AnyArray, Task

SOURCE = KernelSource("orbits/cliques5", ("orbit_cliques5",), {"EDGES": ("0", "1")})


def count_without_local_graphs(
    device: KernelDevice, graph: MotifGraph, edge_ids: Any, task: Task, *, edges: bool, control: Control
) -> AnyArray:
    """5-cliques whose lowest vertex is in the task, by vertex or by edge id, on the host."""
    upper = {"offsets": graph.offsets - graph.lower_offsets, "neighbors": graph.upper}
    rooted = roots.build(device, upper, None, control=control)
    begin, end = device.get(upper["offsets"][[task.begin, task.end]]).tolist()
    by: Any = "edge" if edges else "vertex"
    part = iter([Task(begin, end)])
    found = cliques.launch(device, rooted, part, control=control.beside(), k=5, by=by, method="pivot")
    counts: AnyArray = from_limbs(found["counts"])
    if not edges:
        return counts
    by_id = np.zeros_like(counts)
    by_id[device.get(edge_ids[graph.neighbors > graph.rows])] = counts
    return by_id
