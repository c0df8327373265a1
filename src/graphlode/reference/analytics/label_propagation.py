"""Label propagation with a dictionary of counts for each vertex."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.common.phases import iteration_key, phase_of
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray, Task


def launch(
    device: ReferenceDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    max_iter: int,
    seed: int,
) -> dict[str, Any]:
    rows = rows_of(view)
    labels, iterations, converged = list(range(len(rows))), 0, False
    for _ in tasks:
        while not converged and iterations < max_iter:
            control.check()
            iterations += 1
            key = iteration_key(seed, iterations)
            before = labels
            for phase in (0, 1):
                labels = [
                    _winner([labels[u] for u in row], labels[v]) if phase_of(v, key) == phase else labels[v]
                    for v, row in enumerate(rows)
                ]
            converged = labels == before
        control.advance(len(rows))
    return {"labels": np.array(labels, view["neighbors"].dtype), "iterations": iterations, "converged": converged}


def _winner(around: list[int], own: int) -> int:
    """The most frequent label, the lowest of several; the own label if it is among them or there are no neighbors."""
    counts = Counter(around)
    most = max(counts.values(), default=0)
    return own if counts[own] == most else min(label for label, count in counts.items() if count == most)


def memory(device: ReferenceDevice, shape: Mapping[str, int], **options: Any) -> int:
    return 0
