"""A shard on a GPU and one of the reference, for tests: both get the same batches and must have the same entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.common.store import Change, Path, keys_of
from graphlode.cuda.store import shard as packed
from graphlode.cuda.store.leaves import leaf_counts
from graphlode.reference.store import shard as reference
from kernel_bench import Bench

Keys = Any


class Pair:
    """A shard on a GPU and one of the reference, with the same batches."""

    def __init__(self, bench: Bench, num_rows: int, *, weighted: bool = False) -> None:
        self.bench, self.device = bench, bench.device
        self.state = bench.do(lambda: packed.create(self.device, num_rows=num_rows, weighted=weighted))
        self.expected = reference.create(None, num_rows=num_rows, weighted=weighted)

    def apply(
        self,
        keys: Keys,
        deletes: Any = None,
        weights: Any = None,
        *,
        path: Path = "in place",
        taken: Path | None = None,
    ) -> Change:
        """Apply one batch to both. They must be equal then, and the shard valid. `taken`: the path that it must take
        instead."""
        keys = np.asarray(keys, np.uint64)
        plan = reference.prepare(None, self.expected, keys, deletes, weights, path=path, control=Control())
        wanted = reference.commit(None, plan)

        def work() -> Change:
            ready = packed.prepare(self.device, self.state, keys, deletes, weights, path=path, control=Control())
            return packed.commit(self.device, ready)

        change: Change = self.bench.do(work)
        found = (change.inserted, change.deleted, change.changed)
        assert found == (wanted.inserted, wanted.deleted, wanted.changed)
        may_be = {path, "merge"} if path == "in place" else {path}  # very many pages are merged
        assert change.path in ({taken} if taken else may_be)
        self.check()
        return change

    def prepare(self, keys: Keys, deletes: Any = None, *, path: Path = "in place", control: Any = None) -> Any:
        """A plan for the shard on the GPU alone."""
        control = control or Control()
        return self.bench.do(
            lambda: packed.prepare(self.device, self.state, keys, deletes, None, path=path, control=control)
        )

    def ask(self, function: Callable[..., Any], *args: Any) -> Any:
        """The result of a function of the module for the shard."""
        return self.bench.do(lambda: function(self.device, self.state, *args))

    def check(self) -> None:
        assert_same(self.bench, self.state, self.expected)

    def leaf_counts(self) -> Any:
        """The number of entries of every leaf in key order, one row per page."""
        state = self.state
        device = self.device
        return self.bench.do(lambda: device.get(leaf_counts(device, state.described(device), state.pages.size)))

    def fork(self) -> tuple[Any, Any]:
        version = self.bench.do(lambda: packed.fork(self.device, self.state))
        return version, reference.fork(None, self.expected)

    @property
    def statistics(self) -> dict[str, Any]:
        found: dict[str, Any] = self.ask(packed.statistics)
        return found


def assert_same(bench: Bench, state: Any, expected: Any) -> None:
    def work() -> dict[str, Any]:
        packed.check(bench.device, state)
        return {name: bench.device.get(array) for name, array in packed.csr(bench.device, state).items()}

    found, wanted = bench.do(work), reference.csr(None, expected)
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def random_keys(rng: np.random.Generator, count: int, num_rows: int) -> Keys:
    """Keys of rows with very different degrees: low rows are drawn more often."""
    rows = (rng.random(count) ** 3 * num_rows).astype(np.int64)
    return keys_of(rows, rng.integers(0, num_rows, count))
