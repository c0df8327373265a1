"""One shard of a store: packed rows on one device, in a lane of the store's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

from graphlode.common.control import Control
from graphlode.common.shard_kernels import ShardKernels
from graphlode.common.store import Change, Pairs, Path
from graphlode.errors import InputError, StateError
from graphlode.execute.device import Device, shard_kernels
from graphlode.graph.store.path import choose_path
from graphlode.types import AnyArray, BoolArray, FloatArray, Int64Array

Strategy = Literal["auto", "in place", "merge", "climb"]

# With these errors a batch is refused before anything is written.
_REFUSALS = (InputError, MemoryError, StateError, InterruptedError)


@dataclass(slots=True)
class Part:
    """The part of a batch for one shard, in order of time: keys or pairs, with delete flags and weights."""

    entries: AnyArray | Pairs
    deletes: BoolArray | Literal[True] | None  # True: all are deleted; None: none is
    weights: FloatArray | None

    @property
    def size(self) -> int:
        """The number of entries, self-loops among the pairs included."""
        return self.entries.size


@dataclass(frozen=True)
class HeldShard:
    """An immutable version of a shard. Operations run on `device`, single questions on `reader`."""

    device: Device
    reader: Device
    kernels: ShardKernels
    state: Any


class HeldShards(NamedTuple):
    """An immutable version of a store's rows."""

    shards: tuple[HeldShard, ...]  # those that have rows
    owners: Int64Array  # by bucket: the index of the shard that has it
    spaces: tuple[str, ...]  # the memory of every shard of the store


@dataclass(slots=True)
class Tally:
    """Totals over the batches of a shard."""

    batches: int = 0
    rebalances: int = 0
    seconds: float = 0.0
    last_path: str = "none"
    paths: Counter[str] = field(default_factory=Counter)

    def count(self, change: Change) -> None:
        self.batches += 1
        self.rebalances += change.rebalances
        self.seconds += change.seconds
        self.last_path = change.path
        self.paths[change.path] += 1


class Shard:
    """Batches run in the shard's lane: an operation on the same device does not hold them up."""

    def __init__(self, name: str, device: Device, *, num_rows: int, weighted: bool, strategy: Strategy) -> None:
        self.name = name
        self.device = device
        self.kernels = shard_kernels(device)
        self.num_rows = num_rows
        self.state: Any = None
        self.tally = Tally()
        self.broken = False  # the device failed in the middle of a batch
        self._lane, self._reader = device.lane(self), device.shared_lane("reads")
        self._strategy: Strategy = strategy
        self._lane.run(lambda lane: self._create(lane, weighted=weighted), brief=False)

    def _create(self, lane: Device, *, weighted: bool) -> None:
        self.state = self.kernels.create(lane, num_rows=self.num_rows, weighted=weighted)

    @property
    def num_entries(self) -> int:
        return self.kernels.num_entries(self.state)

    def release(self) -> None:
        """Release the rows. Immutable versions stay valid."""
        self.state = None

    def path_for(self, part: Part) -> Path:
        if self._strategy != "auto":
            return self._strategy
        return choose_path(part.size, self.kernels.fullness(self.state), grows=part.deletes is None)

    # A batch for this shard alone

    def apply(self, part: Part, done: Callable[[Change], None]) -> Change:
        """Apply a batch as a whole, or raise and change nothing. `done` is called as soon as the batch is certain."""
        kernels, control = self.kernels, Control()

        def work(lane: Device) -> Change:
            state, is_certain = self.state, False
            try:
                change = kernels.apply(
                    lane, state, part.entries, part.deletes, part.weights, path=self.path_for(part), control=control
                )
                is_certain = True
                done(change)
                kernels.finish(lane, state)
            except BaseException as error:
                self.broken = is_certain or not isinstance(error, _REFUSALS)
                raise
            self.tally.count(change)
            return change

        return self._lane.run(work, brief=part.size <= kernels.MOST_BRIEF, control=control)

    # A batch for several shards: in `lane`, which is the shard's own lane or its device for brief work

    def prepare(self, lane: Device, part: Part, control: Control) -> Any:
        """A plan for `commit`. Changes nothing that a reader can see."""
        return self.kernels.prepare(
            lane, self.state, part.entries, part.deletes, part.weights, path=self.path_for(part), control=control
        )

    def commit(self, lane: Device, plan: Any) -> Change:
        """Write the plan. It does not fail; if the device fails nevertheless, the shard is broken."""
        try:
            change = self.kernels.commit(lane, plan)
        except BaseException:
            self.broken = True
            raise
        self.tally.count(change)
        return change

    # Work of other kinds

    def run(self, work: Callable[[Device], Any], *, brief: bool = False, control: Control | None = None) -> Any:
        """Run work in the shard's lane."""
        return self._lane.run(work, brief=brief, control=control)

    def queued(self, work: Callable[[Device], Any]) -> tuple[Device, Callable[[], Any]]:
        """Work in the shard's lane, for `run_all`."""
        return self._lane, partial(work, self._lane)

    def resize(self, lane: Device, num_rows: int) -> None:
        if num_rows > self.num_rows:
            self.kernels.resize(lane, self.state, num_rows)
            self.num_rows = num_rows

    def fork(self, lane: Device) -> HeldShard:
        return HeldShard(self.device, self._reader, self.kernels, self.kernels.fork(lane, self.state))

    def statistics(self, lane: Device) -> dict[str, Any]:
        tally = self.tally
        return {
            "device": self.device.name,
            **self.kernels.statistics(lane, self.state),
            "batches": tally.batches,
            "rebalances": tally.rebalances,
            "path": tally.last_path,
            "paths": dict(tally.paths),
            "seconds": tally.seconds,
        }
