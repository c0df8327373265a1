"""The simulation of several devices: closed forms where there are any, and what no schedule can beat."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.experiments.cliques.simulation import POLICIES, finish_seconds, parallelism_of, without_launch
from graphlode.execute.shares import NUM_BUCKETS


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("devices", [1, 2, 4, 8])
def test_even_pieces_scale_as_the_devices_do(policy: str, devices: int) -> None:
    seconds = finish_seconds(np.ones(NUM_BUCKETS), devices, policy, 1.0, 0.0)
    assert seconds == pytest.approx(NUM_BUCKETS / devices, rel=0.02)


@pytest.mark.parametrize("policy", POLICIES)
def test_no_device_finishes_before_the_longest_piece_or_the_even_share(policy: str) -> None:
    times = np.random.default_rng(1).pareto(1.1, NUM_BUCKETS)
    for devices in range(1, 9):
        seconds = finish_seconds(times, devices, policy, 3.0, 1e-6)
        assert seconds >= max(times.max(), times.sum() / 3 / devices)


def test_a_queue_evens_out_what_dealing_does_not() -> None:
    times = np.ones(NUM_BUCKETS)
    times[::8] = 50  # all heavy pieces fall to one of eight devices
    dealt = finish_seconds(times, 8, "round-robin", 1.0, 0.0)
    queued = finish_seconds(times, 8, "queue", 1.0, 0.0)
    assert dealt == 50 * NUM_BUCKETS / 8
    assert queued < dealt / 4


def test_the_launch_is_what_the_lightest_piece_takes_and_parallelism_explains_the_whole() -> None:
    times, launch = without_launch(np.array([0.1, 0.3, 0.5]))
    assert launch == pytest.approx(0.1) and times.tolist() == pytest.approx([0, 0.2, 0.4])
    parallelism = parallelism_of(times, launch, 0.4)
    assert parallelism == pytest.approx(2.0)
    assert finish_seconds(times, 1, "round-robin", parallelism, launch) == pytest.approx(0.5)  # the longest piece
