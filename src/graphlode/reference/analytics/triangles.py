"""Triangles by intersecting sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray, Task


def launch(
    device: ReferenceDevice, view: Mapping[str, AnyArray], tasks: Iterator[Task], *, control: Control, by: str | None
) -> dict[str, Any]:
    rows = rows_of(view)
    entry = {(u, v): int(view["offsets"][u]) + i for u, row in enumerate(rows) for i, v in enumerate(sorted(row))}
    total = 0
    counts = np.zeros({None: 0, "vertex": len(rows), "edge": len(entry)}[by], np.int64)
    for task in tasks:
        for u in range(task.begin, task.end):
            control.check()
            for v in rows[u]:
                for w in rows[u] & rows[v]:
                    total += 1
                    if by == "vertex":
                        counts[[u, v, w]] += 1
                    elif by == "edge":
                        counts[[entry[u, v], entry[u, w], entry[v, w]]] += 1
            control.advance(1)
    return {"total": total, "counts": None if by is None else counts}


def memory(device: ReferenceDevice, shape: Mapping[str, int], *, by: str | None) -> int:
    return 0
