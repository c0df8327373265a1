"""One shard of a store: a packed array on one device, the paths its batches took, and what they cost.

Everything that touches the array runs on the device's worker thread; the methods here that say "on the worker" are
called there, by `graph/shards.py`. Small batches are an exception: where a device can be used from the calling thread,
handing them over would take longer than they do. Where it can be had in the place of its worker, larger ones are, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from threading import Lock
from time import perf_counter
from types import ModuleType
from typing import Any, Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from graphlode.common.control import Control
from graphlode.common.store import Change, Pairs, Path, certainly_in_place, keys_of
from graphlode.execute.device import Device, kernel_module
from graphlode.execute.wait import uninterrupted
from graphlode.graph.store.cost import CostModel, Kind, Trial, trial_batches
from graphlode.types import AnyArray, BoolArray, FloatArray, Int64Array

KERNEL = "store.shard"

Strategy = Literal["auto", "in place", "merge", "rebuild", "climb"]

_SMALL = 2048  # updates that are applied where they are
_LARGE = 1 << 16  # updates beside which the time of calibrating is not noticed
_LITTLE_LONGER = 3.0  # times what a batch in place takes: a merge that leaves no gaps may
_FEWER = 0.9  # of the entries are left when a merge is asked for again
_MOST_HERE = 1 << 24  # updates that are not handed to the worker if it has nothing to do: they take a few milliseconds

# The costs of each device, of arrays without and with weights, shared by all stores that use it.
_models: WeakKeyDictionary[Device, tuple[CostModel, CostModel]] = WeakKeyDictionary()
_finding = Lock()


@dataclass(slots=True)
class Part:
    """What one shard gets of a batch, in order of time: keys, or pairs if its kernels take them.

    `deletes` and `weights` have a value for each key or pair; True deletes all pairs.
    """

    keys: AnyArray | Pairs
    deletes: BoolArray | Literal[True] | None
    weights: FloatArray | None


@dataclass(frozen=True)
class HeldShard:
    """An immutable version of a shard."""

    device: Device
    kernels: ModuleType
    state: Any


class HeldShards(NamedTuple):
    """An immutable version of a store's rows: of the shards that have any, which of them owns which slot, and where all
    shards of the store are."""

    shards: tuple[HeldShard, ...]
    owners: Int64Array
    spaces: tuple[str, ...]


@dataclass(slots=True)
class Prepared:
    """A part that is ready to be committed."""

    plan: Any
    path: Path  # that was chosen; a plan may have found that another one is better
    updates: int
    entries: int  # of the shard, before


class _Ahead(NamedTuple):
    """The path of a batch of this kind that is to come; and the one that it takes instead if writing in place is out of the
    question, or would leave too many gaps."""

    kind: Kind
    path: Path
    if_overflowing: Path
    if_thin: Path


class Shard:
    def __init__(self, name: str, device: Device, *, num_rows: int, weighted: bool, strategy: Strategy) -> None:
        self.name = name
        self.device = device
        self.kernels = kernel_module(device, KERNEL)
        self.num_rows = num_rows
        self.state: Any = None
        self.rebalances = 0
        self.batches = 0
        self.seconds = 0.0
        self.last_path = "none"
        self.paths: dict[str, int] = {}  # how often each was taken
        self._weighted = weighted
        self._strategy: Strategy = strategy
        self._model = _model(device, weighted)
        # Whether the kernels take a batch in one go, small ones on the calling thread as far as they can there.
        self._attempt: Any = getattr(self.kernels, "attempt", None)
        self.attempts = self._attempt is not None
        self._is_sparse: Any = getattr(self.kernels, "is_sparse", None)
        self._lacks_memory: Any = getattr(self.kernels, "lacks_memory", None)
        self._nearby: Any = device.nearby()
        self._chosen: Path | None = None  # by an attempt, for the batch that follows
        self._ahead: _Ahead | None = None  # of a batch to come
        self._observed: tuple[Path, int, int, float] | None = None  # what the model has not heard of yet
        self.is_writing = False  # what was done on a calling thread
        self._is_observed = False  # what is being written
        self._begun = 0.0  # when the last attempt was
        # Whether there are so many gaps that the next batch is merged, whatever that takes; and below how many entries
        # that is asked: after one that did not close them, not soon again.
        self.has_gaps = False
        self._asked_below = inf
        self.most_quick: int = getattr(self.kernels, "MOST_QUICK", 0)  # pairs that may be attempted quickly

    @property
    def takes_pairs(self) -> bool:
        """Whether the kernels check pairs of positions and make keys themselves."""
        return getattr(self.kernels, "TAKES_PAIRS", False)

    @property
    def takes_resident(self) -> bool:
        """Whether they read pairs that lie on a CUDA device."""
        return getattr(self.kernels, "TAKES_RESIDENT", False)

    def nearby(self, part: Part) -> Device | None:
        """Where the part can be applied on the calling thread; None: on the worker."""
        if self._nearby is None or part.keys.size > _SMALL:
            return None
        if self._strategy == "auto":
            known = self._model.calibrated or certainly_in_place(part.keys.size, self.kernels.num_entries(self.state))
            return self._nearby if known else None
        return self._nearby if self._strategy == "in place" else None

    def preparing_nearby(self, part: Part) -> Device | None:
        """As `nearby`, for a part that is only prepared, which takes memory."""
        return None if self.attempts else self.nearby(part)

    def attempt(self, part: Part) -> Any:
        """On any thread: the change if the part can be written where it is, else something for `apply`, or None.

        The device may still be writing then: see `wait`.
        """
        near, state, keys = self._nearby, self.state, part.keys
        if near is None:
            return None
        self._begun, self._is_observed = perf_counter(), False
        updates, entries = keys.size, self.kernels.num_entries(state)
        certainly = self._strategy == "auto" and not self.has_gaps and certainly_in_place(updates, entries)
        self._chosen = "in place" if certainly else self._known_path(part, entries)
        if self._chosen != "in place":
            return None
        found = self._attempt(
            *(near, state, keys, part.deletes, part.weights),
            meanwhile=None if certainly else partial(self._look_ahead, updates, entries),
        )
        if type(found) is Change:
            self.is_writing = True
            if not certainly:
                self._learn("in place", found, updates, entries)
            self._count(found)
        return found

    @property
    def is_quick(self) -> bool:
        """Whether pairs that lie on the device may be attempted quickly."""
        is_open = self._strategy == "auto" and self._nearby is not None
        return is_open and not self._weighted and self.most_quick > 0

    def attempt_quickly(self, rows: Any, neighbors: Any, size: int, gone: Any, stream: int | None) -> Any:
        """So many pairs on the device by the kernels' short way: the change, something for `apply`, or None."""
        self._is_observed = False
        found = self.kernels.attempt_quickly(self.state, rows, neighbors, size, gone, stream)
        if type(found) is Change:
            self.is_writing = True
            self._count(found)
        else:
            self._chosen = "in place"  # so that what is left may be done here, too
        return found

    def wait(self) -> float:
        """Until all is written; how many seconds that takes."""
        if not self.is_writing:
            return 0.0
        begun = perf_counter()
        self.kernels.wait_until_written(self._nearby)
        self.is_writing = False  # if the wait is interrupted, the next one makes good for it
        now = perf_counter()
        self.seconds += now - begun
        if self._is_observed and self._observed is not None:
            # All of it: what the host does while the device writes is in no other sum.
            self._observed = (*self._observed[:3], now - self._begun)
            self._is_observed = False
        return now - begun

    def get_ready(self) -> None:
        """For batches to come, while no batch is under way: they should not have to ask for memory."""
        if self._nearby is not None and self._lacks_memory is not None and self._lacks_memory(self.state):
            with uninterrupted():
                self.kernels.provide(self._nearby, self.state)

    def apply_here(self, part: Part, begun: Any) -> Change | None:
        """As `apply`, on the calling thread in the place of the worker, if that has nothing to do; None otherwise."""
        device = self._nearby
        if device is None or self._chosen is None or part.keys.size > _MOST_HERE or not hasattr(device, "worker_turn"):
            return None
        turn = device.worker_turn()
        if not turn.acquire(blocking=False):
            return None
        try:
            with device.current():
                return self.apply(part, Control(), begun, wait=False)
        finally:
            turn.release()

    def _known_path(self, part: Part, entries: int) -> Path | None:
        """The path to take, if that is known without trying."""
        updates = part.keys.size
        if self._strategy != "auto":
            return self._strategy
        if self.has_gaps:
            return "merge"
        if certainly_in_place(updates, entries):
            return "in place"
        return self._choose(part, entries) if entries > 0 and self._model.calibrated else None

    def _choose(self, part: Part, entries: int) -> Path:
        """By the model. A batch in place that the kernels would merge is none: it would be learned as what it is not."""
        overflows, updates = getattr(self.kernels, "overflows", None), part.keys.size
        in_place = overflows is None or not overflows(self.state, part.keys, part.deletes)
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead.kind.has(updates, entries):
            if not in_place:
                return ahead.if_overflowing
            return ahead.if_thin if ahead.path == "in place" and self._thins(part) else ahead.path
        self._tell_model()
        path = self._model.choose(updates, entries, in_place=in_place)
        return self._path_if_thin(updates, entries) if path == "in place" and self._thins(part) else path

    def _thins(self, part: Part) -> bool:
        """Whether a batch in place would leave too many gaps."""
        thins = getattr(self.kernels, "thins", None)
        return thins is not None and bool(thins(self.state, part.keys, part.deletes))

    def _path_if_thin(self, updates: int, entries: int) -> Path:
        """A merge in the place of what would leave too many gaps, if that takes little longer."""
        merge, here = (self._model.predict(way, updates, entries) for way in ("merge", "in place"))
        return "merge" if merge is not None and here is not None and merge <= _LITTLE_LONGER * here else "in place"

    def _look_ahead(self, updates: int, entries: int) -> None:
        """While the device is busy with a batch: what is to be learned of the one before, and which path the next one takes
        if it is like this one. What either takes would be noticed beside a batch."""
        with suppress(MemoryError):  # nobody must know that it is done here
            self._tell_model()
            self._choose_ahead(updates, entries)

    def _choose_ahead(self, updates: int, entries: int) -> None:
        unclear = entries > 0 and not certainly_in_place(updates, entries)
        if not unclear or self._strategy != "auto" or not self._model.calibrated:
            return
        path = if_overflowing = if_thin = self._model.choose(updates, entries)
        if path == "in place":
            if_overflowing = self._model.choose_instead(updates, entries)
            if_thin = self._path_if_thin(updates, entries)
        self._ahead = _Ahead(Kind(updates, entries), path, if_overflowing, if_thin)

    def _tell_model(self) -> None:
        observed, self._observed = self._observed, None
        if observed is not None:
            self._model.observe(*observed)

    # On the worker

    def create(self) -> None:
        self.state = self.kernels.create(self.device, num_rows=self.num_rows, weighted=self._weighted)

    def resize(self, num_rows: int) -> None:
        if num_rows > self.num_rows:
            self.kernels.resize(self.device, self.state, num_rows)
            self.num_rows = num_rows

    def prepare(self, part: Part, control: Control, device: Device | None = None) -> Prepared:
        """May fail, and changes nothing that anybody sees. `device`: one that stands for this shard's."""
        entries = self.kernels.num_entries(self.state)
        path = self._path(part, entries)
        plan = self.kernels.prepare(
            device or self.device, self.state, part.keys, part.deletes, part.weights, path=path, control=control
        )
        return Prepared(plan, path, part.keys.size, entries)

    def commit(self, prepared: Prepared) -> Change:
        change: Change = self.kernels.commit(self.device, prepared.plan)
        self._learn(prepared.path, change, prepared.updates - change.self_loops, prepared.entries)  # which cost nothing
        return self._count(change)

    def apply(self, part: Part, control: Control, begun: Any = None, *, wait: bool = True) -> Change:
        """Both phases in one go; `begun` is what an attempt has left to do. Without `wait` it may still be written then."""
        entries, size = self.kernels.num_entries(self.state), part.keys.size
        path: Path = "in place"
        if begun is not None:
            change: Change = self.kernels.finish(self.device, begun, control=control)
        else:
            path, self._chosen = self._chosen or self._path(part, entries), None
            change = self.kernels.apply(
                *(self.device, self.state, part.keys, part.deletes, part.weights),
                path=path,
                control=control,
                wait=wait,
                meanwhile=partial(self._look_ahead, size, entries),
            )
            self.is_writing = not wait
        self._learn(path, change, size, entries)
        return self._count(change)

    def _count(self, change: Change) -> Change:
        path, paths = change.path, self.paths
        self.batches += 1
        self.seconds += change.seconds
        self.rebalances += change.rebalances
        self.last_path = path
        paths[path] = paths.get(path, 0) + 1
        if self._is_sparse is not None and (change.deleted or self.has_gaps):
            self._look_for_gaps()
        return change

    def _look_for_gaps(self) -> None:
        entries = self.kernels.num_entries(self.state)
        if self.has_gaps or _FEWER * entries > self._asked_below:
            self._asked_below = inf
        is_sparse = entries < self._asked_below and self._is_sparse(self.state)
        if is_sparse and self.has_gaps:  # there was no memory for a merge, or nothing to merge, or it was of no use
            self._asked_below = _FEWER * entries
        self.has_gaps = is_sparse and not self.has_gaps

    def _learn(self, path: Path, change: Change, updates: int, entries: int) -> None:
        """What a path takes that was chosen, whatever came of it; what is chosen without asking need not be learned, nor
        what the user wants in place and is merged nevertheless."""
        is_merged = self._strategy == "in place" and change.path == "merge"
        if entries and updates > 0 and not is_merged and not certainly_in_place(updates, entries):
            self._tell_model()
            self._observed = path, updates, entries, change.seconds
            self._is_observed = self.is_writing

    def fork(self) -> HeldShard:
        return HeldShard(self.device, self.kernels, self.kernels.fork(self.device, self.state))

    def statistics(self) -> dict[str, Any]:
        found: dict[str, Any] = dict(self.kernels.statistics(self.device, self.state))
        return (
            {"device": self.device.name}
            | found
            | {
                "batches": self.batches,
                "rebalances": self.rebalances,
                "path": self.last_path,
                "paths": dict(self.paths),
                "seconds": self.seconds,
            }
        )

    # Inside

    def _path(self, part: Part, entries: int) -> Path:
        if (known := self._known_path(part, entries)) is not None:
            return known
        if (entries or part.keys.size >= _LARGE) and not self._model.calibrated:
            with suppress(MemoryError):  # there may still be enough for the batch itself
                self._model.calibrate(self._trial)
        return self._choose(part, entries)

    def _trial(self, size: int) -> Trial:
        """Timed batches on a scratch shard."""
        return _trial(self.device, self.kernels, size, self._weighted)


def _trial(device: Device, kernels: ModuleType, size: int, weighted: bool) -> Trial:
    rng = np.random.default_rng(size)
    num_rows = max(1, size // 8)
    state = kernels.create(device, num_rows=num_rows, weighted=weighted)

    def apply(updates: int, path: Path) -> float:
        keys = keys_of(*rng.integers(0, num_rows, (2, updates)))
        weights = np.ones(updates) if weighted else None
        begun = perf_counter()
        if hasattr(kernels, "apply"):
            kernels.apply(device, state, keys, None, weights, path=path, control=Control())
        else:
            kernels.commit(device, kernels.prepare(device, state, keys, None, weights, path=path, control=Control()))
        return perf_counter() - begun

    def batches() -> Iterator[tuple[Path, int, int, float]]:
        apply(size, "rebuild")
        for path, updates in trial_batches(size):
            apply(updates, path)  # the first after another path waits for memory
            entries = kernels.num_entries(state)
            yield path, updates, entries, apply(updates, path)

    return batches()


def _model(device: Device, weighted: bool) -> CostModel:
    with _finding:
        if device not in _models:
            _models[device] = (CostModel(), CostModel())
        return _models[device][weighted]
