"""The share table: 1,024 buckets, each owned by one device.

A key (a vertex, a piece of work) always falls into the same bucket. A bucket changes its owner only when the shares change,
so data stays on the device that has it. Store shards and mining tasks use the same table. Weights are rates: next to a
device of weight 1, a device of weight 7 owns 896 of the 1,024 buckets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy

import numpy as np

from graphlode.common.buckets import NUM_BUCKETS, bucket_of
from graphlode.errors import InputError
from graphlode.types import AnyArray, Int64Array

__all__ = ["HYSTERESIS", "NUM_BUCKETS", "ShareTable", "apportion", "bucket_of", "weights_from"]

# If less than this fraction of the buckets would change owner, moving the data is not worth it.
HYSTERESIS = 1 / 32

_WRONG_WEIGHTS = "shares must be finite, not negative and not all zero"


def _are_weights(weights: Sequence[float]) -> bool:
    return all(np.isfinite(w) and w >= 0 for w in weights) and sum(weights) > 0


def apportion(weights: Sequence[float], buckets: int = NUM_BUCKETS) -> list[int]:
    """Whole numbers of buckets in proportion to the weights (largest remainders); at least one per positive weight."""
    if not _are_weights(weights):
        raise InputError(f"{_WRONG_WEIGHTS}, got {list(weights)}")
    parts = [w / max(weights) for w in weights]  # scaled so that their sum is finite
    exact = [buckets * part / sum(parts) for part in parts]
    counts = [int(e) for e in exact]
    order = sorted(range(len(weights)), key=lambda i: (counts[i] - exact[i], i))
    for i in order[: buckets - sum(counts)]:
        counts[i] += 1
    for i, weight in enumerate(weights):
        if weight > 0 and counts[i] == 0:
            counts[counts.index(max(counts))] -= 1
            counts[i] = 1
    return counts


class ShareTable:
    """The owner of each bucket: `owners[bucket]` is the position of a device in the list that the table was made for."""

    def __init__(self, weights: Sequence[float]) -> None:
        self._weights = tuple(float(w) for w in weights)
        self.owners = np.repeat(np.arange(len(weights)), apportion(weights))

    @property
    def weights(self) -> tuple[float, ...]:
        return self._weights

    def counts(self) -> list[int]:
        counts: list[int] = np.bincount(self.owners, minlength=len(self._weights)).tolist()
        return counts

    def copy(self) -> ShareTable:
        return self.moved([])

    def moved(self, moves: Sequence[tuple[int, int, int]]) -> ShareTable:
        """A copy of this table in which these buckets (bucket, from, to) have changed owner."""
        other = copy(self)
        other.owners = self.owners.copy()
        for bucket, _, receiver in moves:
            other.owners[bucket] = receiver
        return other

    def owner(self, keys: AnyArray) -> Int64Array:
        """The owner of each key."""
        return self.owners[bucket_of(keys)]

    def buckets(self, device: int) -> Int64Array:
        return np.flatnonzero(self.owners == device)

    def change(self, weights: Sequence[float], *, hysteresis: float = HYSTERESIS) -> list[tuple[int, int, int]]:
        """Move the smallest number of buckets that gives the new shares; returns (bucket, from, to).

        Small changes move nothing, except when a device must lose all its buckets.
        """
        if len(weights) != len(self._weights):
            raise InputError(f"the table is for {len(self._weights)} devices, got {len(weights)} weights")
        wanted = apportion(weights)
        counts = self.counts()
        leaving = any(have and not want for have, want in zip(counts, wanted, strict=True))
        moved = sum(max(0, have - want) for have, want in zip(counts, wanted, strict=True))
        if moved < hysteresis * NUM_BUCKETS and not leaving:
            return []
        moves = []
        receivers = [d for d, (have, want) in enumerate(zip(counts, wanted, strict=True)) for _ in range(want - have)]
        for giver, (have, want) in enumerate(zip(counts, wanted, strict=True)):
            for bucket in self.buckets(giver)[want:].tolist() if have > want else []:
                receiver = receivers.pop()
                self.owners[bucket] = receiver
                moves.append((bucket, giver, receiver))
        self._weights = tuple(float(w) for w in weights)
        return moves


def weights_from(
    shares: Mapping[str, float], names: Sequence[str], canonical: Callable[[str], str] = str
) -> list[float]:
    """Fixed shares by device name, in the order of the devices. A device listed twice has its share split evenly."""
    if not isinstance(shares, Mapping):
        raise InputError(f'shares must be "auto" or a weight for each device by name, got {shares!r}')
    shares = {canonical(name): weight for name, weight in shares.items()}
    names = [canonical(name) for name in names]
    unknown = sorted(set(shares) - set(names))
    missing = sorted(set(names) - set(shares))
    if unknown or missing:
        raise InputError(f"shares must name the devices {sorted(set(names))}, got {sorted(shares)}")
    try:
        weights = [float(shares[name]) / list(names).count(name) for name in names]
    except (TypeError, ValueError):
        weights = []
    if not _are_weights(weights):
        raise InputError(f"{_WRONG_WEIGHTS}, got {dict(shares)}")
    return weights
