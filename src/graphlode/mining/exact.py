"""Arithmetic on arrays of counts that never wraps around: 64-bit where values fit, Python integers where they may not.

Sums and differences need no care, since 64-bit integers wrap around consistently and what comes out in the end was
checked when it was multiplied or summed up; only those two are checked here, against floating point.
"""

from __future__ import annotations

import numpy as np

from graphlode.types import AnyArray, Int64Array

LIMIT = 2**62  # half of what fits: room for a correction
_LIMB = 31  # bits


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
    """x (x - 1) .. (x - k + 1) / k!, also for x < 0."""
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
    ahead: AnyArray = np.zeros(values.size + 1, dtype)
    np.cumsum(values.astype(dtype, copy=False), out=ahead[1:])
    sums: AnyArray = ahead[offsets[1:]] - ahead[offsets[:-1]]
    return sums


def _product_is_large(a: AnyArray, b: AnyArray) -> bool:
    if _largest(a) * _largest(b) < LIMIT:
        return False
    return bool(np.abs(a.astype(np.float64) * b).max(initial=0) >= LIMIT)


def _largest(values: AnyArray) -> int:
    return max(int(values.max(initial=0)), -int(values.min(initial=0)))


def narrowed(values: AnyArray) -> AnyArray:
    """Python integers as 64-bit ones if all of them fit."""
    if values.dtype == object and _largest(values) < 2**63:
        return values.astype(np.int64)
    return values


def convert(matrix: Int64Array, columns: list[AnyArray], wanted: list[int]) -> list[AnyArray]:
    """Rows `wanted` of `matrix @ columns`, for a matrix of small numbers; what fits 64 bits before must fit afterwards."""
    if any(column.dtype == object for column in columns):
        return _convert_wide(matrix, columns, wanted)
    terms = [[(j, int(matrix[i, j])) for j in np.flatnonzero(matrix[i])] for i in wanted]
    results: list[AnyArray] = []
    for row in terms:
        result = np.zeros(columns[0].size, np.int64)
        for j, factor in row:
            result += columns[j] if factor == 1 else factor * columns[j]
        results.append(result)
    return results


def _convert_wide(matrix: Int64Array, columns: list[AnyArray], wanted: list[int]) -> list[AnyArray]:
    """By limbs of few bits, whose multiples and sums stay within 64 bits."""
    results: list[AnyArray] = [np.zeros(columns[0].size, object) for _ in wanted]
    left, shift = columns, 0
    while any(column.any() for column in left):
        limbs = [(column & (2**_LIMB - 1)).astype(np.int64) for column in left]
        for result, part in zip(results, convert(matrix, limbs, wanted), strict=True):
            used = np.flatnonzero(part)
            result[used] += part[used].astype(object) << shift
        left, shift = [narrowed(column >> _LIMB) for column in left], shift + _LIMB
    return [narrowed(result) for result in results]
