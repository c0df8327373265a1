"""Arrays on their way to a GPU and back through the extension `_driver`, tried against a library that answers like
NVIDIA's."""

from __future__ import annotations

import ctypes
import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from driver_calls import SECTION

from graphlode.cuda import _driver
from graphlode.errors import InputError, KernelFaultError


def test_arrays_arrive_though_the_ring_wraps_before_anybody_waits(queue: _driver.Queue, fake: ctypes.CDLL) -> None:
    rng = np.random.default_rng(1)
    sent = [rng.integers(0, 255, size, np.uint8) for size in rng.integers(1, SECTION // 3, 60)]
    there = [np.zeros_like(array) for array in sent]
    waited = fake.fake_event_waits()
    for array, place in zip(sent, there, strict=True):
        scratch = array.copy()
        queue.send(place.ctypes.data, scratch)
        scratch.fill(0)  # the caller's again
    assert sum(map(len, sent)) > 5 * SECTION and fake.fake_event_waits() > waited
    queue.synchronize()
    for array, place in zip(sent, there, strict=True):
        np.testing.assert_array_equal(place, array)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("size", [0, 1, SECTION, SECTION + 1, 23 * SECTION + 77])
def test_arrays_of_any_size_go_there_and_come_back(queue: _driver.Queue, threads: int, size: int) -> None:
    sent = np.random.default_rng(size).integers(0, 255, size, np.uint8)
    there, back = np.zeros_like(sent), np.zeros_like(sent)
    for _ in range(2):
        queue.send(there.ctypes.data, sent, threads)
        queue.fetch(back, there.ctypes.data, threads)
        np.testing.assert_array_equal(back, sent)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("size", [0, 1, 77, SECTION // 8, SECTION // 4 + 3, 3 * SECTION + 77])
def test_ids_go_there_in_half_of_their_bytes(queue: _driver.Queue, threads: int, size: int) -> None:
    tails, heads = np.random.default_rng(size).integers(0, 2**31, (2, size))
    there = np.full(2 * size + 1, -1, np.int32)
    for _ in range(2):
        assert queue.send_narrow(there.ctypes.data, tails, heads, threads)
        queue.synchronize()
        np.testing.assert_array_equal(there[:-1], np.concatenate([tails, heads]))
        assert there[-1] == -1
        tails, heads = heads, tails


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("wrong", [-1, 2**31, 2**32, -(2**63)])
@pytest.mark.parametrize("place", [0, SECTION // 4 - 1, SECTION // 4, SECTION])
def test_an_id_that_needs_more_bits_is_noticed_wherever_it_is(
    queue: _driver.Queue, threads: int, wrong: int, place: int
) -> None:
    there = np.zeros(2 * SECTION + 2, np.int32)
    for number in range(2):
        both = np.full((2, SECTION + 1), 2**31 - 1)
        assert queue.send_narrow(there.ctypes.data, *both, threads)
        both[number, place] = wrong
        assert not queue.send_narrow(there.ctypes.data, *both, threads)
    queue.synchronize()


def test_arrays_that_are_not_contiguous_or_not_to_be_written_are_refused(queue: _driver.Queue) -> None:
    with pytest.raises((BufferError, ValueError)):
        queue.send(1, np.arange(10)[::2])
    fixed = np.arange(3)
    fixed.flags.writeable = False
    with pytest.raises((BufferError, ValueError)):
        queue.fetch(fixed, 1)


@pytest.mark.parametrize("call", ["cuMemcpyHtoDAsync", "cuEventSynchronize", "cuEventRecord"])
def test_no_thread_waits_for_an_array_that_will_not_be_sent(queue: _driver.Queue, fake: ctypes.CDLL, call: str) -> None:
    sent = np.random.default_rng(1).integers(0, 255, 40 * SECTION, np.uint8)  # more than is under way at a time
    there = np.zeros_like(sent)
    fake.fake_fail(call.encode(), 700)
    with pytest.raises(KernelFaultError, match=call):
        queue.send(there.ctypes.data, sent, 4)
    fake.fake_fail(b"", 0)
    queue.send(there.ctypes.data, sent, 4)
    queue.synchronize()
    np.testing.assert_array_equal(there, sent)


def test_teams_of_any_size_follow_each_other(queue: _driver.Queue) -> None:
    there, ids = np.zeros(2 * SECTION, np.int32), np.arange(SECTION)
    for threads in (2, 9, 3, 1, 12, 2, 12):
        ids = ids[::-1].copy()
        assert queue.send_narrow(there.ctypes.data, ids, ids, threads)
        queue.synchronize()
        np.testing.assert_array_equal(there.reshape(2, -1), [ids, ids])


def test_several_threads_send_large_arrays_and_ids_at_once(queue: _driver.Queue) -> None:
    def work(number: int) -> bool:
        ids = np.random.default_rng(number).integers(0, 2**31, (2, 150_000))
        there, back = np.zeros(300_000, np.int32), np.zeros(300_000, np.int32)
        right = True
        for threads in (3, 1, 2, 5):
            right &= queue.send_narrow(there.ctypes.data, *ids, threads)
            queue.fetch(back, there.ctypes.data, threads)
            right &= bool((back.reshape(2, -1) == ids).all())
            queue.send(there.ctypes.data, np.zeros(300_000, np.int32), threads)
        queue.synchronize()  # what is under way needs the array
        return right

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


@pytest.mark.parametrize("use", ["again", "lets go"])
def test_a_forked_child_has_helpers_of_its_own(library: str, fake: ctypes.CDLL, use: str) -> None:
    queues = [_driver.Queue("cuda:7", SimpleNamespace(ptr=17), library)]
    there, ids = np.zeros(400_000, np.int32), np.arange(200_000)
    assert queues[0].send_narrow(there.ctypes.data, ids, ids, 4)
    queues[0].synchronize()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of any fork of a process with threads
        child = os.fork()
    if child == 0:
        if use == "again":
            ids = ids[::-1].copy()
            sent = queues[0].send_narrow(there.ctypes.data, ids, ids, 4)
            queues[0].synchronize()
            os._exit(0 if sent and (there.reshape(2, -1) == ids).all() else 1)
        queues.clear()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert queues[0].send_narrow(there.ctypes.data, ids, ids, 4)
    queues[0].synchronize()


def test_ids_that_are_not_alike_are_refused(queue: _driver.Queue) -> None:
    there, ids = np.zeros(20, np.int32), np.arange(10)
    for tails, heads in ((ids, ids.astype(np.int32)), (ids.astype(np.int32), ids)):
        with pytest.raises(InputError, match="64 bits"):
            queue.send_narrow(there.ctypes.data, tails, heads)
    with pytest.raises(InputError, match="same length"):
        queue.send_narrow(there.ctypes.data, ids, ids[:5])
