"""Maximal cliques on the CPU; see native/src/mining/maximal_cliques.cpp and maximal/largest.cpp."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import AnyArray, Int64Array, Task


def launch(
    device: CpuDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    want: str,
    min_size: int,
    batch_size: int,
    ids: Int64Array | None,
    sink: Callable[[Any], None] | None,
) -> dict[str, Any]:
    offsets, neighbors, vertices = view["offsets"], view["neighbors"], view["vertices"]
    names = vertices.astype(np.int64) if ids is None else ids[vertices]
    if want == "largest" or sink is None:
        largest = np.empty(0, np.int64)
        for task in tasks:
            found = _native.mining_max_clique(offsets, neighbors, task.begin, task.end, device.threads, control.words)
            largest = max(largest, found, key=len)
        return {"largest": np.sort(names[largest])}
    earlier_offsets, earlier_neighbors = _native.mining_transpose(offsets, neighbors, device.threads, control.words)
    for task in tasks:
        _native.mining_maximal_cliques(
            offsets,
            neighbors,
            earlier_offsets,
            earlier_neighbors,
            names,
            task.begin,
            task.end,
            min_size,
            batch_size,
            device.threads,
            control.words,
            sink,
        )
    return {"largest": None}


def memory(device: CpuDevice, shape: Mapping[str, int], **options: Any) -> int:
    """Bytes in addition to the view: transposed rows, names, batches; per thread numbers of vertices, bit rows,
    batches.

    The number of bit rows of excluded vertices is the number of earlier neighbors of one vertex, which is unknown here.
    The estimate is two words for every vertex, more than graphs with skewed degrees need.
    """
    n, m = shape["num_vertices"], shape["num_edges"]
    longest = min(n, math.isqrt(2 * m) + 1)
    words = 2 * -(-longest // 64)
    bit_rows = 8 * words * (longest + 4) + 16 * n
    batch = 8 * min(2**20, int(options.get("batch_size", 2**13)) * (longest + 1)) + 16 * 2**13
    shared = 8 * (n + 1) + shape["vertex_bytes"] * m + 8 * n + 6 * batch
    return shared + device.threads * (4 * n + bit_rows + 3 * batch)
