"""Core numbers by removing vertices in rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray, Task


def launch(
    device: ReferenceDevice, view: Mapping[str, AnyArray], tasks: Iterator[Task], *, control: Control
) -> dict[str, Any]:
    for _ in tasks:
        core, rounds = peel(rows_of(view), control)
    return {"core": np.array(core, np.int32), "round": np.array(rounds, np.int32)}


def peel(rows: list[set[int]], control: Control) -> tuple[list[int], list[int]]:
    """Core number and round of each vertex: a round removes all vertices of degree at most k at once."""
    core = [0] * len(rows)
    rounds = [0] * len(rows)
    remaining = set(range(len(rows)))
    k = number = 0
    while remaining:
        control.check()
        degree = {v: len(rows[v] & remaining) for v in remaining}
        removed = {v for v in remaining if degree[v] <= k}
        if not removed:
            k = min(degree.values())
            continue
        for v in removed:
            core[v], rounds[v] = k, number
        remaining -= removed
        number += 1
        control.advance(len(removed))
    return core, rounds


def memory(device: ReferenceDevice, shape: Mapping[str, int]) -> int:
    return 0
