"""Tasks: every unit is handed out exactly once, fixed shares are kept, idle devices steal otherwise."""

from __future__ import annotations

import time
from threading import Barrier, Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlode.common.control import Control
from graphlode.execute.shares import NUM_BUCKETS, ShareTable
from graphlode.execute.tasks import TaskQueue, cut_by_work, cut_evenly, whole
from graphlode.types import Task

UNITS = st.one_of(st.sampled_from([0, 1, 1023, 1024, 1025]), st.integers(0, 20_000))


def drain(queue: TaskQueue, devices: int, num_units: int, pause: list[float] | None = None) -> list[np.ndarray]:
    """How often each device received each unit, with all devices running at the same time."""
    seen = [np.zeros(num_units, np.int64) for _ in range(devices)]
    ready = Barrier(devices)

    def work(device: int) -> None:
        ready.wait()
        for task in queue.tasks(device):
            seen[device][task.begin : task.end] += 1
            if pause:
                time.sleep(pause[device])

    threads = [Thread(target=work, args=(device,)) for device in range(devices)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


@settings(max_examples=25)
@given(UNITS, st.lists(st.floats(0.1, 10), min_size=1, max_size=6), st.booleans())
def test_every_unit_is_handed_out_once(num_units: int, weights: list[float], steal: bool) -> None:
    queue = TaskQueue(cut_evenly(num_units), ShareTable(weights), Control(), steal=steal)
    seen = drain(queue, len(weights), num_units)
    np.testing.assert_array_equal(sum(seen), np.ones(num_units))
    assert queue.units_done == [int(units.sum()) for units in seen]
    assert sum(queue.buckets_done) == NUM_BUCKETS


def test_fixed_shares_are_kept_and_never_stolen() -> None:
    queue = TaskQueue(cut_evenly(4096), ShareTable([7, 1]), Control(), steal=False)
    drain(queue, 2, 4096, pause=[0.005, 0.0])
    assert queue.units_done == [3584, 512] and queue.buckets_done == [896, 128]


def test_an_idle_device_takes_from_the_slow_one() -> None:
    queue = TaskQueue(cut_evenly(4096), ShareTable([7, 1]), Control(), steal=True)
    seen = drain(queue, 2, 4096, pause=[0.05, 0.0])
    np.testing.assert_array_equal(sum(seen), np.ones(4096))
    assert queue.units_done[1] > 512


def test_a_device_without_a_share_still_steals() -> None:
    queue = TaskQueue(cut_evenly(4096), ShareTable([1, 0]), Control(), steal=True)
    assert sum(task.end - task.begin for task in queue.tasks(1)) == 4096


def test_runs_get_shorter_towards_the_end() -> None:
    queue = TaskQueue(cut_evenly(10_240), ShareTable([1]), Control(), steal=False)
    sizes = [task.end - task.begin for task in queue.tasks(0)]
    assert sizes[0] == 5120 and sizes == sorted(sizes, reverse=True) and sizes[-1] == 10


def test_a_device_of_unknown_speed_begins_with_a_few_slots() -> None:
    queue = TaskQueue(cut_evenly(10_240), ShareTable([1, 1]), Control(), steal=True)
    first, second, *_ = [task.end - task.begin for task in queue.tasks(0)]
    assert first == 160 and second > first


def test_devices_that_are_alike_begin_with_half_of_their_shares() -> None:
    queue = TaskQueue(cut_evenly(10_240), ShareTable([1, 1]), Control(), steal=True, alike=True)
    assert next(queue.tasks(0)) == Task(0, 2560)


def test_a_run_is_worth_its_launch() -> None:
    """At 100 microseconds a slot, no run but the last is shorter than three milliseconds; the end is stolen, too."""
    now = 0.0
    queue = TaskQueue(cut_evenly(1024), ShareTable([1, 1]), Control(), steal=True, alike=True, clock=lambda: now)
    sizes = []
    for task in queue.tasks(0):
        sizes.append(task.end - task.begin)
        now += 1e-4 * sizes[-1]
    assert sum(sizes) == 1024 and min(sizes[:-1]) >= 30 and len(sizes) < 16


def test_runs_follow_the_rates_that_were_seen() -> None:
    """A device a hundred times slower, with an equal share, must not hold the last of the work."""
    queue = TaskQueue(cut_evenly(1024), ShareTable([1, 1]), Control(), steal=True)
    per_slot = [0.0002, 0.02]
    done = [0, 0]

    def work(device: int) -> None:
        for task in queue.tasks(device):
            time.sleep(per_slot[device] * (task.end - task.begin))
            done[device] += task.end - task.begin

    threads = [Thread(target=work, args=(device,)) for device in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(done) == 1024
    assert done[1] <= 64  # its probe and little more


def test_a_stop_ends_the_stream() -> None:
    control = Control()
    tasks = TaskQueue(cut_evenly(100), ShareTable([1]), control, steal=True).tasks(0)
    next(tasks)
    control.stop()
    with pytest.raises(InterruptedError):
        list(tasks)


@given(st.lists(st.integers(0, 1000), max_size=3000))
def test_pieces_hold_even_work(work: list[int]) -> None:
    cumulative = np.concatenate([[0], np.cumsum(work, dtype=np.int64)]).astype(np.int64)
    cuts = cut_by_work(cumulative)
    assert cuts.size == NUM_BUCKETS + 1 and cuts[0] == 0 and cuts[-1] == len(work)
    assert (np.diff(cuts) >= 0).all()
    pieces = np.diff(cumulative[cuts])
    assert pieces.max(initial=0) <= cumulative[-1] / NUM_BUCKETS + max(work, default=0) + 1


def test_one_device_gets_everything_as_one_task() -> None:
    assert list(whole(10, Control())) == [Task(0, 10)]
    assert list(whole(0, Control())) == [Task(0, 0)]
