"""Maximal cliques by the algorithm of Bron and Kerbosch with pivots, on sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray, Int64Array, Task


def launch(
    device: ReferenceDevice,
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
    vertices = view["vertices"]
    names = vertices.astype(np.int64) if ids is None else ids[vertices]
    found = (np.sort(names[clique]) for clique in _maximal(view, tasks, control) if len(clique) >= min_size)
    if sink is None:
        return {"largest": max(found, key=len, default=np.empty(0, np.int64))}
    while batch := list(islice(found, batch_size)):
        offsets = np.cumsum([0, *map(len, batch)], dtype=np.int64)
        sink((offsets, np.concatenate(batch)))
    return {"largest": None}


def _maximal(view: Mapping[str, AnyArray], tasks: Iterator[Task], control: Control) -> Iterator[list[int]]:
    """The maximal cliques whose lowest rank is in the tasks."""
    later = rows_of(view)
    rows = [set(row) for row in later]
    for u, row in enumerate(later):
        for v in row:
            rows[v].add(u)
    for task in tasks:
        for u in range(task.begin, task.end):
            control.check()
            yield from _extend(rows, [u], later[u], rows[u] - later[u])
            control.advance(1)


def _extend(rows: list[set[int]], held: list[int], candidates: set[int], excluded: set[int]) -> Iterator[list[int]]:
    if not candidates and not excluded:
        yield held
        return
    pivot = max(candidates | excluded, key=lambda v: len(rows[v] & candidates))
    candidates, excluded = set(candidates), set(excluded)
    for v in sorted(candidates - rows[pivot]):
        yield from _extend(rows, [*held, v], candidates & rows[v], excluded & rows[v])
        candidates.remove(v)
        excluded.add(v)


def memory(device: ReferenceDevice, shape: Mapping[str, int], **options: Any) -> int:
    return 0
