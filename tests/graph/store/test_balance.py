"""The share of the rows of each shard, from made-up times."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlode.common.buckets import NUM_BUCKETS, bucket_of
from graphlode.common.store import keys_of, rows_of
from graphlode.cpu.store.split import by_owner
from graphlode.graph.store.balance import EVERY, Balance, first_weights, relieved

EVEN = [NUM_BUCKETS // 2, NUM_BUCKETS // 2]


@pytest.mark.parametrize(("speeds", "leader"), [([132.0, 16.0, 16.0], 0), ([2.0, 2.0], None), ([0.02, 0.02, 2.0], 2)])
def test_a_device_that_leads_by_far_gets_all_rows(speeds: list[float], leader: int | None) -> None:
    assert first_weights(speeds) == (speeds if leader is None else [float(i == leader) for i in range(len(speeds))])


def test_shares_follow_the_rates_of_batches() -> None:
    balance = Balance([1.0, 1.0])
    rng = np.random.default_rng(1)
    for _ in range(EVERY):
        assert not balance.is_time
        updates = rng.integers(100, 1000, 2).tolist()
        balance.observe(updates, [1e-6 * updates[0], 7e-6 * updates[1]])
    assert balance.is_time
    weights = balance.wanted(EVEN, 1000)
    assert weights is not None and weights[0] / weights[1] == pytest.approx(7)
    assert not balance.is_time


def test_one_odd_batch_changes_a_rate_by_a_fifth() -> None:
    balance = Balance([1.0, 1.0])
    for _ in range(EVERY):
        balance.observe([100, 100], [1.0, 1.0])
    balance.observe([100, 100], [1.0, 1e9])  # the machine was busy
    weights = balance.wanted(EVEN, 1000)
    assert weights is not None and weights[1] / weights[0] == pytest.approx(0.8)


def test_shares_wait_until_every_shard_with_rows_has_shown_a_rate() -> None:
    balance = Balance([1.0, 1.0])
    for _ in range(2 * EVERY):
        balance.observe([10, 0], [1.0, 0.0])
    assert balance.wanted(EVEN, 10) is None
    assert balance.wanted([NUM_BUCKETS, 0], 10) == [1.0, 0.0]  # the other one has no rows


def test_a_shard_without_rows_gets_none_by_what_it_once_showed() -> None:
    """A device that has all rows keeps them, however slow one batch was."""
    balance = Balance([132.0, 16.0])
    balance.observe([10, 10], [1.0, 0.1])
    assert balance.wanted([NUM_BUCKETS, 0], 1000) == [1.0, 0.0]


@given(
    counts=st.lists(st.integers(0, 400), min_size=2, max_size=5).filter(any),
    data=st.data(),
)
def test_a_part_of_what_full_devices_have_goes_to_others(counts: list[int], data: st.DataObject) -> None:
    full = data.draw(st.sets(st.integers(0, len(counts) - 1), min_size=1))
    others = {number: data.draw(st.floats(0.01, 100)) for number in range(len(counts)) if number not in full}
    wanted = relieved(counts, full, others)
    if not others or not any(counts[number] for number in full):
        assert wanted is None
        return
    assert wanted is not None and sum(wanted) == sum(counts)
    for number, have in enumerate(counts):
        assert wanted[number] >= have if number in others else have / 2 <= wanted[number] + 1 <= max(1, have)


def test_a_device_that_was_full_gets_no_more_until_the_graph_is_smaller() -> None:
    balance = Balance([100.0, 1.0, 3.0])
    assert balance.within_limits([1, 0, 0], 1000) == [1, 0, 0]
    balance.limit(0, 512, 1000)
    assert balance.within_limits([1, 0, 0], 1000) == [0.5, 0.125, 0.375]
    assert balance.within_limits([1, 0, 0], 2000) == [0.5, 0.125, 0.375]  # it was full when it had half of fewer
    assert balance.within_limits([1, 0, 0], 500) == [1, 0, 0]
    assert balance.within_limits([1, 3, 0], 1000) == [0.25, 0.75, 0]
    assert balance.limited == {0}


def test_a_device_that_was_full_when_the_store_was_loaded_gets_more_when_that_is_smaller() -> None:
    balance = Balance([100.0, 1.0])
    balance.limit(0, 512, 0)  # the store was empty
    assert balance.within_limits([1, 0], 1000) == [0.5, 0.5]
    assert balance.within_limits([1, 0], 400) == [1, 0]


def test_keys_are_split_as_the_table_says() -> None:
    rng = np.random.default_rng(5)
    keys = keys_of(*rng.integers(0, 2**31 - 1, (2, 40_000)))
    for number in (1, 2, 7):
        owners = rng.integers(0, number, NUM_BUCKETS)
        expected = owners[bucket_of(rows_of(keys))]
        for owner, places in enumerate(by_owner(keys, owners, number, threads=3)):
            assert np.array_equal(places, np.flatnonzero(expected == owner))
