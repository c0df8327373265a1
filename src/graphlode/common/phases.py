"""The two phases of an iteration: each vertex takes part in one of them.

A hash of seed, iteration and vertex (the outputs of SplitMix64) decides, equally on every device. Each backend has this
hash in its own language; tests compare them.
"""

from __future__ import annotations

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def iteration_key(seed: int, iteration: int) -> int:
    """The key of an iteration, counted from 1, for `phase_of`."""
    return _mix(seed + iteration * _GOLDEN)


def phase_of(vertex: int, key: int) -> int:
    """The phase of a vertex: 0 or 1."""
    return _mix(key + (vertex + 1) * _GOLDEN) >> 63


def _mix(x: int) -> int:
    x &= _MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    return x ^ x >> 31
