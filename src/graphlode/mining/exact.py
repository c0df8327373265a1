"""Exact arithmetic on arrays of counts: 64-bit integers where values fit, Python integers where they may not.

Only products and row sums are checked, by comparing with floating point. Sums and differences of arrays need no check:
64-bit integers wrap around consistently, and the terms were checked when they were computed.
"""

from __future__ import annotations

import numpy as np

from graphlode.types import AnyArray, Int64Array

LIMIT = 2**62  # half of the int64 range, which leaves a margin for corrections


def product(first: AnyArray, *others: AnyArray) -> AnyArray:
    """The elementwise product."""
    total = first
    for factor in others:
        if total.dtype == object or factor.dtype == object or _product_is_large(total, factor):
            total = total.astype(object) * factor
        else:
            total = total * factor
    return total


def choose(x: AnyArray, k: int) -> AnyArray:
    """Binomial coefficient x (x - 1) .. (x - k + 1) / k!, also for x < 0."""
    factorial = int(np.prod(np.arange(1, k + 1)))
    return product(*(x - i for i in range(k))) // factorial


def row_sums(values: AnyArray, offsets: Int64Array) -> AnyArray:
    """The sum of the values of each row."""
    if values.dtype == np.float64:
        return _row_sums(values, offsets, np.float64)
    if values.dtype != object:
        longest = int(np.diff(offsets).max(initial=0))
        if longest * _largest(values) < LIMIT or _row_sums(np.abs(values), offsets, np.float64).max() < LIMIT:
            return _row_sums(values, offsets, np.int64)
    return _row_sums(values, offsets, object)


def _row_sums(values: AnyArray, offsets: Int64Array, dtype: type) -> AnyArray:
    cumulative: AnyArray = np.zeros(values.size + 1, dtype)
    np.cumsum(values.astype(dtype, copy=False), out=cumulative[1:])
    sums: AnyArray = cumulative[offsets[1:]] - cumulative[offsets[:-1]]
    return sums


def _product_is_large(a: AnyArray, b: AnyArray) -> bool:
    if _largest(a) * _largest(b) < LIMIT:
        return False
    return bool(np.abs(a.astype(np.float64) * b).max(initial=0) >= LIMIT)


def _largest(values: AnyArray) -> int:
    return max(int(values.max(initial=0)), -int(values.min(initial=0)))
