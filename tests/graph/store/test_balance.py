"""Who gets how many of a store's rows, on made-up times."""

from __future__ import annotations

import numpy as np
import pytest

from graphlode.common.buckets import NUM_SLOTS, slot_of
from graphlode.common.store import keys_of, rows_of
from graphlode.cpu.store.split import by_owner
from graphlode.graph.store.balance import EVERY, Balance, even_finish, first_weights, leader_of


def test_shares_even_out_the_finish() -> None:
    sizes = even_finish([(0.0, 1.0), (0.0, 3.0)], 100)
    assert sizes == pytest.approx([75, 25])
    sizes = even_finish([(1.0, 0.1), (4.0, 0.1)], 100)
    assert sum(sizes) == pytest.approx(100) and sizes[0] - sizes[1] == pytest.approx(30)


def test_a_shard_that_starts_too_late_gets_nothing() -> None:
    assert even_finish([(0.0, 0.001), (5.0, 0.001)], 100) == pytest.approx([100, 0])
    assert min(even_finish([(0.0, 0.001), (5.0, 0.001)], 100_000)) > 0


EVEN = [NUM_SLOTS // 2, NUM_SLOTS // 2]


def test_balance_looks_now_and_then_and_knows_who_is_faster() -> None:
    balance = Balance([1.0, 1.0])
    rng = np.random.default_rng(1)
    for _ in range(EVERY):
        assert balance.wanted(EVEN, 1000) is None
        updates = rng.integers(100, 1000, 2).tolist()
        seconds = [1e-6 * updates[0], 7e-6 * updates[1]]
        balance.observe(updates, seconds, max(seconds))
    weights = balance.wanted(EVEN, 1000)
    assert weights is not None and weights[0] / weights[1] == pytest.approx(7, rel=0.05)
    assert balance.wanted(EVEN, 1000) is None


def test_balance_waits_for_everybody() -> None:
    balance = Balance([1.0, 1.0])
    for _ in range(2 * EVERY):
        balance.observe([10, 0], [1.0, 0.0], 1.0)
    assert balance.wanted([NUM_SLOTS, 0], 10) is None


def test_a_shard_without_work_is_tried_again_some_day() -> None:
    balance = Balance([1.0, 1.0])
    balance.observe([50, 50], [0.001, 0.003], 0.003)
    looks = 0
    weights: list[float] | None = [1.0, 0.0]
    while (weights is None or weights[1] == 0) and looks < 300:
        for _ in range(EVERY):
            balance.observe([100, 0], [0.001, 0.0], 0.001)
        weights = balance.wanted([NUM_SLOTS, 0], 1000)
        looks += 1
    assert weights is not None and weights[1] > 0 and 1 < looks < 300


@pytest.mark.parametrize(("speeds", "leader"), [([132.0, 16.0, 16.0], 0), ([2.0, 2.0], None), ([0.02, 0.02, 2.0], 2)])
def test_a_device_that_leads_by_far_begins_with_all_rows(speeds: list[float], leader: int | None) -> None:
    assert leader_of(speeds) == leader
    assert first_weights(speeds) == (speeds if leader is None else [float(i == leader) for i in range(len(speeds))])


def seen(balance: Balance, updates: list[int], seconds: list[float], wall: float) -> None:
    for _ in range(EVERY):
        balance.observe(updates, seconds, wall)


def test_rows_stay_with_the_leader_where_splitting_takes_longer_than_it_saves() -> None:
    balance = Balance([132.0, 16.0])
    for _ in range(100):
        seen(balance, [1000, 0], [7e-5, 0.0], 7e-5)
        assert balance.wanted([NUM_SLOTS, 0], 10**7) in (None, [1.0, 0.0])


@pytest.mark.parametrize(("seconds", "between", "before"), [(7e-5, 29, 286), (1e-3, 8, 32), (1e-6, 256, 20_000)])
def test_few_batches_of_a_leader_alone_are_looked_at(seconds: float, between: int, before: int) -> None:
    """Of so many one is observed, and shares are looked at after so many: neither is noticed beside the batches."""
    balance = Balance([132.0, 16.0])
    observed = unseen = passed = batches = 0
    while not balance.is_time:
        batches += 1
        if unseen:
            unseen -= 1
            continue
        balance.note(0, 1000, seconds, seconds, passed=passed)
        passed = unseen = balance.unseen
        observed += 1
    assert before <= batches <= before + between and observed == pytest.approx(batches / between, abs=1)
    assert balance.wanted([NUM_SLOTS, 0], 10**7) == [1.0, 0.0] and not balance.is_time


def test_rows_are_shared_with_the_others_where_that_is_faster() -> None:
    balance = Balance([4.0, 2.0])
    seen(balance, [1_000_000, 0], [1.0, 0.0], 1.0)
    weights = balance.wanted([NUM_SLOTS, 0], 10**6)
    assert weights is not None and weights[0] / weights[1] == pytest.approx(2, rel=0.1)


def test_rows_come_back_to_the_leader_when_sharing_was_a_mistake() -> None:
    balance = Balance([4.0, 2.0])
    seen(balance, [1_000_000, 0], [1.0, 0.0], 1.0)
    seen(balance, [500_000, 500_000], [0.5, 0.5], 3.0)  # the host was slow to cut them
    assert balance.wanted(EVEN, 10**6) == [1.0, 0.0]


def test_rows_come_back_to_the_leader_even_if_it_once_was_slow_alone() -> None:
    """What it took before the rows were shared is not looked at for ever: its part of a batch tells more."""
    balance = Balance([132.0, 16.0])
    seen(balance, [1_000_000, 0], [0.2, 0.0], 0.2)
    seen(balance, [900_000, 100_000], [1.5e-3, 15e-3], 16e-3)
    assert balance.wanted([913, 111], 10**6) == [1.0, 0.0]


def test_rows_do_not_move_before_moving_would_have_paid() -> None:
    balance = Balance([1.0, 1.0])
    looks = 0
    while looks < 1000:
        seen(balance, [100, 100], [1e-4, 3e-4], 3e-4)
        looks += 1
        if balance.wanted(EVEN, 10**6) is not None:
            break
    saved = looks * EVERY * 1.5e-4  # at most: both finish after 1.5e-4 seconds
    assert 1 < looks < 1000 and saved > 0.2 * 10**6 * 1e-7  # about a quarter of the rows moves


def test_keys_are_split_as_the_table_says() -> None:
    rng = np.random.default_rng(5)
    keys = keys_of(*rng.integers(0, 2**31 - 1, (2, 40_000)))
    for number in (1, 2, 7):
        owners = rng.integers(0, number, NUM_SLOTS)
        expected = owners[slot_of(rows_of(keys))]
        for owner, places in enumerate(by_owner(keys, owners, number, threads=3)):
            assert np.array_equal(places, np.flatnonzero(expected == owner))
