"""The same as packed_groups.py for a few pages, in plain integers.

A hot spot makes its pages overflow batch after batch; arrays of a few numbers would then take longer than the device.
"""

from __future__ import annotations

import numpy as np

from graphlode.cuda.graph.packed_groups import GROUP_PAGES, LEAST_ENTRIES, MOST_ENTRIES, Regrouping
from graphlode.packed import FILL, PAGE_SLOTS
from graphlode.types import AnyArray

FEW = 8  # flagged pages

_FILLED = int(FILL * PAGE_SLOTS)


class FewGroups:
    """Ranges of positions that are written anew, ascending, each with the entries of its pages after the batch."""

    def __init__(self, ranges: list[tuple[int, int, list[int]]], flagged: set[int]) -> None:
        self._ranges = ranges
        self._flagged = flagged
        self._entries = [sum(totals) for _, _, totals in ranges]
        self._counts = [1 if total <= MOST_ENTRIES else -(-total // _FILLED) for total in self._entries]
        self.num_fresh = sum(self._counts)

    def regroup(self, pages: AnyArray, numbers: AnyArray) -> Regrouping:
        """As `packed_groups.regroup`."""
        fresh_numbers, num_pages = numbers.tolist(), pages.size
        jobs, fresh, sources, pieces, at, first = [], [], [], [], 0, 0
        for place, (begin, end, totals) in enumerate(self._ranges):
            count, entries, before = self._counts[place], self._entries[place], 0
            olds = pages[begin:end].tolist()
            for position, old, total in zip(range(begin, end), olds, totals, strict=True):
                jobs.append((old, int(position in self._flagged), first, count, before, entries, 0))
                before += total
            own = fresh_numbers[first : first + count]
            if place + 1 < len(self._ranges) and self._ranges[place + 1][0] == end:
                behind = fresh_numbers[first + count]
            else:
                behind = int(pages[end]) if end < num_pages else -1
            nexts = [*own[1:], behind]
            fresh += [(own[i], i, count, entries, olds[0], nexts[i]) for i in range(count)]
            sources += olds
            pieces += [pages[at:begin], numbers[first : first + count]]
            at, first = end, first + count
        directory = np.concatenate([*pieces, pages[at:]])
        return Regrouping(np.array(jobs), np.array(fresh), np.array(sources, np.uint32), directory)


def few_groups(num_pages: int, records: list[list[int]]) -> FewGroups | None:
    """Groups of eight, as `packed_groups.groups_from_records` forms them; None: that is too few."""
    last = max(1, num_pages // GROUP_PAGES) - 1
    whole: dict[int, tuple[int, int, list[int]]] = {}
    within: list[tuple[int, int, int]] = []
    for position, *totals in records:
        group = min(position // GROUP_PAGES, last)
        begin = group * GROUP_PAGES
        end = num_pages if group == last else begin + GROUP_PAGES
        total = totals[position - begin]
        if total > MOST_ENTRIES or (total < LEAST_ENTRIES and num_pages > 1):
            whole[begin] = (begin, end, totals[: end - begin])
        else:
            within.append((begin, position, total))
    if any(sum(totals) < LEAST_ENTRIES and end - begin < num_pages for begin, end, totals in whole.values()):
        return None
    lone = [(position, position + 1, [total]) for begin, position, total in within if begin not in whole]
    return FewGroups(sorted([*whole.values(), *lone]), {record[0] for record in records})
