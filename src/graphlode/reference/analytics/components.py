"""Components: repeatedly collects all vertices that are connected to the first vertex without a label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray, Task


def launch(
    device: ReferenceDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    symmetric: bool,
) -> dict[str, Any]:
    rows = rows_of(view)
    neighbors = [set(row) for row in rows]
    for u, row in enumerate(rows):
        for v in row:
            neighbors[v].add(u)
    labels, count = [-1] * len(rows), 0
    for _ in tasks:
        for first in range(len(rows)):
            if labels[first] >= 0:
                continue
            waiting = [first]
            while waiting:
                control.check()
                v = waiting.pop()
                if labels[v] < 0:
                    labels[v] = count
                    waiting.extend(neighbors[v])
                    control.advance(1)
            count += 1
    return {"labels": np.array(labels, view["neighbors"].dtype), "count": count}


def memory(device: ReferenceDevice, shape: Mapping[str, int], **options: Any) -> int:
    return 0
