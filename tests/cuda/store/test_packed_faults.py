"""A device on which allocations fail: every batch is applied as a whole or not at all, and versions do not change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packed_pair import Pair, assert_same, random_keys

from graphlode.common.control import Control
from graphlode.common.store import PATHS, Change, Path, keys_of
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.cuda.store import shard as packed
from graphlode.errors import DeviceMemoryError
from graphlode.reference.store import shard as reference
from kernel_bench import Bench

ROWS = 300
How = Literal["at once", "in two phases"]
Merges = Literal["seldom", "whenever pages are split", "never, for want of memory"]
SIZES = [1, 300, 1500, 2048, 2049, 4000, 9000, 20_000]


class Failing(EmulatedDevice):
    """A device on which the allocations with chosen numbers fail."""

    def __init__(self) -> None:
        super().__init__()
        self._fails: Callable[[int], bool] = lambda _: False
        self.number = 0  # of allocations since the choice

    @contextmanager
    def failing(self, fails: Callable[[int], bool]) -> Iterator[None]:
        before, self._fails, self.number = self._fails, fails, 0
        try:
            yield
        finally:
            self._fails = before

    def empty(self, *given: Any) -> Any:
        return self._unless_it_fails(super().empty, *given)

    def zeros(self, *given: Any) -> Any:
        return self._unless_it_fails(super().zeros, *given)

    def asarray(self, *given: Any) -> Any:
        return self._unless_it_fails(super().asarray, *given)

    def _unless_it_fails(self, make: Any, *given: Any) -> Any:
        self.number += 1
        if self._fails(self.number):
            raise DeviceMemoryError("no memory, for a test")
        return make(*given)


DEVICE = Failing()


def no_memory(*_: Any, **__: Any) -> Any:
    raise DeviceMemoryError("no memory for a merge")


def write(pair: Pair, how: How, path: Path, keys: Any, deletes: Any, weights: Any) -> Change:
    given = DEVICE, pair.state, keys, deletes, weights
    if how == "in two phases":
        return packed.commit(DEVICE, packed.prepare(*given, path=path, control=Control()))
    change = packed.apply(*given, path=path, control=Control())
    packed.finish(DEVICE, pair.state)
    return change


def expect(pair: Pair, change: Change | None, path: Path, *batch: Any) -> None:
    """The expected effect of a batch with this description; None: it changes nothing."""
    if change is not None:
        plan = reference.prepare(None, pair.expected, *batch, path=path, control=Control())
        assert change[:3] == reference.commit(None, plan)[:3]
    pair.check()


def drawn_batch(rng: np.random.Generator, there: Any, size: int) -> tuple[Any, Any]:
    """New keys and some existing ones, of one row or of all."""
    rows = np.full(size, rng.integers(ROWS)) if rng.random() < 0.35 else rng.integers(0, ROWS, size)
    keys = keys_of(rows, rng.integers(0, 2**20, size))
    known = min(size, there.size) if rng.random() < 0.4 else 0
    keys[:known] = rng.choice(there, known) if known else keys[:0]
    return keys, None if rng.random() < 0.5 else rng.random(size) < rng.choice([0.3, 0.9, 1.0])


@pytest.mark.parametrize("weighted", [False, True])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(SIZES), st.sampled_from(["at once", "in two phases"]), st.sampled_from(PATHS)),
        min_size=2,
        max_size=10,
    ),
    probability=st.sampled_from([0.02, 0.1, 0.3]),
    merges=st.sampled_from(["seldom", "whenever pages are split", "never, for want of memory"]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_batch_is_there_or_it_is_not_whatever_memory_fails(
    weighted: bool, steps: list[tuple[int, How, Path]], probability: float, merges: Merges, seed: int
) -> None:
    bench, rng, chance, versions = Bench(DEVICE), np.random.default_rng(seed), Random(seed), []
    pair = Pair(bench, ROWS, weighted=weighted)
    with pytest.MonkeyPatch.context() as patch:
        if merges != "seldom":
            patch.setattr(packed, "are_very_many", lambda *_: True)
        if merges == "never, for want of memory":
            patch.setattr(packed, "room_for_merge", no_memory)
        for number, (size, how, path) in enumerate(steps):
            keys, deletes = drawn_batch(rng, pair.expected.keys, size)
            weights = rng.random(size) if weighted else None
            try:
                with DEVICE.failing(lambda _: chance.random() < probability):
                    if number % 3 == 0:
                        pair.state.provide()
                    change = write(pair, how, path, keys, deletes, weights)
            except DeviceMemoryError:
                change = None
            expect(pair, change, path, keys, deletes, weights)
            if rng.random() < 0.3:
                versions.append(pair.fork())
            if versions and rng.random() < 0.3:
                versions.pop(0)
            for version in versions:
                assert_same(bench, *version)


@pytest.mark.parametrize("how", ["at once", "in two phases"])
@pytest.mark.parametrize("size", [1500, 5000])
def test_whichever_one_allocation_fails_a_batch_is_there_or_it_is_not(
    size: int, how: How, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most batches have another way: a merge is done in place, and so is a plan in place that should have been
    merged."""
    monkeypatch.setattr(packed, "are_very_many", lambda *_: True)
    outcomes: list[bool] = []
    asked = 0  # allocations of the batch
    while len(outcomes) <= asked:
        bench = Bench(DEVICE)
        rng, pair = np.random.default_rng(18), Pair(bench, ROWS)
        pair.apply(random_keys(rng, 20_000, ROWS))
        pair.apply(random_keys(rng, 4000, ROWS))  # buffers exist for more than the batch
        version, keys, state = pair.fork(), random_keys(rng, size, ROWS), pair.state
        state.pool.take(state.pool.free.size - 3)
        workspace = state.workspace
        workspace.merge_tasks = workspace.page_numbers = workspace.spare = None  # it allocates all kinds of memory
        change = None
        with suppress(DeviceMemoryError), DEVICE.failing(lambda number: number == len(outcomes) + 1):
            change = write(pair, how, "in place", keys, None, None)
        asked = DEVICE.number
        outcomes.append(change is not None)
        expect(pair, change, "in place", keys, None, None)
        assert_same(bench, *version)
    assert outcomes[-1] and outcomes.count(True) > 3 and False in outcomes
