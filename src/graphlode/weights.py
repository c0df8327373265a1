"""Edge weights as lengths: what they must be, and how far a search goes at once."""

from __future__ import annotations

from graphlode.errors import InputError


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
