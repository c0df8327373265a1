"""Threads of the native core stay alive between loops of different widths: restarting takes longer than a loop."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphlode.cpu import _native

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")

_PAIRS_PER_THREAD = 8 << 14  # of packed_pair_keys
_LOOPS_REMEMBERED = 256  # of parallel.hpp


def native_threads() -> set[str]:
    return {task.name for task in Path("/proc/self/task").iterdir()}


def run_loops(threads: int) -> None:
    """Two loops that are large enough for this number of threads."""
    rows = np.zeros(threads * _PAIRS_PER_THREAD, np.int32)
    _native.packed_pair_keys(rows, rows, 1, False, threads)


def on_new_thread(work: Any) -> Any:
    """A team belongs to the thread that calls: a new one has none yet."""
    found: list[Any] = []
    caller = threading.Thread(target=lambda: found.append(work()))
    caller.start()
    caller.join()
    (result,) = found
    return result


def test_a_team_stays_when_fewer_are_wanted() -> None:
    def work() -> list[set[str]]:
        before = native_threads()
        seen = []
        for threads in (4, 2, 4, 3, 4):
            run_loops(threads)
            seen.append(native_threads() - before)
        return seen

    first, *others = on_new_thread(work)
    assert len(first) == 3  # in addition to the caller
    assert all(other == first for other in others)


def test_a_team_grows_at_once_and_shrinks_after_long_disuse() -> None:
    def work() -> list[int]:
        before = native_threads()
        sizes = []
        for loops, threads in ((1, 2), (1, 4), (_LOOPS_REMEMBERED, 2)):
            for _ in range(loops):
                run_loops(threads)
            sizes.append(len(native_threads() - before))
        return sizes

    assert on_new_thread(work) == [1, 3, 1]
