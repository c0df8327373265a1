"""The store: a graph that changes by batches, on one device or spread over several.

Batches change the shards (`shards.py`); readers get snapshots (`snapshot.py`). There is one writer at a time. A reader
gets a snapshot without waiting if there is one of the current version. If threads other than the writer read, the store
makes a snapshot after every batch, so readers have one while the next batch is prepared. If only the writer reads, the
store drops its last snapshot when a batch begins, so no page is copied for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock, get_ident
from time import perf_counter
from traceback import clear_frames
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, get_args, overload
from weakref import ReferenceType, ref

import numpy as np

from graphlode.common.fork import renew_after_fork
from graphlode.common.store import MAX_ROWS, Change, Pairs
from graphlode.common.wait import Interrupts
from graphlode.errors import DeviceMemoryError, InputError, StateError
from graphlode.execute.device import Device
from graphlode.execute.devices import Devices, canonical, resolve
from graphlode.execute.run import Shares
from graphlode.execute.shares import weights_from
from graphlode.graph.store.batch import Batch, BatchResult, Updates
from graphlode.graph.store.ids import Admission, VertexIds
from graphlode.graph.store.shard import Part, Strategy
from graphlode.graph.store.shards import Shards
from graphlode.graph.store.snapshot import Moment, Snapshot
from graphlode.types import AnyArray, Int64Array

_PATIENCE = 0.002  # seconds between two looks whether a batch has published a snapshot


class Applied(NamedTuple):
    """A batch that was applied."""

    change: Change
    paths: Mapping[str, str]  # by shard
    dropped: int  # deletions of ids that the store does not know


class DynamicGraph:
    """A simple graph that keeps changing: batches of edges in, snapshots out.

    Parameters ---------- directed Whether `(u, v)` and `(v, u)` are two edges. An undirected edge is kept in both
    directions. num_vertices If given, the vertices are 0 .. num_vertices - 1 and any other id is an InputError. If not,
    vertices are the ids that insertions name, any 64-bit integers, in order of arrival (those of one batch ascending).
    weighted Whether edges have weights; an edge that is inserted without one has the weight 1, one that is inserted
    again gets the new weight. devices Where the rows are kept: a name or several, as operations take them; a name that
    comes twice has two shards. shares How many rows each device gets, in proportion: weights by name, or "auto". Then a
    device that is much faster than the others gets all rows; otherwise shares follow the rates that batches show.
    strategy How batches are written: "auto" chooses for every batch and shard by its size; the others ("in place",
    "merge", "climb") are for comparison.

    Every batch makes one version. It is applied as a whole or, if anything fails, not at all. Batches may come from any
    thread, one at a time; every operation takes the store and sees its newest snapshot.

    >>> import graphlode as gl
    >>> store = gl.DynamicGraph(devices="cpu")
    >>> store.insert([1, 2, 3], [2, 3, 1]).inserted
    3
    >>> before = store.snapshot()
    >>> store.delete([1], [2]).deleted
    1
    >>> before.num_edges, store.num_edges, store.version
    (3, 2, 2)
    """

    def __init__(
        self,
        directed: bool = False,
        *,
        num_vertices: int | None = None,
        weighted: bool = False,
        devices: Devices = "auto",
        shares: Shares = "auto",
        strategy: Strategy = "auto",
    ) -> None:
        if strategy not in get_args(Strategy):
            raise InputError(f"a strategy is one of {', '.join(get_args(Strategy))}, got {strategy!r}")
        size = _checked_size(num_vertices)
        chosen = resolve(devices)
        names = [device.name for device in chosen]
        self._directed = bool(directed)
        self._weighted = bool(weighted)
        self._devices = tuple(names)
        self._ids = VertexIds(size)
        self._moment = Moment(num_vertices=len(self._ids))
        with _room_for(size, chosen):
            self._shards = Shards(
                chosen,
                num_rows=1024 if size is None else size,
                weighted=self._weighted,
                strategy=strategy,
                weights=None if shares == "auto" else weights_from(shares, names, canonical),
            )
        self._lock: Lock | _LockOfParent = Lock()
        self._closed = False
        self._latest: Snapshot | None = None  # of the present version, for the next reader
        self._last_made: ReferenceType[Snapshot] | None = None
        self._writer = get_ident()
        self._read_elsewhere = False  # since the last batch, by another thread than the one that writes
        renew_after_fork(self, DynamicGraph._leave_to_parent)

    # What it is

    @property
    def directed(self) -> bool:
        return self._directed

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self._weighted

    @property
    def num_vertices(self) -> int:
        return self._moment.num_vertices

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected edge counts once."""
        return self._edges(self._moment.num_entries)

    @property
    def version(self) -> int:
        """How many batches have been applied."""
        return self._moment.version

    @property
    def devices(self) -> tuple[str, ...]:
        """The device of each shard."""
        return self._devices

    @property
    def shares(self) -> Mapping[str, int]:
        """How many of the 1,024 buckets that rows fall into each device owns."""
        buckets: dict[str, int] = dict.fromkeys(self._devices, 0)
        for name, count in zip(self._devices, self._shards.table.counts(), strict=True):
            buckets[name] += count
        return MappingProxyType(buckets)

    @property
    def ids(self) -> Int64Array:
        """The original id of each vertex, in order of arrival."""
        return self.snapshot().ids

    # Batches

    def insert(self, src: Any, dst: Any = None, weights: Any = None) -> BatchResult:
        """Insert edges; those that are there stay, with the new weight if there are weights."""
        return self._apply(Batch(src, dst, weights))

    def delete(self, src: Any, dst: Any = None) -> BatchResult:
        """Delete edges; those that are not there change nothing. Vertices stay."""
        return self._apply(Batch(src, dst, delete=True))

    @overload
    def apply(self, batch: Batch) -> BatchResult: ...
    @overload
    def apply(self, batch: Iterable[Batch]) -> list[BatchResult]: ...
    def apply(self, batch: Batch | Iterable[Batch]) -> BatchResult | list[BatchResult]:
        """Apply one batch, or several one after another, each of which makes a version of its own.

        If one of several fails, those before it stay applied, and `version` shows how many. A list or a tuple with
        anything but batches is refused before the first is applied; other iterables are read one batch at a time.
        """
        if isinstance(batch, Batch):
            return self._apply(batch)
        if not isinstance(batch, Iterable):
            raise InputError(f"apply takes a Batch or several, got {type(batch)!r}")
        if isinstance(batch, list | tuple):
            for one in batch:
                _a_batch(one)
        return [self._apply(_a_batch(one)) for one in batch]

    def rebalance(self, shares: Shares = "auto") -> int:
        """Move rows between the devices; returns how many of the 1,024 buckets moved.

        `shares` are weights by device name. "auto" takes the rates that the devices have shown in batches or, before
        that, their nominal speeds. The graph, its version and its snapshots stay as they are.
        """
        with self._lock:
            self._require_open()
            if shares == "auto":
                return self._shards.even_out()
            return self._shards.move(weights_from(shares, self._devices, canonical))

    # Questions

    def snapshot(self) -> Snapshot:
        """The graph as it is now, immutable. The same object as long as nothing changes. Cost: linear in the pages."""
        if get_ident() != self._writer:
            self._read_elsewhere = True
        while (latest := self._latest) is None or self._closed:
            # A batch in progress may publish one, or end and let this thread make it.
            with Interrupts():
                if self._lock.acquire(timeout=_PATIENCE):
                    try:
                        self._require_open()
                        return self._latest or self._publish()
                    finally:
                        self._lock.release()
        return latest

    def has_edge(self, u: int, v: int) -> bool:
        """Whether the edge is there; false if a vertex is not in the graph. What is no integer is an InputError."""
        return self.snapshot().has_edge(u, v)

    def degrees(self) -> Int64Array:
        """Degree of each vertex (out-degree if directed), in the order of `ids`."""
        return self.snapshot().degrees()

    def neighbors(self, vertex: int) -> AnyArray:
        """Neighbors of a vertex (successors if directed), in the order of `ids`."""
        return self.snapshot().neighbors(vertex)

    def weight(self, u: int, v: int) -> float:
        """The weight of an edge; 1 if the store has no weights. An edge that is not there is an InputError."""
        return self.snapshot().weight(u, v)

    def memory_usage(self) -> dict[str, int]:
        """Bytes by shard, and those of the ids under "ids"."""
        with self._lock:
            self._require_open()
            return self._shards.memory() | {"ids": self._ids.nbytes}

    def statistics(self) -> dict[str, dict[str, Any]]:
        """By shard: entries, capacity, the density of the fullest window of each level, rebalances, paths and
        seconds."""
        with self._lock:
            self._require_open()
            return self._shards.statistics()

    def check(self) -> None:
        """Check all invariants of every shard. AssertionError names a broken one. For tests and debugging."""
        with self._lock:
            self._require_open()
            self._shards.check()
            entries = sum(shard["entries"] for shard in self._shards.statistics().values())
            assert entries == self._moment.num_entries, "the number of edges is wrong"

    # Python protocols

    def close(self) -> None:
        """Release the memory of the store. Snapshots stay valid. A second call has no effect, nor has one in a forked child."""
        if isinstance(self._lock, _LockOfParent):
            return
        with self._lock:
            self._closed = True
            self._latest = None
            self._shards.release()

    def __enter__(self) -> DynamicGraph:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return self.num_vertices

    def __contains__(self, vertex: object) -> bool:
        return vertex in self.snapshot()

    def __repr__(self) -> str:
        kind = ("directed" if self._directed else "undirected") + ", weights" * self._weighted
        sizes = f"{self.num_vertices:,} vertices, {self.num_edges:,} edges, {kind}"
        where = "closed" if self._closed else f"version {self.version} on {' + '.join(self._devices)}"
        return f"<graphlode.DynamicGraph: {sizes}, {where}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        # A TypeError, as for all objects that cannot be pickled: callers may catch it.
        raise TypeError(
            "a store cannot be pickled or copied, since its rows lie on devices; pickle store.snapshot() instead, which "
            "travels as a plain Graph, and insert the edges() of that into a new store"
        )

    # Inside

    def _apply(self, batch: Batch) -> BatchResult:
        begun = perf_counter()
        if batch.given.weights is not None and not self._weighted:
            raise InputError("the batch has weights, but the store has none; make it with weighted=True")
        with self._lock:
            self._require_open()
            self._writer = get_ident()
            before = self._moment.version
            try:
                try:
                    applied = self._apply_once(batch)
                except MemoryError as error:
                    applied = self._apply_relieved(batch, error)
                self._shards.settle()
                result = self._result(batch.given.size, applied, begun)
                if self._read_elsewhere:
                    self._read_elsewhere = False
                    self._publish()
            except KeyboardInterrupt as error:
                now = self._moment.version
                error.add_note(f"the batch was {'' if now > before else 'not '}applied; the store is at version {now}")
                raise
        return result

    def _apply_once(self, batch: Batch) -> Applied:
        """One try, which changes nothing if it fails."""
        if batch.resident and not (self._ids.fixed and self._shards.takes_resident):
            batch = batch.on_host()
        admission = None
        if not self._ids.fixed:
            admission = self._ids.admit(batch.given.src, batch.given.dst, batch.given.gone)
            self._shards.grow(admission.num_vertices)
        part = self._part(batch, admission)
        if not self._read_elsewhere:
            self._latest = None  # unless a reader holds it, its pages need no copies
        try:
            change, paths = self._shards.apply(part, partial(self._happened, admission))
        except InputError:
            if admission is None:
                self._require(batch.on_host().given)  # its error names the vertex
            raise
        return Applied(change, paths, 0 if admission is None else admission.dropped)

    def _apply_relieved(self, batch: Batch, error: MemoryError) -> Applied:
        """Apply a batch for which a device had no memory: other devices take some of its rows until there is room."""
        _release_frames(error)
        while self._shards.relieve():
            try:
                return self._apply_once(batch)
            except MemoryError as another:
                _release_frames(another)
                error = another
        raise error

    def _part(self, batch: Batch, admission: Admission | None) -> Part:
        """The batch by positions. If ids are positions, the shards check them."""
        src, dst, weights, gone, size, *_ = batch.given
        num_vertices = self._moment.num_vertices
        if admission is not None:
            # Position 0 stands for ids that the store does not know, even if it knows none.
            src, dst, num_vertices = admission.src, admission.dst, max(1, admission.num_vertices)
        elif not batch.resident and src.dtype != dst.dtype:
            src, dst = src.astype(np.int64), dst.astype(np.int64)
        if self._weighted and weights is None:
            weights = np.ones(size)
        pairs = Pairs(src, dst, size, num_vertices, not self._directed, batch.resident, batch.stream)
        return Part(pairs, gone, weights)

    def _require(self, given: Updates) -> None:
        for ids in (given.src, given.dst):
            self._ids.require(ids)

    def _happened(self, admission: Admission | None, change: Change) -> None:
        """Record that the batch is applied. Called when the last shard has committed, on any thread."""
        version, num_vertices, num_entries = self._moment
        if admission is not None:
            self._ids.keep(admission)
            num_vertices = len(self._ids)
        self._moment = Moment(version + 1, num_vertices, num_entries + change.inserted - change.deleted)
        self._latest = None

    def _result(self, size: int, applied: Applied, begun: float) -> BatchResult:
        """`size` is the number of edges that were given."""
        (inserted, deleted, changed, *_), self_loops = applied.change, applied.change.self_loops
        if not self._directed:
            inserted, deleted, changed, self_loops = inserted // 2, deleted // 2, changed // 2, self_loops // 2
        paths = applied.paths if self_loops < size else {}  # otherwise no shard had a part in it
        self_loops -= applied.dropped  # the shards count these among self-loops
        unchanged = size - self_loops - inserted - deleted - changed
        seconds = perf_counter() - begun
        return BatchResult(self._moment.version, inserted, deleted, changed, unchanged, self_loops, paths, seconds)

    def _publish(self) -> Snapshot:
        """Make a snapshot of the current version, also for the next reader. The caller holds the lock."""
        made = None if self._last_made is None else self._last_made()
        if made is None or made.version != self._moment.version:
            made = Snapshot._of_store(
                self._shards.fork(),
                self._ids,
                self._moment,
                directed=self._directed,
                weighted=self._weighted,
            )
            self._last_made = ref(made)
        self._latest = made
        return made

    def _edges(self, entries: int) -> int:
        return entries if self._directed else entries // 2

    def _leave_to_parent(self) -> None:
        """In a forked child, where a batch of another thread may have stopped half way."""
        self._lock = _LockOfParent()
        self._latest = None

    def _require_open(self) -> None:
        if self._closed:
            raise StateError("the store is closed")
        if self._shards.broken:
            raise StateError("a device broke in the middle of a batch; make a new store from the last snapshot")


class _LockOfParent:
    """Takes the place of a store's lock in a forked child."""

    def acquire(self, timeout: float = -1) -> bool:
        raise StateError(
            "this store belongs to the process that made it, and a forked child cannot use it; take a snapshot before "
            "the fork, which the child can read, or make a new store in the child"
        )

    def release(self) -> None:
        """It is never acquired."""

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


def _release_frames(error: BaseException | None) -> None:
    """Release the objects in the frames of an error: they hold memory that is needed."""
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__context__


@contextmanager
def _room_for(num_vertices: int | None, devices: Sequence[Device]) -> Iterator[None]:
    """Raise an error that names `num_vertices` if that is too large."""
    try:
        yield
    except MemoryError as error:
        if num_vertices is None:
            raise
        by_name = {device.name: device.memory().free for device in devices}
        free = ", ".join(f"{name} has {size:,} free" for name, size in by_name.items())
        raise DeviceMemoryError(
            f"num_vertices={num_vertices:,} needs more than {4 * num_vertices:,} bytes on each shard, "
            f"which could not be allocated ({free}, the process may be limited to less); leave num_vertices out to keep only "
            "the vertices that occur"
        ) from error


def _checked_size(num_vertices: Any) -> int | None:
    if num_vertices is None:
        return None
    if not isinstance(num_vertices, int | np.integer) or not 0 <= num_vertices <= MAX_ROWS:
        raise InputError(f"num_vertices must be an integer from 0 to {MAX_ROWS:,}, got {num_vertices!r}")
    return int(num_vertices)


def _a_batch(given: Any) -> Batch:
    if not isinstance(given, Batch):
        raise InputError(f"apply takes a Batch or several, got one of {type(given)!r}")
    return given
