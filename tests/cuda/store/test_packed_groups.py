"""Groups of pages of a shard that are rewritten together, and the new directory: arithmetic, without a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphlode.cuda.store.groups import (
    GROUP_PAGES,
    LEAST_ENTRIES,
    MOST_ENTRIES,
    RECORD_WORDS,
    groups_from_records,
    groups_from_totals,
    regroup,
)


def records_of(totals: Any, positions: Any) -> Any:
    """The records of the device for flagged pages."""
    records = np.zeros((len(positions), RECORD_WORDS), np.int64)
    last = max(1, totals.size // GROUP_PAGES) - 1
    for record, position in zip(records, positions, strict=True):
        group = min(position // GROUP_PAGES, last)
        begin, end = group * GROUP_PAGES, totals.size if group == last else (group + 1) * GROUP_PAGES
        record[0], record[1 : 1 + end - begin] = position, totals[begin:end]
    return records


@st.composite
def directories(draw: st.DrawFn) -> tuple[Any, Any]:
    """Entries of pages, and the positions of flagged pages: all that are out of bounds, and some others."""
    count = draw(st.sampled_from([1, 2, 7, 8, 15, 16, 17, 100, 1000]))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    totals = rng.integers(LEAST_ENTRIES, MOST_ENTRIES + 1, count)
    if draw(st.booleans()):  # a stretch that ran empty
        begin, length = rng.integers(0, count), rng.integers(1, count + 1)
        totals[begin : begin + length] = 0
    hit = rng.random(count) < draw(st.sampled_from([0.0, 0.02, 0.5]))
    totals[hit] = rng.choice([0, LEAST_ENTRIES - 1, MOST_ENTRIES + 1, 100_000], int(hit.sum()))
    flagged = (totals > MOST_ENTRIES) | (totals < LEAST_ENTRIES) | (rng.random(count) < 0.05)
    flagged[rng.integers(0, count)] = True
    return totals, np.flatnonzero(flagged)


@given(directories())
def test_groups_cover_flagged_pages_and_leave_all_within_bounds(directory: tuple[Any, Any]) -> None:
    totals, positions = directory
    groups = groups_from_totals(totals, positions)
    assert (groups.begins < groups.ends).all() and (groups.ends[:-1] <= groups.begins[1:]).all()
    covered = np.concatenate([np.arange(b, e) for b, e in zip(groups.begins, groups.ends, strict=True)])
    assert np.isin(positions, covered).all()
    np.testing.assert_array_equal(groups.totals, totals[covered])
    everything = groups.begins[0] == 0 and groups.ends[0] == totals.size
    assert everything or (groups.entries >= LEAST_ENTRIES).all()
    few = groups_from_records(totals.size, records_of(totals, positions))
    if few is not None:  # the records of the device are enough
        for name in ("begins", "ends", "totals", "entries"):
            np.testing.assert_array_equal(getattr(few, name), getattr(groups, name))


@given(directories())
def test_the_new_directory_has_fresh_pages_in_the_place_of_old_ones(directory: tuple[Any, Any]) -> None:
    totals, positions = directory
    pages = np.random.default_rng(1).permutation(totals.size).astype(np.uint32)
    groups = groups_from_totals(totals, positions)
    numbers = np.arange(int(groups.num_fresh.sum()), dtype=np.uint32) + np.uint32(5000)
    found = regroup(pages, groups, positions, numbers)

    expected, at = list[int](), 0
    unused = iter(numbers.tolist())
    for begin, end, count in zip(groups.begins, groups.ends, groups.num_fresh, strict=True):
        expected += [*pages[at:begin].tolist(), *(next(unused) for _ in range(count))]
        at = end
    expected += pages[at:].tolist()
    assert found.pages.tolist() == expected

    assert found.fresh[:, 0].tolist() == numbers.tolist()
    successors = dict(zip(expected, [*expected[1:], -1], strict=True))
    assert found.fresh[:, 5].tolist() == [successors[number] for number in numbers.tolist()]
    assert found.jobs[:, 0].tolist() == found.replaced.tolist()
    for page, applies, first, count, base, total, _ in found.jobs.tolist():
        position = int(np.flatnonzero(pages == page)[0])
        group = int(np.flatnonzero(groups.begins <= position)[-1])
        begin, end = int(groups.begins[group]), int(groups.ends[group])
        assert applies == (position in positions)
        assert (base, total) == (totals[begin:position].sum(), totals[begin:end].sum())
        rows = found.fresh[first : first + count]
        assert rows[:, 1].tolist() == list(range(count)) and (rows[:, 2] == count).all()
        assert (rows[:, 3] == total).all() and (rows[:, 4] == pages[begin]).all()
