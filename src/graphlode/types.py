"""Array types, dtypes and small values shared by all parts of graphlode.

`offsets` are always 64-bit. `neighbors` and other vertex indices are 32-bit in graphs of up to 2^31 vertices and 64-bit
in larger ones. Original ids are 64-bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Int64Array = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
VertexArray = NDArray[np.int32] | NDArray[np.int64]
AnyArray = NDArray[Any]

OFFSET = np.dtype(np.int64)
ID = np.dtype(np.int64)
NARROW_VERTEX = np.dtype(np.int32)
WIDE_VERTEX = np.dtype(np.int64)

MAX_NARROW_VERTICES = 2**31


def vertex_dtype(num_vertices: int) -> np.dtype[Any]:
    """The dtype of a vertex index in a graph of `num_vertices` vertices."""
    return NARROW_VERTEX if num_vertices <= MAX_NARROW_VERTICES else WIDE_VERTEX


@dataclass(frozen=True)
class Task:
    """A range of units (vertices or edges of a view) that one device works on."""

    begin: int
    end: int


@dataclass(frozen=True)
class Memory:
    """Bytes of a device's memory."""

    total: int
    free: int


@dataclass(frozen=True)
class Pass:
    """One pass of a kernel that was timed separately, and the sums it contributes to."""

    name: str
    seconds: float
    sums: tuple[str, ...] = ()
