"""Rows by falling length on a CUDA device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cuda.interface import KernelDevice


def build(device: KernelDevice, base: Mapping[str, Any], view: Any, *, control: Control) -> dict[str, Any]:
    xp = device.xp
    lengths = xp.diff(base["offsets"])
    counts = device.get(xp.bincount(lengths, minlength=1)) if len(lengths) else np.zeros(1, np.int64)
    row_counts = np.append(counts[::-1].cumsum()[::-1], 0).astype(np.int64)
    longest = row_counts.size - 2
    # One sort of combined keys: CuPy sorts plain integers by radix.
    bits = max(1, (len(lengths) - 1).bit_length()) if len(lengths) else 1
    keys = (longest - lengths) << bits
    keys |= xp.arange(len(lengths), dtype=np.int64)
    keys.sort()
    num_roots = int(row_counts[2:3].sum())  # number of rows with at least two entries; 0 if row_counts is shorter
    roots = (keys[:num_roots] & ((1 << bits) - 1)).astype(base["neighbors"].dtype)
    device.synchronize()
    return {**base, "roots": roots, "row_counts": row_counts}


def memory(device: KernelDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: the view itself; temporarily a length and two sort keys per row."""
    return (shape["vertex_bytes"] + 32) * shape["num_vertices"]
