"""The count of a shard's pages, which the extension `_driver` keeps, against a dictionary."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlode.cuda import _driver
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.cuda.store.pool import Pool

SEGMENT = 4  # pages
BYTES = 100  # of a segment


def pages(*numbers: int) -> Any:
    return np.array(numbers, np.uint32)


def taken_from(pool: Any, count: int) -> list[int]:
    into = np.empty(count, np.uint32)
    pool.take(into)
    return into.tolist()


class Model:
    """The expected state of the pool, in plain Python."""

    def __init__(self) -> None:
        self.held: dict[int, int] = {}  # by page
        self.addresses: list[int] = []  # by segment
        self.pieces: dict[int, list[int]] = {}  # segments

    def add(self, first: int, addresses: list[int], sizes: list[int]) -> list[int]:
        new = []
        for number, (address, size) in enumerate(zip(addresses, sizes, strict=True), first):
            self.pieces[number] = []
            for within in range(size):
                without = [segment for segment, at in enumerate(self.addresses) if at == 0]
                segment = without[0] if without else len(self.addresses)
                if not without:
                    self.addresses.append(0)
                self.addresses[segment] = address + within * BYTES
                self.pieces[number].append(segment)
                new += range(segment * SEGMENT, (segment + 1) * SEGMENT)
        return new

    def drop_unused(self) -> list[int]:
        dropped = [
            number
            for number, segments in self.pieces.items()
            if not any(page // SEGMENT in segments for page, count in self.held.items() if count)
        ]
        for number in dropped:
            for segment in self.pieces.pop(number):
                self.addresses[segment] = 0
        return dropped

    @property
    def free(self) -> list[int]:
        numbers = range(len(self.addresses) * SEGMENT)
        return [page for page in numbers if self.addresses[page // SEGMENT] and not self.held.get(page)]


@given(st.data())
def test_pages_are_counted_as_a_dictionary_counts_them(data: st.DataObject) -> None:
    pool, model, versions = _driver.PagePool(SEGMENT), Model(), []
    for turn in range(data.draw(st.integers(1, 12))):
        action = data.draw(st.sampled_from(["add", "take", "release", "hold", "keep", "drop", "forget"]))
        if action == "add":
            sizes = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
            addresses = [1 + 10_000 * (10 * turn + i) for i in range(len(sizes))]
            expected = pool.segments_with(sum(sizes))
            first, begin, end = pool.add(addresses, sizes, BYTES)
            new = model.add(first, addresses, sizes)
            assert expected == len(model.addresses)
            assert (begin, end) == (min(new) // SEGMENT, max(new) // SEGMENT + 1)
            assert pool.addresses_of(begin, end).tolist() == model.addresses[begin:end]
            taken = taken_from(pool, len(new))
            assert taken == new  # the next ones, in the order of their numbers
            pool.release(pages(*taken))
        elif action == "take":
            count = data.draw(st.integers(0, len(model.free)))
            taken = taken_from(pool, count)
            assert len(set(taken)) == count and set(taken) <= set(model.free)
            model.held |= dict.fromkeys(taken, 1)
            versions.append(taken)
        elif action == "hold" and versions:
            again = data.draw(st.sampled_from(versions))
            pool.hold(pages(*again))
            for page in again:
                model.held[page] += 1
            versions.append(list(again))
        elif action == "release" and versions:
            gone = versions.pop(data.draw(st.integers(0, len(versions) - 1)))
            pool.release(pages(*gone))
            for page in gone:
                model.held[page] -= 1
        elif action == "keep" and all(count < 2 for count in model.held.values()):
            taken = [page for page, count in model.held.items() if count]
            kept = data.draw(st.lists(st.sampled_from(taken), unique=True)) if taken else []
            most_free = data.draw(st.integers(0, 40))
            model.held = dict.fromkeys(kept, 1)
            versions = [kept]
            dropped = model.drop_unused() if len(model.free) > most_free else []
            assert pool.keep_only(pages(*kept), most_free) == sorted(dropped)
        elif action == "drop":
            assert pool.drop_unused() == sorted(model.drop_unused())
        elif action == "forget":
            while model.addresses and not model.addresses[-1]:
                model.addresses.pop()
            assert pool.segments_with_tail_forgotten == len(model.addresses)
            pool.forget_tail()
        assert pool.addresses.tolist() == model.addresses
        assert sorted(pool.free.tolist()) == model.free and pool.num_free == len(model.free)
        assert pool.num_pages == SEGMENT * len(model.addresses)
        assert pool.references.tolist() == [model.held.get(page, 0) for page in range(pool.num_pages)]
        assert pool.num_used == sum(count > 0 for count in model.held.values())


def test_a_pool_refuses_what_it_does_not_have() -> None:
    pool = _driver.PagePool(SEGMENT)
    pool.add([1000], [1], BYTES)
    with pytest.raises(ValueError, match="4 free pages"):
        taken_from(pool, 5)
    with pytest.raises(ValueError, match="not in the pool"):
        pool.release(pages(4))
    with pytest.raises(ValueError, match="one address and one size"):
        pool.add([1, 2], [1], BYTES)
    with pytest.raises(ValueError, match="fewer segments"):
        pool.addresses_of(0, 2)
    assert pool.num_free == SEGMENT


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(1, 3)), max_size=6), st.integers(0, 5))
def test_fresh_pages_take_the_place_of_others(parts: list[tuple[int, int, int]], behind: int) -> None:
    """Parts of a directory: pages that stay, then pages that the same number of fresh ones replace."""
    old: list[int] = []
    wanted, replaced, ranges, fresh = [], [], [], []
    for stay, go, come in parts:
        wanted += range(len(old), len(old) + stay)
        old += range(len(old), len(old) + stay)
        ranges += [len(old), go, come]
        if go:
            new = [1000 + len(fresh) + i for i in range(come)]
            replaced += range(len(old), len(old) + go)
            old += range(len(old), len(old) + go)
            wanted, fresh = wanted + new, fresh + new
    wanted += range(len(old), len(old) + behind)
    old += range(len(old), len(old) + behind)
    result, gone = np.zeros(len(wanted), np.uint32), np.zeros(len(replaced), np.uint32)
    _driver.replace_pages(pages(*old), pages(*ranges), pages(*fresh), result, gone)
    assert result.tolist() == wanted and gone.tolist() == replaced


@pytest.mark.parametrize(
    ("ranges", "why"),
    [((0, 1), "triples"), ((3, 2, 1), "not in the directory"), ((2, 1, 1, 1, 1, 1), "overlap"), ((0, 2, 1), "agree")],
)
def test_ranges_that_make_no_sense_change_nothing(ranges: tuple[int, ...], why: str) -> None:
    result, gone = np.zeros(4, np.uint32), np.zeros(1, np.uint32)
    with pytest.raises(ValueError, match=why):
        _driver.replace_pages(pages(5, 6, 7, 8), pages(*ranges), pages(1), result, gone)
    assert not result.any() and not gone.any()


@given(used=st.integers(100, 900), fresh=st.integers(100, 900), kept=st.floats(0.2, 1), begun=st.booleans())
def test_counting_ahead_gives_the_same_pool(used: int, fresh: int, kept: float, begun: bool) -> None:
    """With or without counting ahead for all pages that may be kept, the same pages have memory and are free."""
    found = []
    for ahead in (False, True):
        pool = Pool(EmulatedDevice(), weighted=False)
        old = pool.take(used)
        new = pool.take_apart(fresh, fresh // 2)
        if ahead:
            pool.count_ahead(new)
            if begun:  # another batch follows instead
                pool.release(pool.take(min(3, pool.num_free)))
        pool.keep_only(new[: int(kept * fresh)])
        assert pool._counted.num_used == int(kept * fresh)
        assert not set(old.tolist()) & set(np.flatnonzero(pool.references).tolist())
        pool.tidy()  # otherwise the reserve may be in other pieces
        found.append((pool.references.tolist(), sorted(pool.free.tolist()), pool.backed.tolist(), pool.nbytes))
    assert found[0] == found[1]
