"""The path of a batch: one rule, by sizes alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlode.common.store import Fullness
from graphlode.graph.store.path import UPDATES_PER_ENTRY, choose_path


@pytest.mark.parametrize(
    ("updates", "entries", "path"),
    [(1, 8, "merge"), (1, 9, "in place"), (1000, 0, "merge"), (1000, 8000, "merge"), (1000, 8001, "in place")],
)
def test_a_batch_of_an_eighth_of_the_entries_is_merged(updates: int, entries: int, path: str) -> None:
    assert choose_path(updates, Fullness(entries), grows=False) == path


def test_a_growing_batch_for_which_pages_have_no_room_is_merged() -> None:
    crowded = Fullness(10_000, most_in_place=10_050)
    assert choose_path(50, crowded, grows=True) == "in place"
    assert choose_path(51, crowded, grows=True) == "merge"
    assert choose_path(51, crowded, grows=False) == "in place"


def test_any_batch_closes_the_gaps_of_a_sparse_shard() -> None:
    assert choose_path(1, Fullness(9_999, sparse_below=10_000), grows=False) == "merge"
    assert choose_path(1, Fullness(10_000, sparse_below=10_000), grows=False) == "in place"


@given(updates=st.integers(1, 10**9), entries=st.integers(0, 10**9))
def test_more_entries_never_turn_in_place_into_a_merge(updates: int, entries: int) -> None:
    if choose_path(updates, Fullness(entries), grows=False) == "in place":
        assert choose_path(updates, Fullness(entries + 1), grows=False) == "in place"
        assert UPDATES_PER_ENTRY * updates < entries
