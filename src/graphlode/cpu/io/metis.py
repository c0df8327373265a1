"""Adjacency lines of METIS files."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphlode.common.control import Control
from graphlode.config import settings
from graphlode.cpu import _native
from graphlode.cpu.io.text import CHUNK_BYTES, UNLIMITED, Kind, split_values
from graphlode.types import FloatArray, Int64Array


class Adjacency(NamedTuple):
    offsets: Int64Array
    neighbors: Int64Array  # 0-based, in the order of the file
    values: FloatArray | Int64Array | None  # of each entry
    symmetric: bool  # both ends list every edge with the same value; False is certain, True is very likely


def parse_adjacency(
    text: NDArray[np.uint8],
    num_vertices: int,
    values: Kind | None,
    *,
    skipped: int = 0,
    weighted: bool = False,
    first_line: int = 1,
    chunk_bytes: int | None = None,
    max_bytes: int = UNLIMITED,
    threads: int | None = None,
    control: Control | None = None,
) -> Adjacency:
    """The rows of a METIS file.

    Every line has `skipped` numbers about the vertex, then its neighbors, each followed by a value if `weighted`.
    Raises DeviceMemoryError if the rows take more than `max_bytes`.
    """
    found = _native.parse_adjacency(
        text,
        num_vertices=num_vertices,
        skipped=skipped,
        weighted=weighted,
        values=values or "none",
        first_line=first_line,
        chunk_bytes=chunk_bytes or CHUNK_BYTES,
        max_bytes=max_bytes,
        threads=threads or settings().threads,
        control=(control or Control()).words,
    )
    return Adjacency(*found)


def format_adjacency(offsets: Int64Array, neighbors: Int64Array, values: FloatArray | Int64Array | None) -> bytes:
    """One line per row, neighbors counted from 1. `offsets` may be any consecutive part of a graph's offsets."""
    text: bytes = _native.format_adjacency(offsets, neighbors, *split_values(values))
    return text
