"""The core that is quickest at the moment.

Calls of some ten microseconds on one thread depend on the core: on a shared machine a core takes twice as long while
another user has its other half. Threads that begin inside stay on the same core, so that this is only for works that have
started all of theirs.
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
    """The calling thread on the quickest of its cores, where the system lets it choose."""
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
    """Leaves the thread on one of them."""
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
