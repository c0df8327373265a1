"""Exact counts of any size: binomials, leaves of a pivoting search, and numbers in 64-bit limbs.

A pivoting search for cliques ends in leaves. With h vertices held and p pivots passed, a leaf stands for C(p, k - h)
cliques of size k, for every k. Kernels only count how often each (h, p) occurs, which fits in 64 bits; Python's
integers do the rest. Counts per vertex or edge are rows of `limbs` unsigned 64-bit words, the lowest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np

from graphlode.types import AnyArray, Int64Array

_LIMB_BITS = 64


def _no_check() -> None:
    """The default `check`: never asks to stop."""


def total_of_leaves(leaves: AnyArray, k: int) -> int:
    """Number of k-cliques that a table of leaves [h][p] stands for."""
    held, passed = np.nonzero(leaves)
    times = leaves[held, passed]
    return sum(
        t * comb(p, k - h) for h, p, t in zip(held.tolist(), passed.tolist(), times.tolist(), strict=True) if h <= k
    )


def sizes_of_leaves(leaves: AnyArray, max_k: int | None = None, check: Callable[[], None] = _no_check) -> list[int]:
    """Number of cliques of every size 0 .. max_k (None: up to the largest that occurs) from a table of leaves [h][p].

    Large tables take seconds: `check` is called from time to time and may raise.
    """
    held, passed = np.nonzero(leaves)
    largest = int((held + passed).max(initial=0))
    counts = [0] * (1 + (largest if max_k is None else max_k))
    for h, p in zip(held.tolist(), passed.tolist(), strict=True):
        check()
        term = int(leaves[h, p])
        for q in range(min(p, len(counts) - 1 - h) + 1):
            counts[h + q] += term
            term = term * (p - q) // (q + 1)  # times C(p, q + 1) instead of C(p, q)
    return counts


def bound_of_rows(row_counts: Int64Array, k: int) -> int:
    """An upper bound of the number of k-cliques: each clique is a choice of k - 1 entries of its lowest row.

    `row_counts[d]` is the number of oriented rows with at least d entries.
    """
    return _bound(row_counts.tobytes(), k)


@lru_cache(maxsize=256)
def _bound(row_counts: bytes, k: int) -> int:
    """Cached: for long rows, the sum takes as long as a small search."""
    counts = np.frombuffer(row_counts, np.int64)
    exactly = (counts[:-1] - counts[1:]).tolist()
    return sum(rows * comb(d, k - 1) for d, rows in enumerate(exactly) if rows)


def limbs_for(bound: int) -> int:
    """The number of 64-bit words that hold every number up to `bound`."""
    return max(1, -(-bound.bit_length() // _LIMB_BITS))


def binomials(n_max: int, r_max: int, limbs: int, check: Callable[[], None] = _no_check) -> AnyArray:
    """C(n, r) modulo 2^(64 limbs) for n <= n_max, r <= r_max, as unsigned 64-bit words [n][r][limb].

    Large tables take seconds: `check` is called from time to time and may raise.
    """
    table = np.zeros((n_max + 1, r_max + 1, limbs), np.uint64)
    row = [1] + [0] * r_max
    size = 8 * limbs
    wrap = (1 << (_LIMB_BITS * limbs)) - 1
    for n in range(n_max + 1):
        check()
        words = b"".join((value & wrap).to_bytes(size, "little") for value in row)
        table[n] = np.frombuffer(words, "<u8").reshape(r_max + 1, limbs)
        row = [1] + [row[r] + row[r - 1] for r in range(1, r_max + 1)]
    return table


def add_limbs(left: AnyArray, right: AnyArray) -> AnyArray:
    """The sum of two arrays of limbs, row by row, modulo 2^(64 limbs)."""
    total = np.empty_like(left)
    carry = np.zeros(left.shape[0], np.uint64)
    for limb in range(left.shape[1]):
        sums = left[:, limb] + right[:, limb]
        with_carry = sums + carry
        carry = ((sums < left[:, limb]) | (with_carry < sums)).astype(np.uint64)
        total[:, limb] = with_carry
    return total


def from_limbs(words: AnyArray) -> AnyArray:
    """Rows of limbs as int64 if all values fit, else as Python integers (dtype object)."""
    if not words[:, 1:].any() and not (words[:, 0] >> np.uint64(_LIMB_BITS - 1)).any():
        return np.ascontiguousarray(words[:, 0]).view(np.int64)
    values = np.empty(words.shape[0], object)
    values[:] = _joined(words)
    return values


def _joined(words: AnyArray) -> list[int]:
    columns: Sequence[list[Any]] = [words[:, limb].tolist() for limb in range(words.shape[1])]
    return [sum(value << (_LIMB_BITS * i) for i, value in enumerate(row)) for row in zip(*columns, strict=True)]
