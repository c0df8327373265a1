"""Handing out tasks: pieces of a range of units, in the share table's proportions, stolen when a device is idle.

The range is cut into one piece per slot. A device takes its own slots in runs that get shorter towards the end. With
`steal` the shares are only where it begins: each device first takes a few slots, or many if all are alike, then runs in
proportion to how fast it proves to be, and one that has none left takes from the one that has most. Every unit is
handed out exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from time import perf_counter

import numpy as np

from graphlode.common.control import Control
from graphlode.execute.shares import NUM_SLOTS, ShareTable
from graphlode.types import Int64Array, Task

_RUNS = 2  # a device takes this part of what it has left, or could do of what all have left, at a time
_SHORTEST_RUN = 0.003  # seconds: beginning a run takes a third of that on a GPU
_PROBE = 16  # slots that a device takes before its rate is known: a slow one must not keep the others waiting


def cut_evenly(num_units: int) -> Int64Array:
    """Where to cut a range of units into one piece per slot."""
    return np.arange(NUM_SLOTS + 1, dtype=np.int64) * num_units // NUM_SLOTS


def cut_by_work(cumulative: Int64Array) -> Int64Array:
    """Where to cut so that pieces hold even work; `cumulative[i]` is the work of the units before i."""
    goals = np.arange(NUM_SLOTS + 1, dtype=np.float64) * (float(cumulative[-1]) / NUM_SLOTS)
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
        """`alike`: the shares are what the devices are worth, as far as anybody knows; none has to be tried first."""
        self._cuts = cuts
        self._left: list[list[int]] = [table.slots(device).tolist() for device in range(len(table.weights))]
        self._control = control
        self._steal = steal
        self._probe = NUM_SLOTS if alike else _PROBE
        self._clock = clock
        self._lock = Lock()
        self.units_done = [0] * len(self._left)
        self.slots_done = [0] * len(self._left)
        self._busy = [0.0] * len(self._left)

    def tasks(self, device: int) -> Iterator[Task]:
        """The tasks of one device; ends when there is nothing left to take."""
        while True:
            self._control.check()
            with self._lock:
                slots = self._take(device)
            if not slots:
                return
            started = self._clock()
            for task in self._ranges(slots):
                yield task
                self.units_done[device] += task.end - task.begin
            self._busy[device] += self._clock() - started
            self.slots_done[device] += len(slots)

    def _take(self, device: int) -> list[int]:
        count = self._run_length(device)
        mine = self._left[device]
        if not mine and self._steal:
            mine = max(self._left, key=len)
            taken = mine[-count:]  # the owner goes on in front
            del mine[-count:]
        else:
            taken = mine[:count]
            del mine[:count]
        return taken

    def _run_length(self, device: int) -> int:
        """How many slots the device should take now."""
        own = -(-len(self._left[device]) // _RUNS)
        if not self._steal:
            return own
        if not self.slots_done[device]:
            return max(1, min(own, self._probe))
        rates = [done / busy for done, busy in zip(self.slots_done, self._busy, strict=True) if done]
        everyone = sum(rates) * len(self._left) / len(rates)  # who has finished nothing yet is taken for average
        mine = self.slots_done[device] / self._busy[device]
        return max(1, int(sum(map(len, self._left)) * mine / everyone / _RUNS), round(mine * _SHORTEST_RUN))

    def _ranges(self, slots: list[int]) -> Iterator[Task]:
        """Neighboring slots as one range; empty pieces are left out."""
        first = previous = slots[0]
        for slot in [*slots[1:], None]:
            if slot is not None and slot == previous + 1:
                previous = slot
                continue
            begin, end = int(self._cuts[first]), int(self._cuts[previous + 1])
            if begin < end:
                yield Task(begin, end)
            if slot is not None:
                first = previous = slot


def whole(num_units: int, control: Control) -> Iterator[Task]:
    """Everything as one task, for a device that works alone."""
    control.check()
    yield Task(0, num_units)
