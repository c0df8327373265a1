"""Edge weights: which integers can be one; as lengths, what they must be and how far a search goes at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.errors import InputError
from graphlode.types import AnyArray

_EXACT = 2**53  # up to here a 64-bit float holds every integer


def require_exact(array: AnyArray, given: Any = None) -> None:
    """Raise InputError unless 64-bit floats hold every integer of the weights; `given`: what the array was read from."""
    wrong: AnyArray = np.empty(0, np.int64)
    if array.dtype.kind in "iu" and array.itemsize == 8:
        sizes = np.abs(array).astype(np.uint64)  # that of -2^63, too
        large = np.flatnonzero(sizes > _EXACT)
        # Without its trailing zeros an integer must have no more bits than a float keeps.
        lowest_bits = sizes[large] & (~sizes[large] + np.uint64(1))
        wrong = large[sizes[large] // lowest_bits > _EXACT]
        given = array
    elif array.dtype.kind == "f" and isinstance(given, list | tuple):  # numpy has rounded integers beside floats
        large = np.flatnonzero(np.abs(array) >= _EXACT)
        wrong = large[[isinstance(given[at], int | np.integer) and int(given[at]) != int(array[at]) for at in large]]
    if wrong.size:
        at = int(wrong[0])
        raise InputError(
            f"weights are 64-bit floats, which do not hold {int(given[at])} (edge {at}) exactly; "
            "round such weights first, or divide them"
        )


def require_lengths(least: float) -> None:
    """Raise InputError unless the least of all weights, which is NaN if one of them is, can be a length."""
    if not least >= 0:
        raise InputError(f"lengths of edges must not be negative or NaN, got {least}")


def bucket_width(mean_length: float, mean_degree: float) -> float:
    """The range of distances whose vertices a search on a few cores takes at once.

    Narrow ranges walk few rows in vain, wide ones have more to do at once. In a range that is a mean edge wide, a vertex
    would reach about all of its neighbors: so the more there are, the narrower; and narrower again where they are many,
    because most of those are reached over others first. Edges of no length have one range.
    """
    degree = max(mean_degree, 1.0)
    return 2 * mean_length / degree * min(1.0, 8 / degree) or 1.0
