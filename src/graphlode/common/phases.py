"""Whose turn it is: half of the vertices in the first phase of an iteration, the others in the second.

A hash of seed, iteration and vertex decides (the outputs of SplitMix64), the same on every device. Kernels have it in
their own languages; tests compare them.
"""

from __future__ import annotations

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def iteration_key(seed: int, iteration: int) -> int:
    """What an iteration, counted from 1, adds to the hash."""
    return _mix(seed + iteration * _GOLDEN)


def phase_of(vertex: int, key: int) -> int:
    """0 or 1."""
    return _mix(key + (vertex + 1) * _GOLDEN) >> 63


def _mix(x: int) -> int:
    x &= _MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _MASK
    return x ^ x >> 31
