"""Which pages are rewritten together into fresh pages, and the new directory: arithmetic on the host.

A page that is too full or too empty is rewritten with its neighbors. A group is a run of eight pages of the directory,
so eight full pages become nine, where one page alone would become two half-empty ones. On a GPU the pages of a group
are written in parallel, so a group takes no longer than a page. A group with too few entries is joined with the next
group; if all later groups have too few, with the one before. A page that is rewritten only because a version holds it
is a group of its own.

The work is proportional to the number of rewritten pages, plus one copy of the directory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphlode.common.store import FILL, LEVELS, PAGE_SLOTS, lower_bound, upper_bound
from graphlode.cuda import _driver
from graphlode.types import AnyArray, Int64Array

MOST_ENTRIES = int(upper_bound(LEVELS - 1) * PAGE_SLOTS)
LEAST_ENTRIES = int(lower_bound(LEVELS - 1) * PAGE_SLOTS)
FILLED = int(FILL * PAGE_SLOTS)

GROUP_PAGES = 8
RECORD_WORDS = 2 * GROUP_PAGES  # of a flagged page: its position, and the entries of the pages of its group

# Words of page_job and of fresh_page in store/pages.cu.
JOB_WORDS, FRESH_WORDS = 7, 6


class Groups:
    """Ranges of positions that are rewritten, ascending, and the entries of each of their pages after the batch."""

    def __init__(self, begins: Int64Array, ends: Int64Array, totals: Int64Array) -> None:
        self.begins, self.ends, self.totals = begins, ends, totals
        self.lengths = ends - begins
        self.starts = self.lengths.cumsum() - self.lengths  # of each range, among the pages of all ranges
        self.entries: Int64Array = np.add.reduceat(totals, self.starts)
        self.num_fresh = np.where(self.entries <= MOST_ENTRIES, 1, -(-self.entries // FILLED))

    @property
    def sources(self) -> Int64Array:
        """The positions of all pages."""
        return positions_in(self.begins, self.lengths)


def groups_from_records(num_pages: int, records: Int64Array) -> Groups | None:
    """Groups of eight, from the device's records of flagged pages, ordered by position. None if a group has too few
    entries: see `groups_from_totals`."""
    positions, totals = records[:, 0], records[:, 1:]
    begins, ends = _ranges(num_pages, positions, GROUP_PAGES)
    outside = _outside(totals[np.arange(positions.size), positions - begins], num_pages)
    rows = outside.nonzero()[0]
    rows = rows[_are_first(begins[rows])]
    if ((totals[rows].sum(axis=1) < LEAST_ENTRIES) & (ends[rows] - begins[rows] < num_pages)).any():
        return None
    lone = (~_among(begins, begins[rows])).nonzero()[0]
    firsts, lasts = begins[rows], ends[rows]
    if lone.size:
        firsts, lasts = np.concatenate([firsts, positions[lone]]), np.concatenate([lasts, positions[lone] + 1])
        rows = np.concatenate([rows, lone])
        order = firsts.argsort()
        firsts, lasts, rows = firsts[order], lasts[order], rows[order]
    lengths = lasts - firsts
    column = np.arange(int(lengths.sum())) + (firsts - begins[rows] - lengths.cumsum() + lengths).repeat(lengths)
    return Groups(firsts, lasts, totals[rows.repeat(lengths), column])


def _are_first(values: Int64Array) -> AnyArray:
    """Which of ascending values differ from the one before."""
    first = np.ones(values.size, bool)
    first[1:] = values[1:] != values[:-1]
    return first


def _among(values: Int64Array, ascending: Int64Array) -> AnyArray:
    """Which values are in an ascending array."""
    if not ascending.size:
        return np.zeros(values.size, bool)
    places = np.minimum(ascending.searchsorted(values), ascending.size - 1)
    found: AnyArray = ascending[places] == values
    return found


def groups_from_totals(totals: Int64Array, positions: Int64Array) -> Groups:
    """Like groups_from_records, but from the entries of all pages and the positions of flagged pages, ascending. Groups
    with too few entries are joined with others."""
    num_pages = totals.size
    firsts = GROUP_PAGES * np.arange(num_groups(num_pages))
    too_few = (np.add.reduceat(totals, firsts) < LEAST_ENTRIES) & (firsts.size > 1)
    to_the_end = np.logical_and.accumulate(too_few[::-1])[::-1]  # a group and all later ones
    begins = firsts[np.append(True, ~(too_few[:-1] | to_the_end[1:]))]
    ends = np.append(begins[1:], num_pages)
    group = begins.searchsorted(positions, side="right") - 1
    whole = np.unique(group[_outside(totals[positions], num_pages)])
    lone = positions[~_among(group, whole)]
    begins, ends = np.sort(np.concatenate([begins[whole], lone])), np.sort(np.concatenate([ends[whole], lone + 1]))
    return Groups(begins, ends, totals[positions_in(begins, ends - begins)])


def num_groups(num_pages: int) -> int:
    return max(1, num_pages // GROUP_PAGES)


def positions_in(begins: Int64Array, lengths: Int64Array) -> Int64Array:
    """All numbers in the ranges with these begins and lengths."""
    found: Int64Array = np.arange(int(lengths.sum())) + (begins - lengths.cumsum() + lengths).repeat(lengths)
    return found


def _ranges(num_pages: int, positions: Int64Array, size: int) -> tuple[Int64Array, Int64Array]:
    """The run of `size` pages that holds each position. The last run includes the rest, so no run is short."""
    last = max(1, num_pages // size) - 1
    group = np.minimum(positions // size, last)
    return group * size, np.where(group == last, num_pages, (group + 1) * size)


def _outside(totals: Int64Array, num_pages: int) -> AnyArray:
    found: AnyArray = (totals > MOST_ENTRIES) | ((totals < LEAST_ENTRIES) & (num_pages > 1))
    return found


@dataclass(frozen=True)
class Regrouping:
    """The input of `store/pages.cu`, the replaced pages, and the new directory."""

    jobs: Int64Array  # a row for each page that is read
    fresh: Int64Array  # a row for each page that is written
    replaced: AnyArray
    pages: AnyArray  # of the new directory


def regroup(pages: AnyArray, groups: Groups, flagged: Int64Array, numbers: AnyArray) -> Regrouping:
    """Plan to write each group into fresh pages. `numbers` are those of the fresh pages, in the order of use.

    `flagged` are the positions, ascending, whose updates are not written in place.
    """
    begins, ends, counts = groups.begins, groups.ends, groups.num_fresh
    firsts = counts.cumsum() - counts

    sources, lengths = groups.sources, groups.lengths
    before = groups.totals.cumsum() - groups.totals
    jobs = np.zeros((sources.size, JOB_WORDS), np.int64)
    jobs[:, 0], jobs[:, 1] = pages[sources], _among(sources, flagged)
    jobs[:, 2], jobs[:, 3] = firsts.repeat(lengths), counts.repeat(lengths)
    jobs[:, 4], jobs[:, 5] = before - before[groups.starts].repeat(lengths), groups.entries.repeat(lengths)

    fresh = np.zeros((numbers.size, FRESH_WORDS), np.int64)
    fresh[:, 0], fresh[:, 1] = numbers, np.arange(numbers.size) - firsts.repeat(counts)
    fresh[:, 2], fresh[:, 3] = counts.repeat(counts), groups.entries.repeat(counts)
    fresh[:, 4] = pages[begins].repeat(counts)
    behind = pages[np.minimum(ends, pages.size - 1)].astype(np.int64)
    behind[ends == pages.size] = -1
    touching = (ends[:-1] == begins[1:]).nonzero()[0]
    behind[touching] = numbers[firsts[touching + 1]]
    fresh[:-1, 5] = numbers[1:]
    fresh[firsts + counts - 1, 5] = behind
    result = np.empty(pages.size - sources.size + numbers.size, np.uint32)
    replaced = np.empty(sources.size, np.uint32)
    ranges = np.stack([begins, lengths, counts], axis=1).astype(np.uint32).ravel()
    _driver.replace_pages(pages, ranges, numbers, result, replaced)
    return Regrouping(jobs, fresh, replaced, result)
