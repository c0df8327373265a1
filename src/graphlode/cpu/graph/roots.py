"""Rows by falling length on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.cpu.device import CpuDevice
from graphlode.types import AnyArray

_RADIX_LIMIT = 2**16  # numpy sorts 16-bit keys by radix, ten times as fast as longer keys by merging


def build(device: CpuDevice, base: Mapping[str, AnyArray], view: Any, *, control: Control) -> dict[str, AnyArray]:
    lengths = np.diff(base["offsets"])
    counts = np.bincount(lengths, minlength=1)
    row_counts = np.append(counts[::-1].cumsum()[::-1], 0)
    rows = np.flatnonzero(lengths >= 2)
    longest = row_counts.size - 2
    shortfall = (longest - lengths[rows]).astype(np.uint16 if longest < _RADIX_LIMIT else np.int64)
    roots = rows[np.argsort(shortfall, kind="stable")].astype(base["neighbors"].dtype)
    arrays = {**base, "roots": roots, "row_counts": row_counts}
    for array in arrays.values():
        array.flags.writeable = False  # all users of the snapshot share them
    return arrays


def memory(device: CpuDevice, shape: Mapping[str, int]) -> int:
    """Bytes to build the view: the view itself, and temporarily a length, a row, a key and a position per row."""
    return (shape["vertex_bytes"] + 34) * shape["num_vertices"]
