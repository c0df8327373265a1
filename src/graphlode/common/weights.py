"""Edge weights: which integers they can hold, and which weights can be lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.errors import InputError
from graphlode.types import AnyArray

_EXACT = 2**53  # a 64-bit float holds every integer up to here


def require_exact(array: AnyArray, given: Any = None) -> None:
    """Raise InputError unless 64-bit floats hold every integer weight. `given` is what the array was read from."""
    wrong: AnyArray = np.empty(0, np.int64)
    if array.dtype.kind in "iu" and array.itemsize == 8:
        sizes = np.abs(array).astype(np.uint64)  # correct for -2^63, too
        large = np.flatnonzero(sizes > _EXACT)
        # A float holds an integer if, without trailing zero bits, it has no more bits than the mantissa.
        lowest_bits = sizes[large] & (~sizes[large] + np.uint64(1))
        wrong = large[sizes[large] // lowest_bits > _EXACT]
        given = array
    elif array.dtype.kind == "f" and isinstance(given, list | tuple):  # numpy rounds integers in a list with floats
        large = np.flatnonzero(np.abs(array) >= _EXACT)
        wrong = large[[isinstance(given[at], int | np.integer) and int(given[at]) != int(array[at]) for at in large]]
    if wrong.size:
        at = int(wrong[0])
        raise InputError(
            f"weights are 64-bit floats, which do not hold {int(given[at])} (edge {at}) exactly; "
            "round such weights first, or divide them"
        )


def require_lengths(least: float) -> None:
    """Raise InputError unless the smallest weight can be a length; it is NaN if any weight is."""
    if not least >= 0:
        raise InputError(f"lengths of edges must not be negative or NaN, got {least}")


def bucket_width(mean_length: float, mean_degree: float) -> float:
    """The width of the range of distances that a search on a few cores processes at once.

    Narrow ranges repeat little work, wide ones give more parallel work. In a range as wide as the mean length, a vertex
    would reach nearly all its neighbors, so more neighbors need a narrower range. With many neighbors it is narrower
    still, because most of them are first reached over other vertices. Edges of length 0 need only one range.
    """
    degree = max(mean_degree, 1.0)
    return 2 * mean_length / degree * min(1.0, 8 / degree) or 1.0
