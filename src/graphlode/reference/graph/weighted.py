"""The rows with their weights, directly from the definition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.common.weights import require_lengths
from graphlode.reference.device import ReferenceDevice
from graphlode.types import AnyArray


def build(device: ReferenceDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, Any]:
    offsets, neighbors = base["offsets"], base["neighbors"]
    weights = np.asarray(base["weights"] if "weights" in base else _of_entries(base, view), np.float64)
    require_lengths(min(weights.tolist(), key=lambda weight: (weight == weight, weight), default=0.0))
    mean = float(weights.mean()) if weights.size else 0.0
    return {"offsets": offsets, "neighbors": neighbors, "weights": weights, "mean_weight": mean}


def _of_entries(base: Mapping[str, AnyArray], view: Any) -> list[float]:
    tails = np.repeat(np.arange(base["offsets"].size - 1), np.diff(base["offsets"])).tolist()
    entries = list(zip(tails, base["neighbors"].tolist(), strict=True))
    edges = [(u, v) for u, v in entries if view.directed or u < v]
    weight_of = dict(zip(edges, view.edge_weights().tolist(), strict=True))
    return [weight_of[(u, v) if view.directed else (min(u, v), max(u, v))] for u, v in entries]


def memory(device: ReferenceDevice, shape: Mapping[str, int]) -> int:
    return 0
