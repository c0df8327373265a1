"""Lists of k-cliques on the CPU; see native/src/mining/clique_lists.cpp."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.types import AnyArray, Int64Array, Task

_WAITING = 10


def launch(
    device: CpuDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    k: int,
    batch_size: int,
    ids: Int64Array | None,
    sink: Callable[[AnyArray], None],
) -> dict[str, Any]:
    vertices = view["vertices"]
    names = vertices.astype(np.int64) if ids is None else ids[vertices]
    total = 0
    for task in tasks:
        total += _native.mining_clique_lists(
            view["offsets"],
            view["neighbors"],
            task.begin,
            task.end,
            k,
            names,
            batch_size,
            sink,
            device.threads,
            control.words,
        )
    return {"total": total}


def memory(device: CpuDevice, shape: Mapping[str, int], *, k: int, batch_size: int, **unused: Any) -> int:
    """Bytes in addition to the view: names of vertices and waiting batches; per thread positions, bit rows and batches.

    Each thread has a batch that is being filled and one in reserve. The stream holds several batches, and the consumer
    has one or two.
    """
    n, longest = shape["num_vertices"], min(shape["num_vertices"], math.isqrt(2 * shape["num_edges"]) + 1)
    words = max(2 * -(-longest // 64), 1)
    bit_rows = 8 * words * (longest + min(k, longest) + 64)
    batches = 2 * device.threads + _WAITING
    return 8 * n + device.threads * (4 * n + bit_rows) + 8 * k * batch_size * batches
