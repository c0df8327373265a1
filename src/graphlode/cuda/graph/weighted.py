"""The rows with their weights on a CUDA device. Rows of a store carry them; others need one sort."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.common.weights import require_lengths
from graphlode.cuda.interface import KernelDevice
from graphlode.errors import UnsupportedError
from graphlode.types import MAX_NARROW_VERTICES


def build(device: KernelDevice, base: Mapping[str, Any], view: Any, *, control: Control) -> dict[str, Any]:
    offsets, neighbors = base["offsets"], base["neighbors"]
    if "weights" in base:
        weights = base["weights"]
    else:
        weights = device.asarray(view.edge_weights())
        if not view.directed:
            weights = _of_entries(device, offsets, neighbors, weights)
    control.check()
    least, mean = (float(weights.min()), float(weights.mean())) if len(weights) else (0.0, 0.0)
    require_lengths(least)
    device.synchronize()
    return {"offsets": offsets, "neighbors": neighbors, "weights": weights, "mean_weight": mean}


def _of_entries(device: KernelDevice, offsets: Any, neighbors: Any, edge_weights: Any) -> Any:
    """The weight of each edge at both its entries: upper entries are in order, lower ones are sorted by upper end."""
    xp, num_vertices = device.xp, len(offsets) - 1
    if num_vertices > MAX_NARROW_VERTICES:
        raise UnsupportedError(
            f"weighted rows on CUDA devices have up to {MAX_NARROW_VERTICES} vertices, this graph has {num_vertices}; "
            "devices='cpu' has no such limit"
        )
    weights = device.empty(len(neighbors), np.float64)
    tails = xp.searchsorted(offsets, xp.arange(len(neighbors), dtype=np.int64), side="right") - 1
    upper = tails < neighbors
    weights[upper] = edge_weights
    lower = xp.flatnonzero(~upper)
    keys = neighbors[lower].astype(np.int64) << 32 | tails[lower]
    weights[lower[xp.argsort(keys)]] = edge_weights
    return weights


def memory(device: KernelDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: the view itself and edge weights; temporarily the tail of each entry, and sort keys."""
    return 17 * shape["num_entries"] + 40 * shape["num_edges"]
