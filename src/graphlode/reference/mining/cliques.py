"""k-cliques by growing them one higher-ranked vertex at a time, with sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.common.counts import bound_of_rows, limbs_for
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray, Task


def launch(
    device: ReferenceDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    k: int,
    by: str | None,
    method: str,
) -> dict[str, Any]:
    """All methods are the same here."""
    entry = {edge: e for e, edge in enumerate(edges_of(view))}
    total = 0
    counts = [0] * {None: 0, "vertex": view["offsets"].size - 1, "edge": len(entry)}[by]
    for clique in cliques_of(view, tasks, k, control):
        total += 1
        if by == "vertex":
            for v in clique:
                counts[v] += 1
        elif by == "edge":
            for edge in combinations(clique, 2):
                counts[entry[edge]] += 1
    if by is None:
        return {"total": total, "counts": None}
    words = np.zeros((len(counts), limbs_for(bound_of_rows(view["row_counts"], k))), np.uint64)
    words[:, 0] = counts
    return {"total": total, "counts": words}


def edges_of(view: Mapping[str, AnyArray]) -> list[tuple[int, int]]:
    """The entries of an oriented view as pairs of ranks."""
    tails = np.repeat(np.arange(view["offsets"].size - 1), np.diff(view["offsets"]))
    return list(zip(tails.tolist(), view["neighbors"].tolist(), strict=True))


def cliques_of(
    view: Mapping[str, AnyArray], tasks: Iterator[Task], k: int, control: Control
) -> Iterator[tuple[int, ...]]:
    """Every k-clique whose two lowest ranks are an entry in the tasks, as ascending ranks."""
    rows, edges = rows_of(view), edges_of(view)

    def grow(clique: tuple[int, ...], candidates: set[int]) -> Iterator[tuple[int, ...]]:
        if len(clique) == k:
            yield clique
        elif len(clique) + len(candidates) >= k:
            yield from (found for v in sorted(candidates) for found in grow((*clique, v), candidates & rows[v]))

    for task in tasks:
        for u, v in edges[task.begin : task.end]:
            control.check()
            yield from grow((u, v), rows[u] & rows[v])
            control.advance(1)


def memory(device: ReferenceDevice, shape: Mapping[str, int], *, k: int, by: str | None, method: str) -> int:
    return 0
