"""Cliques of every size: one search for each size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.mining.cliques import cliques_of
from graphlode.types import AnyArray, Task


def launch(
    device: ReferenceDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    max_k: int | None,
) -> dict[str, Any]:
    given = list(tasks)
    largest = view["row_counts"].size - 1  # a clique has at most as many vertices as its lowest row has entries, plus 1
    counts = [0, 0, 0]
    for k in range(3, (largest if max_k is None else min(max_k, largest)) + 1):
        counts.append(sum(1 for _ in cliques_of(view, iter(given), k, control.beside())))
    return {"counts": counts}


def memory(device: ReferenceDevice, shape: Mapping[str, int], *, max_k: int | None) -> int:
    return 0
