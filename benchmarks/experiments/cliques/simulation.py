"""The time that several devices take for a set of pieces, from the time of each piece alone on one of them.

The model of the time of a device for a set of pieces is

    max(sum of their times / parallelism, longest of them) + cost of a launch,

where parallelism is chosen so that all pieces together take the measured time of the whole. Pieces are either dealt
round-robin before the start, or taken from a queue while running: the queue that graphlode uses for several devices.
"""

from __future__ import annotations

import heapq

import numpy as np

from graphlode.common.control import Control
from graphlode.execute.shares import NUM_BUCKETS, ShareTable
from graphlode.execute.tasks import TaskQueue
from graphlode.types import FloatArray, Int64Array

POLICIES = ("round-robin", "queue")


def without_launch(seconds: FloatArray) -> tuple[FloatArray, float]:
    """The times of the pieces without the cost of a launch, which is the time of the lightest piece."""
    launch = float(seconds.min(initial=np.inf)) if seconds.size else 0.0
    return seconds - launch, launch


def parallelism_of(times: FloatArray, launch: float, whole: float) -> float:
    """The number of pieces that run at the same time, so that all of them take the measured time of the whole."""
    busy = max(whole - launch, 1e-9)
    return max(1.0, float(times.sum()) / busy)


def finish_seconds(times: FloatArray, devices: int, policy: str, parallelism: float, launch: float) -> float:
    """The time when the last device finishes."""
    if policy == "round-robin":
        return max(_run_seconds(times[i::devices], parallelism, launch) for i in range(devices))
    return _queue_seconds(times, devices, parallelism, launch)


def _run_seconds(times: FloatArray, parallelism: float, launch: float) -> float:
    if times.size == 0:
        return 0.0
    return max(float(times.sum()) / parallelism, float(times.max())) + launch


def _queue_seconds(times: FloatArray, devices: int, parallelism: float, launch: float) -> float:
    """Devices take runs of pieces from graphlode's own queue, whichever is free first; one alone takes all at once."""
    if devices == 1:
        return _run_seconds(times, parallelism, launch)
    cuts: Int64Array = np.arange(NUM_BUCKETS + 1, dtype=np.int64) * times.size // NUM_BUCKETS
    clock = 0.0
    queue = TaskQueue(cuts, ShareTable([1.0] * devices), Control(), steal=True, alike=True, clock=lambda: clock)
    takers = [queue.tasks(i) for i in range(devices)]
    free = [(0.0, i) for i in range(devices)]
    latest = 0.0
    while free:
        clock, i = heapq.heappop(free)
        task = next(takers[i], None)
        if task is not None:
            clock += _run_seconds(times[task.begin : task.end], parallelism, launch)
            heapq.heappush(free, (clock, i))
        latest = max(latest, clock)
    return latest
