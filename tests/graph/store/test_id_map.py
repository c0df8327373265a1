"""The native map from ids to positions, against a dict."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlode.common.control import Control
from graphlode.common.store import MAX_ROWS
from graphlode.cpu import _native
from graphlode.cpu.store.id_map import IdMap
from graphlode.errors import InputError
from graphlode.types import AnyArray

LOWEST, HIGHEST = -(2**63), 2**63 - 1
EDGES_OF_TYPES = [0, -1, 1, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53, HIGHEST, HIGHEST - 1, LOWEST, LOWEST + 1]
IDS = st.one_of(
    st.integers(0, 12),
    st.integers(-6, 6),
    st.sampled_from(EDGES_OF_TYPES),
    st.integers(2**40, 2**40 + 12),
    st.integers(0, 100_000),
    st.integers(LOWEST, HIGHEST),
)
EDGES = st.lists(st.tuples(IDS, IDS, st.booleans()), max_size=40)


def array(values: Any, dtype: Any = np.int64) -> AnyArray:
    return np.array(values, dtype)


def admit(ids: Any, src: AnyArray, dst: AnyArray, gone: Any = None, threads: int = 1) -> Any:
    all_gone = gone is True
    return ids.admit(src, dst, None if all_gone else gone, all_gone, MAX_ROWS, threads, Control().words)


def insert(ids: Any, values: AnyArray, threads: int = 1) -> Any:
    """The positions of ids, each added by a self-loop."""
    src, _, _, _, arrival = admit(ids, values, values, threads=threads)
    if arrival is not None:
        ids.keep(arrival)
    return src


def names(ids: Any) -> list[int]:
    found = ids.names()
    return list(range(len(ids))) if found is None else found.tolist()


class Expected:
    """The expected effect of a batch, in plain Python."""

    def __init__(self, known: dict[int, int], edges: list[tuple[int, int, bool]]) -> None:
        brought = {end for u, v, is_deleted in edges if not is_deleted for end in (u, v)}
        self.known = dict(known)
        for name in sorted(brought - known.keys()):
            self.known[name] = len(self.known)
        unknown = [not {u, v} <= self.known.keys() for u, v, _ in edges]
        self.src = [0 if out else self.known[u] for (u, _, _), out in zip(edges, unknown, strict=True)]
        self.dst = [0 if out else self.known[v] for (_, v, _), out in zip(edges, unknown, strict=True)]
        self.dropped = sum(out and u != v for (u, v, _), out in zip(edges, unknown, strict=True))


@given(batches=st.lists(st.tuples(EDGES, st.booleans()), max_size=6), threads=st.integers(1, 3))
def test_batches_do_what_a_dict_does(batches: Any, threads: int) -> None:
    ids, known = IdMap(), dict[int, int]()
    for edges, is_kept in batches:
        src, dst = array([u for u, _, _ in edges]), array([v for _, v, _ in edges])
        wanted = Expected(known, edges)
        found = admit(ids, src, dst, array([gone for _, _, gone in edges], bool), threads)
        assert (found[0].tolist(), found[1].tolist()) == (wanted.src, wanted.dst)
        assert found[0].dtype == found[1].dtype == np.int32
        assert found[2:4] == (wanted.dropped, len(wanted.known))
        assert (found[4] is None) == (wanted.known == known)
        assert len(ids) == len(known) and names(ids) == list(known), "a batch that is only admitted changes nothing"
        if is_kept and found[4] is not None:
            ids.keep(found[4])
            known = wanted.known
        asked = [*src.tolist(), *dst.tolist(), *known, *EDGES_OF_TYPES]
        assert names(ids) == list(known)
        for below in (0, len(known) // 2, len(known), MAX_ROWS):
            positions = [known.get(name, -1) for name in asked]
            assert ids.find(array(asked), below).tolist() == [p if p < below else -1 for p in positions]


@given(edges=st.lists(st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(-3, 3)), max_size=30))
def test_narrow_ids_are_the_same_ids(edges: Any) -> None:
    columns = array(edges).reshape(-1, 2).T
    wide, narrow = IdMap(), IdMap()
    for found, column in ((wide, np.int64), (narrow, np.int32)):
        src, dst = (np.ascontiguousarray(ends, column) for ends in columns)
        arrival = admit(found, src, dst)[4]
        if arrival is not None:
            found.keep(arrival)
    assert names(wide) == names(narrow)


@given(edges=EDGES)
def test_deletions_alone_bring_nothing(edges: Any) -> None:
    ids = IdMap()
    insert(ids, array([3, -1, 2**40]))
    src, dst = array([u for u, _, _ in edges]), array([v for _, v, _ in edges])
    wanted = Expected({-1: 0, 3: 1, 2**40: 2}, [(u, v, True) for u, v, _ in edges])
    found = admit(ids, src, dst, True)
    assert (found[0].tolist(), found[1].tolist(), found[2], found[3]) == (wanted.src, wanted.dst, wanted.dropped, 3)
    assert found[4] is None


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("spread", ["dense", "sparse", "from dense to sparse", "from sparse to dense"])
def test_large_batches_on_several_threads_do_what_a_dict_does(spread: str, threads: int) -> None:
    rng = np.random.default_rng(7)
    dense, sparse = rng.integers(0, 150_000, (2, 100_000)), rng.integers(LOWEST, HIGHEST, (2, 100_000))
    wild = rng.integers(0, 2**22, (2, 40))
    batches = {
        "dense": [dense, dense // 2, dense * 2],
        "sparse": [sparse, sparse[::-1] + 1, sparse],
        "from dense to sparse": [dense, sparse, dense + 7],
        "from sparse to dense": [wild, np.arange(2**21).reshape(2, -1)],
    }[spread]
    ids, known = IdMap(), dict[int, int]()
    for src, dst in batches:
        gone = rng.random(src.size) < 0.2
        wanted = Expected(known, list(zip(src.tolist(), dst.tolist(), gone.tolist(), strict=True)))
        found = admit(ids, src.copy(), dst.copy(), gone, threads)
        assert np.array_equal(found[0], wanted.src) and np.array_equal(found[1], wanted.dst)
        assert found[2] == wanted.dropped
        known = wanted.known
        ids.keep(found[4])
        assert names(ids) == list(known)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", ["one id", "two ends", "few and many", "geometric", "rising", "falling"])
def test_ids_of_any_distribution_arrive_in_ascending_order(shape: str, threads: int) -> None:
    rng, size = np.random.default_rng(9), 70_000
    values = {
        "one id": np.full(size, -5),
        "two ends": np.where(rng.random(size) < 0.5, LOWEST, HIGHEST - 1000) + rng.integers(0, 1000, size),
        "few and many": np.where(rng.random(size) < 0.9, 2**60, rng.integers(LOWEST, HIGHEST, size)),
        "geometric": (-1) ** rng.integers(0, 2, size) * 2 ** rng.integers(0, 62, size) + rng.integers(0, 9, size),
        "rising": np.arange(size) * 2**44,
        "falling": np.arange(size)[::-1] * 2**44 - 2**61,
    }[shape]
    ids = IdMap()
    positions = insert(ids, values, threads)
    distinct, ranks = np.unique(values, return_inverse=True)
    assert names(ids) == distinct.tolist() and np.array_equal(positions, ranks)


def test_ids_that_are_their_positions_take_no_memory() -> None:
    ids = IdMap()
    insert(ids, np.arange(100_000))
    insert(ids, np.arange(100_000, 150_000))
    assert ids.names() is None and ids.nbytes == 0 and len(ids) == 150_000
    insert(ids, array([200_000]))
    assert names(ids) == [*range(150_000), 200_000]


@pytest.mark.parametrize("count", [10_000, 100_000, 131_072 * 3 // 2, 1_000_000])
def test_scattered_ids_take_at_most_24_bytes_each(count: int) -> None:
    ids = IdMap()
    insert(ids, np.unique(np.random.default_rng(1).integers(LOWEST, HIGHEST, count)))
    assert 12 * count <= ids.nbytes <= 24 * count


def test_dense_ids_that_arrive_in_any_order_take_no_more_than_scattered_ones() -> None:
    ids = IdMap()
    for part in np.array_split(np.random.default_rng(1).permutation(1_000_000), 20):
        insert(ids, part)
    assert ids.nbytes <= 20 * 1_000_000


@pytest.mark.parametrize("step", [1, 3, 2**10, 2**20, 2**32, 2**40, 2**44, 0x9E3779B97F4A7C15 - 2**64, -(2**43)])
def test_multiples_do_not_cluster(step: int) -> None:
    """A lookup takes no longer, within a generous factor, than for scattered ids."""
    count, times = 2**19, []
    multiples = np.arange(1, count + 1).astype(np.int64) * np.int64(step)
    for values in (np.unique(np.random.default_rng(2).integers(LOWEST, HIGHEST, count)), multiples):
        ids = IdMap()
        insert(ids, array([LOWEST + 12345]))  # no direct table
        insert(ids, values)
        times.append(min(_seconds_of(lambda: ids.find(values, MAX_ROWS)) for _ in range(5)))  # noqa: B023
    assert times[1] < 10 * times[0]


def _seconds_of(work: Any) -> float:
    from time import perf_counter

    begun = perf_counter()
    work()
    return perf_counter() - begun


def test_an_admission_is_kept_once_and_before_other_ids_arrive() -> None:
    ids = IdMap()
    first, second = (admit(ids, array([name]), array([5]))[4] for name in (7, 8))
    ids.keep(first)
    for late in (first, second):
        with pytest.raises(InputError, match="other ids have arrived"):
            ids.keep(late)
    assert names(ids) == [5, 7]


def test_an_array_of_names_does_not_change_while_it_is_held() -> None:
    ids = IdMap()
    insert(ids, array([30, 10]))
    before = ids.names()
    for begin in range(100, 5000, 700):
        insert(ids, np.arange(begin, begin + 700))
    assert before.tolist() == [10, 30] and not before.flags.writeable
    del ids
    gc.collect()
    assert before.tolist() == [10, 30]


@pytest.mark.parametrize("wrong", ["dtype", "length", "mask"])
def test_arrays_that_do_not_fit_are_refused(wrong: str) -> None:
    ids, three = IdMap(), np.arange(3)
    arguments = {
        "dtype": (three, three.astype(np.int32), None),
        "length": (three, np.arange(4), None),
        "mask": (three, three, np.zeros(2, bool)),
    }[wrong]
    with pytest.raises((TypeError, ValueError)):
        admit(ids, *arguments)


def test_more_vertices_than_there_may_be_are_counted_and_nothing_else() -> None:
    ids = IdMap()
    insert(ids, array([1, 2]))
    found = ids.admit(array([5]), array([6]), None, False, 3, 1, Control().words)
    assert found[3] == 4 and len(ids) == 2


def test_a_stop_takes_effect() -> None:
    control = Control()
    control.stop()
    with pytest.raises(InterruptedError):
        IdMap().admit(np.arange(10), np.arange(10), None, False, MAX_ROWS, 1, control.words)


@pytest.mark.parametrize("spread", ["plain", "dense", "sparse", "from dense to sparse"])
def test_readers_find_what_was_there_while_batches_arrive(spread: str) -> None:
    rng = np.random.default_rng(3)
    size = 60_000
    order = {
        "plain": np.arange(size),
        "dense": rng.permutation(size),
        "sparse": rng.permutation(np.unique(rng.integers(LOWEST, HIGHEST, size))),
        "from dense to sparse": np.concatenate([np.arange(size // 2), rng.integers(2**40, 2**60, size // 2)]),
    }[spread]
    pieces = [np.sort(piece) for piece in np.array_split(order, 300)]
    arrival_order, ends = np.concatenate(pieces), np.cumsum([piece.size for piece in pieces])
    ids, there, faults = IdMap(), [0], list[str]()
    done = threading.Event()

    def read(seed: int) -> None:
        pick = np.random.default_rng(seed)
        while not done.is_set():
            below = int(ends[pick.integers(0, there[0])]) if there[0] else 0
            asked = pick.integers(0, arrival_order.size, 200)
            found = ids.find(arrival_order[asked], below)
            if not np.array_equal(found, np.where(asked < below, asked, -1)):
                faults.append(f"wrong below {below}")
                return
            known = ids.names()
            if known is not None and not np.array_equal(known[:below], arrival_order[:below]):
                faults.append(f"wrong names below {below}")
                return

    readers = [threading.Thread(target=read, args=(seed,)) for seed in range(3)]
    for reader in readers:
        reader.start()
    try:
        for number, piece in enumerate(pieces, 1):
            insert(ids, piece, threads=1 + number % 2)
            there[0] = number
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert not faults and len(ids) == arrival_order.size


@pytest.mark.parametrize("before", [[], list(range(500)), [2**50, -4], list(range(0, 3000, 2))], ids=len)
@pytest.mark.parametrize("spread", ["dense", "sparse"])
def test_each_allocation_of_an_admission_may_fail(before: list[int], spread: str) -> None:
    ids = IdMap()
    insert(ids, array(before))
    known = names(ids)
    new = np.arange(4000) if spread == "dense" else np.random.default_rng(0).integers(LOWEST, HIGHEST, 4000)
    gc.collect()
    live, failures, found = _native.live_bytes(), 0, None
    while found is None:
        _native.fail_allocation(failures + 1)
        try:
            found = admit(ids, new, new[::-1].copy())
        except MemoryError:
            failures += 1
            assert names(ids) == known and _native.live_bytes() == live
        finally:
            _native.fail_allocation(0)
    assert failures >= 4
    _native.fail_allocation(1)  # `keep` allocates none
    try:
        ids.keep(found[4])
    finally:
        _native.fail_allocation(0)
    assert names(ids) == known + sorted(set(new.tolist()) - set(known))
    assert np.array_equal(ids.find(new, MAX_ROWS), found[0])
