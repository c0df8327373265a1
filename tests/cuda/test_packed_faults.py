"""A device whose memory fails now and then: every batch is there or it is not, and versions stay what they were."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packed_pair import Pair, assert_same

from graphlode.control import Control
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.cuda.graph import packed
from graphlode.errors import DeviceMemoryError
from graphlode.packed import PATHS, Change, Path, keys_of
from graphlode.reference.graph import packed as reference
from kernel_bench import Bench

ROWS = 300
How = Literal["at once", "in two phases", "attempted"]
Merges = Literal["seldom", "whenever pages are split", "never, for want of memory"]
SIZES = [1, 300, 1500, 2048, 2049, 4000, 9000, 20_000]


class Failing(EmulatedDevice):
    """Every allocation fails with a probability, while it is allowed to."""

    def __init__(self) -> None:
        super().__init__()
        self._chance = Random(0)
        self._probability = 0.0

    @contextmanager
    def failing(self, probability: float, seed: int) -> Iterator[None]:
        self._chance, self._probability = Random(seed), probability
        try:
            yield
        finally:
            self._probability = 0.0

    def empty(self, *given: Any) -> Any:
        return self._unless_it_fails(super().empty, *given)

    def zeros(self, *given: Any) -> Any:
        return self._unless_it_fails(super().zeros, *given)

    def asarray(self, *given: Any) -> Any:
        return self._unless_it_fails(super().asarray, *given)

    def _unless_it_fails(self, make: Any, *given: Any) -> Any:
        if self._probability > 0 and self._chance.random() < self._probability:
            raise DeviceMemoryError("no memory, by chance")
        return make(*given)


DEVICE = Failing()


def no_memory(*_: Any, **__: Any) -> Any:
    raise DeviceMemoryError("no memory for a merge")


def write(pair: Pair, how: How, path: Path, keys: Any, deletes: Any, weights: Any) -> Change:
    given = DEVICE, pair.state, keys, deletes, weights
    found = packed.attempt(*given) if how == "attempted" else None
    if how == "in two phases":
        return packed.commit(DEVICE, packed.prepare(*given, path=path, control=Control()))
    if found is None:
        return packed.apply(*given, path=path, control=Control())
    return found if isinstance(found, Change) else packed.finish(DEVICE, found, control=Control())


def drawn_batch(rng: np.random.Generator, there: Any, size: int) -> tuple[Any, Any]:
    """New keys and some that are there, of one row or of all."""
    rows = np.full(size, rng.integers(ROWS)) if rng.random() < 0.35 else rng.integers(0, ROWS, size)
    keys = keys_of(rows, rng.integers(0, 2**20, size))
    known = min(size, there.size) if rng.random() < 0.4 else 0
    keys[:known] = rng.choice(there, known) if known else keys[:0]
    return keys, None if rng.random() < 0.5 else rng.random(size) < rng.choice([0.3, 0.9, 1.0])


@pytest.mark.parametrize("weighted", [False, True])
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(SIZES), st.sampled_from(["at once", "in two phases", "attempted"]), st.sampled_from(PATHS)
        ),
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
    bench, rng, versions = Bench(DEVICE), np.random.default_rng(seed), []
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
                with DEVICE.failing(probability, seed + number):
                    if number % 3 == 0:
                        packed.provide(DEVICE, pair.state)
                    change = write(pair, how, path, keys, deletes, weights)
            except DeviceMemoryError:
                change = None
            if change is not None:
                plan = reference.prepare(None, pair.expected, keys, deletes, weights, path=path, control=Control())
                assert change[:3] == reference.commit(None, plan)[:3]
            pair.check()
            if rng.random() < 0.3:
                versions.append(pair.fork())
            if versions and rng.random() < 0.3:
                versions.pop(0)
            for version in versions:
                assert_same(bench, *version)
