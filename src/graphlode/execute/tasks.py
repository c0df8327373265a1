"""Hands out tasks: pieces of a range of units, in the proportions of the share table; idle devices steal.

The range is cut into one piece per bucket. A device takes its own buckets in runs that get shorter towards the end. With
`steal` the shares are only a first guess. Each device first takes a few buckets, or many if all devices are alike. Then
it takes runs in proportion to its measured rate. A device without buckets takes some from the device with the most left.
Every unit is handed out exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from time import perf_counter

import numpy as np

from graphlode.common.control import Control
from graphlode.execute.shares import NUM_BUCKETS, ShareTable
from graphlode.types import Int64Array, Task

_RUN_DIVISOR = 2  # a run takes 1 / 2 of the own buckets, or of a proportional share of all remaining buckets
_MIN_RUN_SECONDS = 0.003  # seconds: starting a run takes a third of that on a GPU
_PROBE_SLOTS = 16  # buckets of a device's first run, when its rate is unknown: a slow device must not delay the others


def cut_evenly(num_units: int) -> Int64Array:
    """Cuts a range of units into one piece per bucket; returns the boundaries."""
    return np.arange(NUM_BUCKETS + 1, dtype=np.int64) * num_units // NUM_BUCKETS


def cut_by_work(cumulative: Int64Array) -> Int64Array:
    """Cuts into pieces of equal work; `cumulative[i]` is the work of the units before i. Returns the boundaries."""
    goals = np.arange(NUM_BUCKETS + 1, dtype=np.float64) * (float(cumulative[-1]) / NUM_BUCKETS)
    cuts = np.searchsorted(cumulative, goals).astype(np.int64)
    cuts[0], cuts[-1] = 0, cumulative.size - 1
    return np.maximum.accumulate(cuts)


class TaskQueue:
    def __init__(
        self,
        cuts: Int64Array,
        table: ShareTable,
        control: Control,
        *,
        steal: bool,
        alike: bool = False,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """`alike`: the shares are the best known estimate of the devices' rates, so the first run need not be short."""
        self._cuts = cuts
        self._remaining: list[list[int]] = [table.buckets(device).tolist() for device in range(len(table.weights))]
        self._control = control
        self._steal = steal
        self._probe = NUM_BUCKETS if alike else _PROBE_SLOTS
        self._clock = clock
        self._lock = Lock()
        self.units_done = [0] * len(self._remaining)
        self.buckets_done = [0] * len(self._remaining)
        self._busy_seconds = [0.0] * len(self._remaining)

    def tasks(self, device: int) -> Iterator[Task]:
        """The tasks of one device; ends when no buckets are left."""
        while True:
            self._control.check()
            with self._lock:
                buckets = self._take(device)
            if not buckets:
                return
            started = self._clock()
            for task in self._ranges(buckets):
                yield task
                self.units_done[device] += task.end - task.begin
            self._busy_seconds[device] += self._clock() - started
            self.buckets_done[device] += len(buckets)

    def _take(self, device: int) -> list[int]:
        count = self._run_length(device)
        mine = self._remaining[device]
        if not mine and self._steal:
            mine = max(self._remaining, key=len)
            taken = mine[-count:]  # from the end: the owner takes from the front
            del mine[-count:]
        else:
            taken = mine[:count]
            del mine[:count]
        return taken

    def _run_length(self, device: int) -> int:
        """The number of buckets that the device should take now."""
        own = -(-len(self._remaining[device]) // _RUN_DIVISOR)
        if not self._steal:
            return own
        if not self.buckets_done[device]:
            return max(1, min(own, self._probe))
        rates = [done / busy for done, busy in zip(self.buckets_done, self._busy_seconds, strict=True) if done]
        total_rate = sum(rates) * len(self._remaining) / len(rates)  # devices without a finished run count as average
        own_rate = self.buckets_done[device] / self._busy_seconds[device]
        return max(
            1,
            int(sum(map(len, self._remaining)) * own_rate / total_rate / _RUN_DIVISOR),
            round(own_rate * _MIN_RUN_SECONDS),
        )

    def _ranges(self, buckets: list[int]) -> Iterator[Task]:
        """Merges consecutive buckets into one range; empty pieces are left out."""
        first = previous = buckets[0]
        for bucket in [*buckets[1:], None]:
            if bucket is not None and bucket == previous + 1:
                previous = bucket
                continue
            begin, end = int(self._cuts[first]), int(self._cuts[previous + 1])
            if begin < end:
                yield Task(begin, end)
            if bucket is not None:
                first = previous = bucket


def whole(num_units: int, control: Control) -> Iterator[Task]:
    """The whole range as one task, for a device that works alone."""
    control.check()
    yield Task(0, num_units)
