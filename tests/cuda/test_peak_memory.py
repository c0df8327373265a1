"""The peak of a device's memory is that of the arrays which are there at a time."""

from __future__ import annotations

import numpy as np

from graphlode.cuda.peak import memory_peak
from kernel_bench import Bench

MEGABYTE = 1 << 20


def test_a_peak_is_of_what_is_there_at_a_time(bench: Bench) -> None:
    device = bench.device

    def work() -> int:
        kept = device.zeros(3 * MEGABYTE, np.uint8)  # before: does not count
        with memory_peak(device) as peak:
            first = device.zeros(2 * MEGABYTE, np.uint8)
            del first
            second = device.zeros(MEGABYTE, np.uint8)
            third = device.zeros(2 * MEGABYTE, np.uint8)
            device.synchronize()
        del kept, second, third
        return peak.bytes

    found = device.submit(work).result()
    assert 3 * MEGABYTE <= found < 3.2 * MEGABYTE


def test_without_arrays_there_is_no_peak(bench: Bench) -> None:
    def work() -> int:
        with memory_peak(bench.device) as peak:
            pass
        return peak.bytes

    assert bench.device.submit(work).result() < 1000
