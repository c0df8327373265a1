"""The short way of small batches on the device (store/quick.py): the same as any other way, and forgotten in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.common.store import Change
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.cuda.store import shard as packed
from graphlode.cuda.store.quick import QuickWay
from graphlode.errors import DeviceMemoryError, InputError, KernelFaultError, StateError
from graphlode.execute.devices import resolve
from graphlode.graph.store.cost import CostModel
from graphlode.types import AnyArray

N = 3000


class Quick:
    """A store whose batches lie on its device, and how those went that took the short way."""

    def __init__(
        self,
        device: str,
        monkeypatch: pytest.MonkeyPatch,
        *,
        directed: bool = True,
        weighted: bool = False,
        beside: Sequence[str] = (),
    ) -> None:
        if beside:
            monkeypatch.setattr(EmulatedDevice, "speed", 1e6)  # it leads, as a GPU does, and so has all rows
        self.store = gl.DynamicGraph(directed, devices=[device, *beside], num_vertices=N, weighted=weighted)
        self.shard = next(iter(self.store._shards))
        self._device: Any = resolve(device)[0]
        if self.shard._nearby is None:  # an emulated device is used by its worker alone
            self.shard._nearby = self.shard.device
            self.store._shards._share(self.store._shards.table)
        self.went: list[Any] = []
        run = QuickWay.run

        def noted(way: QuickWay, *args: Any) -> Any:
            found = run(way, *args)
            self.went.append(found)
            return found

        monkeypatch.setattr(QuickWay, "run", noted)

    def batch(self, src: AnyArray, dst: AnyArray, delete: Any = None) -> gl.Batch:
        if self._device.xp is np:
            return gl.Batch._on_device(src, dst, delete=delete)
        there = self._device.put({"src": src, "dst": dst})
        self._device.synchronize()  # it writes them in a stream of its own, not in the one that the batch hears of
        return gl.Batch(**there, delete=delete)

    def apply(self, src: AnyArray, dst: AnyArray, delete: Any = None) -> gl.BatchResult:
        return self.store.apply(self.batch(src, dst, delete))

    def open_way(self) -> None:
        """By batches that change nothing the second time."""
        ids = np.arange(50, dtype=np.int32)
        for _ in range(3):  # the first one finds no room for small batches
            self.apply(ids, ids + 1)
        assert self.is_open and self.went

    @property
    def is_open(self) -> bool:
        return self.shard.state.quick is not None

    @property
    def num_done(self) -> int:
        """Batches that were done on the short way."""
        return sum(type(found) is Change for found in self.went)

    def edges(self) -> set[tuple[int, int]]:
        found = self.store.snapshot().edges(indices=True)
        return set(zip(*found.T.tolist(), strict=True))


@pytest.fixture(params=["cuda-emulated", pytest.param("cuda:0", marks=pytest.mark.gpu)])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Quick]:
    def loaded(size: int = 60_000, **options: Any) -> Quick:
        quick = Quick(request.param, monkeypatch, **options)
        quick.store.insert(*np.random.default_rng(5).integers(0, N, (2, size)))
        return quick

    return loaded


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_short_way_comes_to_what_a_set_does(make: Callable[..., Quick], directed: bool, dtype: type) -> None:
    quick, rng = make(directed=directed), np.random.default_rng(11)
    known = quick.edges()
    for turn in range(60):
        size = (40, 200, 200, 250)[turn % 4]
        src, dst = rng.integers(0, N, (2, size)).astype(dtype)
        if turn % 20 >= 10:  # a hot spot, whose pages are split, and then emptied
            src[:] = 7
            dst = np.sort(dst)[::-1].copy()
        delete = True if turn % 20 in (3, 15, 17) else None
        if delete and turn % 20 > 3:
            of_seven = sorted(edge for edge in known if 7 in edge)[:size]
            src, dst = np.array(of_seven, dtype).T.copy()
        result, before = quick.apply(src, dst, delete), len(known)
        pairs = {
            (u, v) if directed else (min(u, v), max(u, v)) for u, v in zip(src.tolist(), dst.tolist(), strict=True)
        }
        named = {(u, v) for u, v in pairs if u != v}
        known = known - named if delete else known | named
        assert result.inserted - result.deleted == len(known) - before and quick.store.num_edges == len(known)
        assert set(result.paths.values()) == {"in place"}
        if turn % 6 == 5:
            quick.store.check()
            assert quick.edges() == known
    assert quick.num_done > 20
    assert any(found.rebalances for found in quick.went if type(found) is Change)


def test_pages_are_split_and_merged_on_the_short_way(make: Callable[..., Quick]) -> None:
    quick, known = make(120_000), None
    step = np.arange(N, dtype=np.int32)
    quick.open_way()
    pages = []
    for turn in range(40):  # rows are filled, each with all vertices, and emptied again
        row = np.full(600, turn % 20 // 5 * 700, np.int32)
        dst = step[1 + turn % 5 * 600 :][: 600 - (turn % 5 == 4)]
        quick.apply(row[: dst.size], dst, True if turn >= 20 else None)
        pages.append(quick.shard.state.directory.pages.size)
        if turn == 19:
            quick.store.check()
            known = quick.edges()
            quick.open_way()
    quick.store.check()
    assert known is not None and len(quick.edges()) < len(known)
    assert quick.num_done >= 34 and max(pages) > pages[0] and quick.shard.rebalances > 10


def test_larger_batches_split_pages_without_the_worker_where_that_needs_no_memory(
    make: Callable[..., Quick], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CostModel, "choose", lambda *_, in_place=True: "in place" if in_place else "merge")
    quick = make(120_000)
    left, finish = [], packed.finish
    monkeypatch.setattr(packed, "finish", lambda *given, **how: left.append(given) or finish(*given, **how))
    turns = 12
    for turn in range(turns):  # rows are filled, each with all other vertices, and emptied again
        vertex = turn // 2 * 500
        others = np.delete(np.arange(N, dtype=np.int32), vertex)
        result = quick.apply(np.full(others.size, vertex, np.int32), others, True if turn % 2 else None)
        assert result.paths[quick.shard.name] == "in place"
    quick.store.check()
    assert quick.shard.rebalances > 3 and len(left) < turns / 2


def test_a_version_closes_the_short_way_until_it_is_gone(make: Callable[..., Quick]) -> None:
    quick = make()
    ids = np.arange(50, dtype=np.int32)
    quick.open_way()
    assert quick.num_done == 1
    held, before = quick.store.snapshot(), quick.edges()
    assert not quick.is_open
    quick.apply(ids, ids + 77)
    assert not quick.is_open and set(map(tuple, held.edges(indices=True).tolist())) == before
    del held
    for _ in range(3):
        quick.apply(ids, ids + 99)
    assert quick.is_open and quick.num_done > 1
    quick.store.check()


def test_what_is_not_for_the_short_way_goes_another(make: Callable[..., Quick]) -> None:
    quick = make()
    ids = np.arange(50, dtype=np.int32)
    quick.open_way()
    done, some = quick.num_done, np.arange(50) % 2 == 0
    assert quick.apply(ids, ids + 5, some).inserted >= 0 and quick.num_done == done
    many, asked = np.arange(2500, dtype=np.int32), len(quick.went)
    quick.apply(many, many[::-1].copy())
    assert quick.num_done == done and len(quick.went) == asked
    assert quick.store.insert(ids, ids + 9).inserted >= 0  # of the host
    assert quick.apply(ids[:0], ids[:0]).inserted == 0
    assert quick.num_done == done
    quick.store.check()
    weighted = make(weighted=True)
    for _ in range(3):
        weighted.apply(ids, ids + 1)
    assert not weighted.is_open


def test_a_device_that_has_all_rows_beside_others_takes_the_short_way(make: Callable[..., Quick]) -> None:
    quick, rng = make(beside=["cpu"]), np.random.default_rng(13)
    (name, _) = quick.store.devices
    known = quick.edges()
    for turn in range(40):
        src, dst = rng.integers(0, N, (2, 150)).astype(np.int32)
        if turn % 3 == 2:
            src[:] = turn // 10
        quick.apply(src, dst)
        known |= {(u, v) for u, v in zip(src.tolist(), dst.tolist(), strict=True) if u != v}
        assert quick.store.num_edges == len(known)
    quick.store.check()
    assert quick.edges() == known
    assert quick.num_done > 10 or quick.store.shares[name] < 1024


def test_an_error_half_way_closes_the_short_way(make: Callable[..., Quick], monkeypatch: pytest.MonkeyPatch) -> None:
    quick = make(120_000)
    step, turns = np.arange(N, dtype=np.int32), iter(range(40))

    def next_batch() -> gl.BatchResult:
        turn = next(turns)
        return quick.apply(np.full(500, turn // 5 * 700, np.int32), step[1 + turn % 5 * 500 :][:500])

    def refuse(*_: Any) -> None:
        raise DeviceMemoryError("no memory for a directory")

    quick.open_way()
    while not quick.shard.state.spare or quick.shard.state.spare.described is None:
        next_batch()  # until pages can be split without memory
    version, before = quick.store.version, quick.store.num_edges
    with monkeypatch.context() as patch:
        patch.setattr(quick.shard.state, "unfilled_directory", refuse)
        with pytest.raises(DeviceMemoryError):
            while True:
                next_batch()
                version, before = quick.store.version, quick.store.num_edges
    assert quick.store.version == version and quick.store.num_edges == before
    for _ in range(5):
        next_batch()
        quick.store.check()
    assert quick.is_open


def test_a_wait_that_fails_breaks_the_store(make: Callable[..., Quick], monkeypatch: pytest.MonkeyPatch) -> None:
    quick = make()
    quick.open_way()

    def fault(*_: Any) -> None:
        raise KernelFaultError("an illegal memory access")

    monkeypatch.setattr(quick.shard.kernels, "wait_until_written", fault)
    with pytest.raises(KernelFaultError):
        quick.apply(np.arange(9), np.arange(1, 10))
    with pytest.raises(StateError, match="broke in the middle"):
        quick.apply(np.arange(9), np.arange(1, 10))
    quick.store.close()


def test_a_wait_that_is_interrupted_is_made_good_for(
    make: Callable[..., Quick], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = make()
    quick.open_way()
    waited = []
    with monkeypatch.context() as patch:
        patch.setattr(quick.shard.kernels, "wait_until_written", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            quick.apply(np.arange(9), np.arange(1, 10))
    assert quick.shard.is_writing
    wait = quick.shard.kernels.wait_until_written
    monkeypatch.setattr(quick.shard.kernels, "wait_until_written", lambda device: waited.append(wait(device)))
    assert {(8, 9), (3, 4)} <= quick.edges() and len(waited) == 1 and not quick.shard.is_writing


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def test_an_id_out_of_range_changes_nothing_on_the_short_way(make: Callable[..., Quick]) -> None:
    quick = make()
    ids = np.arange(50, dtype=np.int32)
    quick.open_way()
    done, version, before = quick.num_done, quick.store.version, quick.store.num_edges
    for wrong in (N, -1):
        bad = ids.copy()
        bad[20] = wrong
        with pytest.raises(InputError, match=f"vertex {wrong} is outside 0 .. {N - 1}"):
            quick.apply(ids, bad)
        assert not quick.is_open and quick.store.version == version and quick.store.num_edges == before
        quick.store.check()
        quick.open_way()
        version += 3
    assert quick.num_done > done
    quick.store.check()
