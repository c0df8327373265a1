"""The share table: whole slots in proportion, few moves, an even hash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlode.errors import InputError
from graphlode.execute.shares import HYSTERESIS, NUM_BUCKETS, ShareTable, apportion, bucket_of, weights_from

WEIGHTS = st.lists(
    st.one_of(st.just(0.0), st.floats(1e-3, 1e3), st.floats(1e-300, 1e308)), min_size=1, max_size=9
).filter(any)


@given(WEIGHTS)
def test_all_slots_are_given_and_every_positive_weight_gets_one(weights: list[float]) -> None:
    counts = apportion(weights)
    assert sum(counts) == NUM_BUCKETS
    for weight, count in zip(weights, counts, strict=True):
        assert (count >= 1) if weight > 0 else (count == 0)


@given(st.lists(st.floats(1, 100), min_size=1, max_size=8))
def test_slots_are_proportional_within_one(weights: list[float]) -> None:
    for weight, count in zip(weights, apportion(weights), strict=True):
        assert abs(count - NUM_BUCKETS * weight / sum(weights)) < 1


def test_seven_to_one_is_896_of_1024() -> None:
    assert apportion([7, 1]) == [896, 128]
    assert apportion([1, 1, 1]) == [342, 341, 341]
    assert apportion([1e308, 1e308]) == [512, 512]


@pytest.mark.parametrize("weights", [[], [0.0], [0.0, 0.0], [1.0, -1.0], [float("nan")], [float("inf"), 1.0]])
def test_bad_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(InputError, match="shares must be finite, not negative and not all zero"):
        apportion(weights)


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=6), st.data())
def test_a_change_moves_the_fewest_slots(before: list[float], data: st.DataObject) -> None:
    after = data.draw(st.lists(st.floats(0.01, 100), min_size=len(before), max_size=len(before)))
    table = ShareTable(before)
    owners = table.owners.copy()
    have, want = table.counts(), apportion(after)
    moves = table.change(after, hysteresis=0)
    assert table.counts() == want and table.weights == tuple(after)
    assert len(moves) == sum(max(0, h - w) for h, w in zip(have, want, strict=True))
    assert len({slot for slot, _, _ in moves}) == len(moves)
    for slot, giver, receiver in moves:
        assert owners[slot] == giver != receiver == table.owners[slot]
    untouched = np.setdiff1d(np.arange(NUM_BUCKETS), [slot for slot, _, _ in moves])
    np.testing.assert_array_equal(owners[untouched], table.owners[untouched])


def test_a_small_change_moves_nothing() -> None:
    table = ShareTable([1, 1])
    assert table.change([1.02, 1]) == [] and table.weights == (1, 1)
    moved = table.change([1.2, 1])
    assert len(moved) >= HYSTERESIS * NUM_BUCKETS and table.weights == (1.2, 1)


def test_a_device_that_leaves_keeps_no_slot_however_few_it_had() -> None:
    table = ShareTable([1000, 1])
    assert table.counts() == [1023, 1]
    assert len(table.change([1, 0])) == 1
    assert table.counts() == [1024, 0]


def test_a_change_is_for_the_same_devices() -> None:
    with pytest.raises(InputError, match="the table is for 2 devices, got 3 weights"):
        ShareTable([1, 1]).change([1, 1, 1])


@pytest.mark.parametrize("stride", [1, 2, 64, 1024, 2**20, 2**32, 2**40])
def test_keys_spread_evenly_over_the_slots(stride: int) -> None:
    """Chi-square over 1,024 slots: its mean is 1,023, its deviation 45; six deviations are allowed."""
    keys = np.arange(200_000, dtype=np.int64) * stride - 77
    slots = bucket_of(keys)
    assert slots.min() >= 0 and slots.max() < NUM_BUCKETS
    counts = np.bincount(slots, minlength=NUM_BUCKETS)
    expected = keys.size / NUM_BUCKETS
    assert ((counts - expected) ** 2 / expected).sum() < 1023 + 6 * 45


def test_a_key_has_the_owner_of_its_slot() -> None:
    table = ShareTable([3, 1])
    keys = np.arange(-5000, 5000)
    np.testing.assert_array_equal(table.owner(keys), table.owners[bucket_of(keys)])
    assert abs((table.owner(keys) == 0).mean() - 0.75) < 0.05
    assert sorted([*table.buckets(0), *table.buckets(1)]) == list(range(NUM_BUCKETS))


def test_fixed_shares_follow_names() -> None:
    assert weights_from({"cuda:0": 7, "cpu": 1}, ["cpu", "cuda:0"]) == [1.0, 7.0]
    assert weights_from({"cpu": 3}, ["cpu", "cpu"]) == [1.5, 1.5]


@pytest.mark.parametrize("shares", [{}, {"cpu": 1, "cuda:0": 1}, {"cuda:0": 1}])
def test_shares_name_exactly_the_devices(shares: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"shares must name the devices \['cpu'\]"):
        weights_from(shares, ["cpu"])


def test_shares_that_are_no_mapping_are_refused() -> None:
    shares: Any = "even"
    with pytest.raises(InputError, match='shares must be "auto" or a weight for each device'):
        weights_from(shares, ["cpu"])


@pytest.mark.parametrize("weight", ["x", None, -1, float("nan"), float("inf"), 0])
def test_a_share_is_a_positive_number(weight: Any) -> None:
    with pytest.raises(InputError, match="shares must be finite, not negative and not all zero, got"):
        weights_from({"cpu": weight}, ["cpu"])
