"""Edge lists as text: one edge per line, parsed by all threads in parallel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphlode.common.control import Control
from graphlode.config import settings
from graphlode.cpu import _native
from graphlode.types import FloatArray, Int64Array

CHUNK_BYTES = 1 << 20
UNLIMITED = 2**63 - 1

Kind = Literal["weights", "times"]


@dataclass(frozen=True)
class Layout:
    """The form of the lines of a text.

    `separator` is " " for any run of blanks, or one character. Lines that start with one of `comments` are skipped.
    With `tag`, every line of an edge starts with this field. With `header`, the first line may name the columns.
    `columns` is the required number of columns (2, or 3 for three and more); None: as many as in the first line. If
    `num_vertices` is given, ids are 1 .. num_vertices and become 0-based; otherwise they are any 64-bit integers.
    """

    separator: str = " "
    comments: str = "#%"
    tag: str = ""
    header: bool = False
    columns: int | None = None
    num_vertices: int | None = None
    lower_triangle: bool = False


def parse(
    text: NDArray[np.uint8],
    layout: Layout,
    values: Kind | None,
    *,
    first_line: int = 1,
    chunk_bytes: int | None = None,
    max_bytes: int = UNLIMITED,
    threads: int | None = None,
    control: Control | None = None,
) -> tuple[Int64Array, Int64Array, FloatArray | Int64Array | None]:
    """The two ids of every edge and the third column, in the order of the text.

    A malformed line raises InputError "line N: ..."; the number of the first line is `first_line`. If
    the edges take more than `max_bytes`, it raises DeviceMemoryError.
    """
    count, src, dst, third = _native.parse_edges(
        text,
        separator=layout.separator,
        comments=layout.comments,
        tag=layout.tag,
        header=layout.header,
        columns=layout.columns or 0,
        values=values or "none",
        num_vertices=-1 if layout.num_vertices is None else layout.num_vertices,
        lower_triangle=layout.lower_triangle,
        first_line=first_line,
        chunk_bytes=chunk_bytes or CHUNK_BYTES,
        max_bytes=max_bytes,
        threads=threads or settings().threads,
        control=(control or Control()).words,
    )
    return src[:count], dst[:count], None if third is None else third[:count]


def format_edges(
    src: Int64Array,
    dst: Int64Array,
    values: FloatArray | Int64Array | None,
    *,
    prefix: str = "",
    separator: str = " ",
    base: int = 0,
) -> bytes:
    """Lines `prefix u separator v [separator value]`, with `base` added to the ids."""
    weights, times = split_values(values)
    text: bytes = _native.format_edges(src, dst, weights, times, prefix=prefix, separator=separator, base=base)
    return text


def split_values(values: FloatArray | Int64Array | None) -> tuple[FloatArray, Int64Array]:
    """A pair of arrays, weights and times; at most one of them is not empty."""
    weights = np.empty(0, np.float64)
    times = np.empty(0, np.int64)
    if values is None:
        return weights, times
    if values.dtype == np.int64:
        return weights, np.ascontiguousarray(values, np.int64)
    return np.ascontiguousarray(values, np.float64), times
