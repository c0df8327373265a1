"""The store: a graph that changes by batches, on one device or spread over several.

Batches go through the shards (`graph/shards.py`); whoever reads gets a snapshot (`graph/snapshot.py`). There is one
writer at a time. Readers take a snapshot without waiting if there is one of the present version. A store that is read
from other threads than it is written from takes one after every batch, so that its readers have one while the next is
prepared; one that is not gives its last snapshot up when a batch begins, so that pages need not be copied for nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock, get_ident
from time import perf_counter
from traceback import clear_frames
from types import MappingProxyType, TracebackType
from typing import Any, get_args, overload
from weakref import ReferenceType, ref

import numpy as np

from graphlode.common.store import MAX_ROWS, Change, Pairs
from graphlode.errors import DeviceMemoryError, InputError, StateError
from graphlode.execute.device import Device
from graphlode.execute.devices import Devices, canonical, resolve
from graphlode.execute.run import Shares
from graphlode.execute.shares import weights_from
from graphlode.graph.store.balance import first_weights
from graphlode.graph.store.batch import Batch, BatchResult, Updates
from graphlode.graph.store.ids import Admission, VertexIds
from graphlode.graph.store.shard import Strategy
from graphlode.graph.store.shards import Shards
from graphlode.graph.store.snapshot import Moment, Snapshot
from graphlode.types import AnyArray, BoolArray, FloatArray, Int64Array

_PATIENCE = 0.002  # seconds between two looks whether a batch has published a snapshot


class DynamicGraph:
    """A simple graph that keeps changing: batches of edges in, snapshots out.

    Parameters
    ----------
    directed
        Whether `(u, v)` and `(v, u)` are two edges. An undirected edge is kept in both directions.
    num_vertices
        If given, the vertices are 0 .. num_vertices - 1 and any other id is an InputError. If not, vertices are the ids
        that insertions name, any 64-bit integers, in order of arrival (those of one batch ascending).
    weighted
        Whether edges have weights; an edge that is inserted without one has the weight 1, one that is inserted again
        gets the new weight.
    devices
        Where the rows are kept: a name or several, as operations take them; a name that comes twice has two shards.
    shares
        How many rows each device gets, in proportion: weights by name, or "auto", which measures the batches and moves
        rows so that all devices finish together.
    strategy
        How batches are written: "auto" chooses for every batch and shard by measured cost; the others ("in place",
        "merge", "rebuild", "climb") are for comparison.

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
        self._fixed = self._ids.fixed
        self._moment = Moment(num_vertices=len(self._ids))
        with _room_for(size, chosen):
            self._shards = Shards(
                chosen,
                num_rows=1024 if size is None else size,
                weighted=self._weighted,
                strategy=strategy,
                weights=first_weights([device.speed for device in chosen])
                if shares == "auto"
                else weights_from(shares, names, canonical),
                automatic=shares == "auto",
            )
        self._lock = Lock()
        self._closed = False
        self._latest: Snapshot | None = None  # of the present version, for whoever asks next
        self._last_made: ReferenceType[Snapshot] | None = None
        self._writer = get_ident()
        self._read_elsewhere = False  # since the last batch, by another thread than the one that writes

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
        """How many of the 1,024 slots that rows fall into each device owns."""
        slots: dict[str, int] = dict.fromkeys(self._devices, 0)
        for name, count in zip(self._devices, self._shards.table.counts(), strict=True):
            slots[name] += count
        return MappingProxyType(slots)

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

        If one of several fails, those before it stay applied; `version` tells how far it came. A list or a tuple that
        holds anything but batches is refused before the first is applied; other iterables are taken one at a time.
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
        """Move rows between the devices; returns how many of the 1,024 slots moved.

        `shares` are weights by device name; "auto" evens out what the devices have shown so far, or what is known of
        their speed if that is little. The graph, its version and its snapshots stay what they are.
        """
        with self._lock:
            self._require_open()
            if shares == "auto":
                return self._shards.even_out()
            weights = weights_from(shares, self._devices, canonical)
            return self._shards.move(weights, hysteresis=0.0)

    # Questions

    def snapshot(self) -> Snapshot:
        """The graph as it is now, immutable. The same object as long as nothing changes. Cost: linear in the pages."""
        if get_ident() != self._writer:
            self._read_elsewhere = True
        while (latest := self._latest) is None or self._closed:
            # A batch in progress may publish one, or end and let us make it.
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
        """For each shard: entries, capacity, by level the density of the fullest window, rebalances, paths taken and
        seconds spent."""
        with self._lock:
            self._require_open()
            return self._shards.statistics()

    def check(self) -> None:
        """Compare every shard with what must hold of it; AssertionError says what does not. For tests and doubt."""
        with self._lock:
            self._require_open()
            self._shards.check()
            entries = sum(shard["entries"] for shard in self._shards.statistics().values())
            assert entries == self._moment.num_entries, "the number of edges is wrong"

    # Python manners

    def close(self) -> None:
        """Give the store's memory back; snapshots stay valid. Closing twice is once."""
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
        # As of anything else that cannot be pickled: whoever tries it and does without catches a TypeError.
        raise TypeError(
            "a store cannot be pickled or copied, since its rows lie on devices; pickle store.snapshot() instead, which "
            "travels as a plain Graph, and insert the edges() of that into a new store"
        )

    # Inside

    def _apply(self, batch: Batch) -> BatchResult:
        begun = perf_counter()
        if batch.given.weights is not None and not self._weighted:
            raise InputError("the batch has weights, but the store has none; make it with weighted=True")
        shards = self._shards
        with self._lock:
            if self._closed or shards.broken:
                self._require_open()
            self._writer = get_ident()
            try:
                result = self._apply_once(batch)
            except MemoryError as error:
                result = self._apply_relieved(batch, error)
            if shards.settles:
                shards.settle()
            result.__dict__["seconds"] = perf_counter() - begun
            if self._read_elsewhere:
                self._read_elsewhere = False
                self._publish()
        return result

    def _apply_once(self, batch: Batch) -> BatchResult:
        shards = self._shards
        try:
            if batch.resident and not (self._fixed and shards.takes_resident):
                batch = batch.on_host()
            admission = None if self._fixed else self._admitted(batch.given)
            if shards.takes_pairs:
                change, paths = self._apply_pairs(batch, admission)
                return self._result(batch.given, change, paths, 0 if admission is None else admission.dropped)
            change, paths = self._apply_keys(batch, admission)
            return self._result(batch.sifted, change, paths)
        finally:
            shards.wait()

    def _apply_relieved(self, batch: Batch, error: MemoryError) -> BatchResult:
        """A batch for which a device had no memory, when others have taken as many of its rows as need be."""
        _let_go(error)
        while self._shards.relieve():
            try:
                return self._apply_once(batch)
            except MemoryError as another:
                _let_go(another)
                error = another
        raise error

    def _admitted(self, given: Updates) -> Admission:
        """The positions of a batch, and room for the vertices that it brings."""
        admission = self._ids.admit(given.src, given.dst, given.gone)
        self._shards.grow(admission.num_vertices)
        return admission

    def _apply_keys(self, batch: Batch, admission: Admission | None) -> tuple[Change, Mapping[str, str]]:
        """Checked and located on the host."""
        keys, deletes, weights = self._entries(*self._located(batch, admission))
        if not self._read_elsewhere:
            self._latest = None  # if nobody else holds it, its pages need no copies
        return self._shards.apply(keys, deletes, weights, partial(self._happened, admission=admission))

    def _apply_pairs(self, batch: Batch, admission: Admission | None) -> tuple[Change, Mapping[str, str]]:
        """Checked where it is applied. If ids are positions, there is nothing to locate."""
        shards, resident, stream = self._shards, batch.resident, batch.stream
        src, dst, weights, gone, size, *_ = batch.given
        num_vertices, happened = self._moment.num_vertices, self._happened
        if admission is not None:
            src, dst, num_vertices = admission.src, admission.dst, admission.num_vertices
            if admission.arrival is not None:
                happened = partial(self._happened, admission=admission)
        if not self._read_elsewhere:
            self._latest = None  # as for keys
        begun: Any = None
        try:
            if resident and (quick := shards.quick) is not None:
                begun = shards.attempt_quickly(src, dst, size, gone, stream, happened)
                if type(begun) is Change:
                    return begun, shards.paths_of_one(quick, begun)
            if not resident and src.dtype != dst.dtype:
                src, dst = src.astype(np.int64), dst.astype(np.int64)
            weights = np.ones(size) if self._weighted and weights is None else weights
            pairs = Pairs(src, dst, size, num_vertices, not self._directed, resident, stream)
            return shards.apply(pairs, gone, weights, happened, begun)
        except InputError:
            if self._fixed:
                self._require(batch.on_host().given)  # to say which id it is
            raise

    def _located(
        self, batch: Batch, admission: Admission | None
    ) -> tuple[AnyArray, AnyArray, BoolArray | None, FloatArray | None]:
        """The batch by positions. Self-loops and deletions of vertices that are not there are left out."""
        if admission is None:
            self._require(batch.given)
            return batch.src, batch.dst, batch.delete, batch.weights
        tails, heads = admission.src, admission.dst
        _, _, weights, gone, size, *_ = batch.given
        deletes = np.ones(size, bool) if gone is True else gone
        kept = tails != heads
        if not kept.all():
            tails, heads = tails[kept], heads[kept]
            deletes = None if deletes is None else deletes[kept]
            weights = None if weights is None else weights[kept]
        return tails, heads, deletes, weights

    def _require(self, given: Updates) -> None:
        for ids in (given.src, given.dst):
            self._ids.require(ids)

    def _entries(
        self, tails: AnyArray, heads: AnyArray, deletes: BoolArray | None, weights: FloatArray | None
    ) -> tuple[AnyArray, BoolArray | None, FloatArray | None]:
        """Keys in order of time; both directions of an undirected edge, next to each other."""
        if self._weighted and weights is None:
            weights = np.ones(tails.size)
        if self._directed:
            return _keys(tails, heads).view(np.uint64), deletes, weights
        both: Int64Array = np.empty((tails.size, 2), np.int64)
        both[:, 0] = _keys(tails, heads)
        both[:, 1] = _keys(heads, tails)
        return (
            both.reshape(-1).view(np.uint64),
            None if deletes is None else np.repeat(deletes, 2),
            None if weights is None else np.repeat(weights, 2),
        )

    def _happened(self, change: Change, admission: Admission | None = None) -> None:
        """The batch is there: say so. Called when the last shard has committed, on any thread."""
        version, num_vertices, num_entries = self._moment
        if admission is not None:
            self._ids.keep(admission)
            num_vertices = len(self._ids)
        self._moment = Moment(version + 1, num_vertices, num_entries + change.inserted - change.deleted)
        self._latest = None

    def _result(self, applied: Updates, change: Change, paths: Mapping[str, str], dropped: int = 0) -> BatchResult:
        """All but the seconds, which are not over. The shards count edges that were dropped among self-loops."""
        inserted, deleted, changed, self_loops = change.inserted, change.deleted, change.changed, change.self_loops
        if not self._directed:
            inserted, deleted, changed, self_loops = inserted // 2, deleted // 2, changed // 2, self_loops // 2
        paths = paths if self_loops < applied.size else {}  # nothing was left for a shard
        self_loops -= dropped
        unchanged = applied.size - self_loops - inserted - deleted - changed
        self_loops += applied.self_loops
        return BatchResult(self._moment.version, inserted, deleted, changed, unchanged, self_loops, paths)

    def _publish(self) -> Snapshot:
        """A snapshot of the present version, also for the next who asks. With the lock."""
        made = None if self._last_made is None else self._last_made()
        if made is None or made.version != self._moment.version:
            made = Snapshot(
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

    def _require_open(self) -> None:
        if self._closed:
            raise StateError("the store is closed")
        if self._shards.broken:
            raise StateError("a device broke in the middle of a batch; make a new store from the last snapshot")


def _let_go(error: BaseException | None) -> None:
    """Of what those held who were at work when it happened: it takes the memory that they were short of."""
    while error is not None:
        clear_frames(error.__traceback__)
        error = error.__context__


def _keys(tails: AnyArray, heads: AnyArray) -> Int64Array:
    keys: Int64Array = np.left_shift(tails, 32, dtype=np.int64)
    keys |= heads
    return keys


@contextmanager
def _room_for(num_vertices: int | None, devices: Sequence[Device]) -> Iterator[None]:
    """Say what is too large where it is the number of vertices."""
    try:
        yield
    except MemoryError as error:
        if num_vertices is None:
            raise
        by_name = {device.name: device.memory().free for device in devices}
        free = ", ".join(f"{name} has {size:,} free" for name, size in by_name.items())
        raise DeviceMemoryError(
            f"num_vertices={num_vertices:,} needs more than {4 * num_vertices:,} bytes on each shard, which could not be had "
            f"({free}, the process may be limited to less); leave num_vertices out to keep only the vertices that occur"
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
