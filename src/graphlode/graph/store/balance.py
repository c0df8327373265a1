"""The share of the rows of each shard, if the store chooses it.

A device that is much faster than all others, as a GPU is beside CPU cores, gets all rows: measured, no split with
slower devices was faster. Otherwise all shards get rows, and shares follow the rates that batches show. A device whose
memory was full gets no more rows until the graph is smaller.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from graphlode.common.buckets import NUM_BUCKETS
from graphlode.execute.shares import apportion

EVERY = 32
"""Batches between two looks at the shares."""

HYSTERESIS = 1 / 16
"""Rates that would move a smaller part of the buckets change nothing: moving rows costs time, and rates vary."""

_LEADS = 2.0  # times the nominal speed of the next device
_REMEMBERED = 0.8  # of a rate, when a new batch is seen
_LEAST_SECONDS = 1e-9
_PART_OF_FULL = 4  # a full device gives away one bucket in four


def first_weights(speeds: Sequence[float]) -> list[float]:
    """The shares of devices of these nominal speeds, before any batch."""
    *others, best = sorted(range(len(speeds)), key=lambda number: speeds[number])
    if all(speeds[best] >= _LEADS * speeds[other] for other in others):
        return [float(number == best) for number in range(len(speeds))]
    return list(speeds)


class Balance:
    """The rates that the shards of a store have shown, and the limits of full devices."""

    def __init__(self, speeds: Sequence[float]) -> None:
        self._speeds = list(speeds)
        self._rates: dict[int, float] = {}  # updates per second, by shard
        self._seen = 0  # batches since the last look
        # Of shards whose device was full: buckets, and the most entries in the whole store with which it held them.
        self._limits: dict[int, tuple[int, int]] = {}

    def observe(self, updates: Sequence[int], seconds: Sequence[float]) -> None:
        """One batch: the number of updates of each shard, and the time they took there."""
        self._seen += 1
        for number, (count, spent) in enumerate(zip(updates, seconds, strict=True)):
            if count:
                rate = count / max(spent, _LEAST_SECONDS)
                known = self._rates.get(number, rate)
                self._rates[number] = _REMEMBERED * known + (1 - _REMEMBERED) * rate

    @property
    def is_time(self) -> bool:
        """Whether enough batches have passed since the last look."""
        return self._seen >= EVERY

    def wanted(self, buckets: Sequence[int], entries: int) -> list[float] | None:
        """The shares that a leader can hold; else those by the rates seen, or None if a shard that has buckets has shown
        none yet.

        `buckets` are those of each shard, `entries` are in the whole store.
        """
        self._seen = 0
        first = first_weights(self._speeds)
        if 0.0 in first:  # one device leads: it has what it can hold
            return self.within_limits(first, entries)
        if not self._rates or any(count and number not in self._rates for number, count in enumerate(buckets)):
            return None
        weights = [self._rates.get(number, 0.0) if count else 0.0 for number, count in enumerate(buckets)]
        return self.within_limits(weights, entries)

    def limit(self, number: int, buckets: int, entries: int) -> None:
        """The device of a shard was full: it can hold this many buckets while the store has this many entries."""
        self._limits[number] = buckets, entries

    @property
    def limited(self) -> frozenset[int]:
        """Shards whose device was full."""
        return frozenset(self._limits)

    def within_limits(self, weights: Sequence[float], entries: int) -> list[float]:
        """These shares, but no more for a full device than it can hold; the others get the rest by their speeds."""
        self._limits = {number: (buckets, max(of, entries)) for number, (buckets, of) in self._limits.items()}
        parts = [weight / sum(weights) for weight in weights]
        most = {
            number: buckets / NUM_BUCKETS * max(1.0, of / max(1, entries))
            for number, (buckets, of) in self._limits.items()
        }
        over = {number: parts[number] - most[number] for number in most if parts[number] > most[number]}
        others = [number for number in range(len(parts)) if number not in over]
        for number, excess in over.items():
            parts[number] -= excess
        speeds = sum(self._speeds[number] for number in others)
        for number in others:
            parts[number] += sum(over.values()) * self._speeds[number] / speeds
        return parts


def relieved(counts: Sequence[int], full: Collection[int], receivers: Mapping[int, float]) -> list[int] | None:
    """The number of buckets of each shard when full ones have given a part away; None if none can go.

    `counts` are the buckets that each shard has; `receivers` are the speeds of those that may get some.
    """
    giving = {number: -(-counts[number] // _PART_OF_FULL) for number in full if counts[number]}
    if not giving or not receivers:
        return None
    wanted = list(counts)
    for number, buckets in giving.items():
        wanted[number] -= buckets
    speeds = [max(speed, 1e-9) for speed in receivers.values()]
    for number, buckets in zip(receivers, _apportion_few(speeds, sum(giving.values())), strict=True):
        wanted[number] += buckets
    return wanted


def _apportion_few(weights: Sequence[float], buckets: int) -> list[int]:
    """As `apportion`; of fewer buckets than weights the largest get one each."""
    if buckets >= len(weights):
        return apportion(weights, buckets)
    largest = sorted(range(len(weights)), key=lambda number: -weights[number])[:buckets]
    return [int(number in largest) for number in range(len(weights))]
