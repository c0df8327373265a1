"""The functions that a backend implements to keep a shard of a store, in its module `store/shard`.

`device` is the device of the shard, or one of its lanes. `state` is a type of the backend: the shard itself, or an
immutable version of it from `fork`. One thread at a time changes a shard; any thread may read a version meanwhile.
"""

from __future__ import annotations

from typing import Any, Protocol

from graphlode.common.control import Control
from graphlode.common.store import Change, Fullness, Path
from graphlode.types import AnyArray, BoolArray, FloatArray, Int64Array


class ShardKernels(Protocol):
    @property
    def MOST_BRIEF(self) -> int:
        """The largest batch, in entries, that is brief work for the calling thread."""

    @property
    def TAKES_RESIDENT(self) -> bool:
        """Whether the arrays of `Pairs` may lie on the device."""

    def create(self, device: Any, /, *, num_rows: int, weighted: bool) -> Any:
        """A shard without entries."""

    def resize(self, device: Any, state: Any, num_rows: int, /) -> None:
        """More rows, without entries."""

    def fork(self, device: Any, state: Any, /) -> Any:
        """An immutable version, which shares its pages with the shard until the shard writes them."""

    def fullness(self, state: Any, /) -> Fullness: ...

    # Batches: keys or pairs in order of time. `deletes` has a boolean for each of them, or is True if all are deleted.

    def apply(
        self,
        device: Any,
        state: Any,
        entries: Any,
        deletes: Any,
        weights: Any,
        /,
        *,
        path: Path,
        control: Control,
    ) -> Change:
        """Apply a batch as a whole, or raise and change nothing.

        The device may still be writing afterwards. Call `finish` before the shard is read.
        """

    def finish(self, device: Any, state: Any, /) -> None:
        """Wait until the last batch is written. Then allocate memory for the next batches, if there is some."""

    def prepare(
        self,
        device: Any,
        state: Any,
        entries: Any,
        deletes: Any,
        weights: Any,
        /,
        *,
        path: Path,
        control: Control,
    ) -> Any:
        """Plan a batch and allocate all memory that it needs. Changes nothing that a reader can see."""

    def commit(self, device: Any, plan: Any, /) -> Change:
        """Write the plan that was prepared last. Cannot fail."""

    # Questions about a shard or a version

    def num_entries(self, state: Any, /) -> int: ...

    def csr(self, device: Any, state: Any, /) -> dict[str, Any]:
        """All rows without gaps: `offsets`, `neighbors` and, if there are any, `weights`, as arrays of the device."""

    def degrees(self, device: Any, state: Any, /) -> Int64Array: ...

    def contains(self, device: Any, state: Any, keys: AnyArray, /) -> AnyArray:
        """Whether each key is there."""

    def row(self, device: Any, state: Any, row: int, /) -> tuple[AnyArray, AnyArray | None]:
        """The neighbors of a row, ascending, and their weights."""

    def rows_in(self, device: Any, state: Any, buckets: BoolArray, /) -> tuple[AnyArray, FloatArray | None]:
        """The keys whose row falls into one of the chosen buckets, and their weights, on the host."""

    def nbytes(self, device: Any, state: Any, /) -> int: ...

    def statistics(self, device: Any, state: Any, /) -> dict[str, Any]:
        """Entries, capacity, pages, density, the fullest window of every level, and the number of shared pages."""

    def check(self, device: Any, state: Any, /) -> None:
        """AssertionError if a rule of the structure does not hold. For tests."""
