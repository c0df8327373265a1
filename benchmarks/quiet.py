"""The core that is fastest at the moment.

Calls of about ten microseconds on one thread depend on the core: on a shared machine a core takes twice as long while
another user runs on its other hardware thread. Threads that start inside stay on the same core, so this is only for
work that has started all of its threads.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter

_LOOKS, _STEPS = 15, 2000


@contextmanager
def on_quiet_core() -> Iterator[None]:
    """Move the calling thread to the fastest of its cores, if the system allows it."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {_quickest(cores)})
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _quickest(cores: Collection[int]) -> int:
    """Leave the thread on one of them."""
    taken = {}
    for core in cores:
        os.sched_setaffinity(0, {core})
        taken[core] = median(_look() for _ in range(_LOOKS))
    return min(taken, key=lambda core: taken[core])


def _look() -> float:
    begun = perf_counter()
    for _ in range(_STEPS):
        pass
    return perf_counter() - begun
