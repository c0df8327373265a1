"""Several shards: whole rows on one of them, batches that all take or none, slots that move."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import sleep
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.common.control import Control
from graphlode.common.store import Change, Path
from graphlode.cuda.emulation.device import EmulatedDevice
from graphlode.errors import DeviceMemoryError, InputError, StateError
from graphlode.execute.device import kernel_module
from graphlode.execute.devices import resolve
from graphlode.execute.shares import NUM_SLOTS
from graphlode.graph.store import balance
from graphlode.graph.store.cost import CHOICES, CostModel
from graphlode.graph.store.shard import KERNEL, _trial
from stores import even, mixes, several


@pytest.fixture(params=[*mixes(several), pytest.param(["reference"] * 4, id="four reference")])
def mix(request: pytest.FixtureRequest) -> list[str]:
    return request.param


def filled(devices: list[str], **options: Any) -> gl.DynamicGraph:
    src, dst = np.random.default_rng(2).integers(0, 400, (2, 3000))
    store = gl.DynamicGraph(devices=devices, shares=even(devices), **options)
    store.insert(src * 3, dst * 3, *([np.arange(3000) / 8] if options.get("weighted") else []))
    return store


def broken_at(store: gl.DynamicGraph, number: int, **functions: Callable[..., Any]) -> None:
    """Replace kernel functions of one shard."""
    shard = list(store._shards)[number]
    shard.kernels = SimpleNamespace(**{**vars(shard.kernels), **functions})


def fail(*arguments: Any, **options: Any) -> Any:
    raise DeviceMemoryError("no memory left on this one")


@pytest.mark.parametrize("number", [0, 1])
def test_a_batch_that_one_shard_cannot_take_changes_nothing_anywhere(mix: list[str], number: int) -> None:
    store = filled(mix)
    before, memory = store.snapshot(), store.num_vertices
    kernels = list(store._shards)[number].kernels
    broken_at(store, number, prepare=fail)
    with pytest.raises(DeviceMemoryError, match="no memory left"):
        store.apply(gl.Batch(np.arange(300), np.arange(300) + 5000, delete=np.arange(300) % 3 == 0))
    assert store.version == 1 and store.snapshot() is before and store.num_vertices == memory and 5001 not in store
    list(store._shards)[number].kernels = kernels
    store.check()
    assert store.snapshot() == before and store.insert([5001], [5002]).version == 2
    store.check()


def test_an_undirected_edge_is_in_both_rows_whoever_owns_them(mix: list[str]) -> None:
    store = filled(mix)
    matrix = store.snapshot().to_scipy()
    assert (matrix != matrix.T).nnz == 0
    entries = [shard["entries"] for shard in store.statistics().values()]
    assert sum(entries) == 2 * store.num_edges
    store.check()  # also that every row is where the table says


@pytest.mark.parametrize("weighted", [False, True])
def test_moving_slots_keeps_the_graph(mix: list[str], weighted: bool) -> None:
    store = filled(mix, weighted=weighted)
    before = store.snapshot()
    names = list(dict.fromkeys(store.devices))
    for shares in ({name: i + 1.0 for i, name in enumerate(names)}, {name: float(name == names[0]) for name in names}):
        version, latest = store.version, store.snapshot()
        moved = store.rebalance(shares)
        assert (moved > 0 or len(names) == 1) and store.rebalance(shares) == 0
        assert store.version == version and store.snapshot() is latest
        store.check()
        store.insert([], [])  # a new snapshot, from the new owners
        assert store.snapshot() == before and store.snapshot() is not latest
        assert store.has_edge(*before.edges()[-1].tolist())


def test_moving_slots_is_all_or_nothing(mix: list[str]) -> None:
    store = filled(mix)
    before, shares = store.snapshot().edges().tolist(), store._shards.table.owners.copy()
    broken_at(store, 1, prepare=fail)
    with pytest.raises(DeviceMemoryError):
        store._shards.move([1.0] + [0.0] * (len(mix) - 1))
    assert np.array_equal(store._shards.table.owners, shares)
    store.check()
    assert store.snapshot().edges().tolist() == before


def test_shares_are_fixed_by_the_user() -> None:
    store = gl.DynamicGraph(devices=["reference", "reference", "cpu"], shares={"reference": 6, "cpu": 2})
    assert dict(store.shares) == {"reference": 768, "cpu": 256}
    with pytest.raises(InputError, match="shares must name the devices"):
        store.rebalance({"cpu": 1})
    assert store.rebalance({"cpu": 1, "reference": 1}) > 0
    assert dict(store.shares) == {"reference": 512, "cpu": 512}


def test_automatic_shares_go_to_the_faster_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balance, "EVERY", 4)
    store = gl.DynamicGraph(devices=["reference", "reference"], num_vertices=400)
    slow = list(store._shards)[1]
    real = slow.kernels.prepare

    def slowly(*arguments: Any, **options: Any) -> Any:
        threading.Event().wait(2e-4 * arguments[2].size)
        return real(*arguments, **options)

    broken_at(store, 1, prepare=slowly)
    rng = np.random.default_rng(4)
    kept: set[tuple[int, int]] = set()
    counts = store._shards.table.counts()
    for _ in range(60):  # a dozen will do, unless the machine has others to serve
        src, dst = rng.integers(0, 400, (2, 60))
        store.insert(src, dst)
        kept |= {(min(p), max(p)) for p in zip(src.tolist(), dst.tolist(), strict=True) if p[0] != p[1]}
        counts = store._shards.table.counts()
        if counts[0] > 2 * counts[1]:
            break
    assert counts[0] > 2 * counts[1] and sum(counts) == NUM_SLOTS
    store.check()
    assert {tuple(pair) for pair in store.snapshot().edges().tolist()} == kept


def test_rebalancing_by_what_was_seen_needs_no_numbers(mix: list[str]) -> None:
    store = filled(mix)
    before = store.snapshot().edges().tolist()
    assert store.rebalance() >= 0
    store.check()
    assert store.snapshot().edges().tolist() == before


def test_a_device_that_breaks_while_committing_closes_the_store_to_batches() -> None:
    store = filled(["reference", "reference"])
    before = store.snapshot()

    def burn(*arguments: Any) -> Any:
        raise RuntimeError("the device is on fire")

    broken_at(store, 1, commit=burn)
    with pytest.raises(RuntimeError, match="on fire"):
        store.insert(np.arange(50), np.arange(50) + 1)
    with pytest.raises(StateError, match="broke in the middle of a batch"):
        store.insert([1], [2])
    assert before.num_edges == len(before.edges())


def test_a_batch_in_place_that_comes_to_a_merge_is_learned_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pages would overflow. What that takes says nothing of batches that stay in place, such as deletions."""
    learned: list[tuple[str, int]] = []
    monkeypatch.setattr(CostModel, "choose", lambda *_, in_place=True: "in place" if in_place else "merge")
    monkeypatch.setattr(CostModel, "observe", lambda _, path, updates, *rest: learned.append((path, updates)))
    rng = np.random.default_rng(1)
    with gl.DynamicGraph(directed=True, num_vertices=1000, devices="cuda-emulated") as store:
        store.insert(*rng.integers(0, 1000, (2, 280_000)))
        learned.clear()
        edges = rng.integers(0, 1000, (2, 60_000))
        assert dict(store.insert(*edges).paths) == {"cuda-emulated": "merge"}
        assert dict(store.delete(*edges[:, :5000]).paths) == {"cuda-emulated": "in place"}
        store.delete(*edges[:, 5000:10_000])  # what a batch took is told while the next one is written
        store.check()
    assert [path for path, _ in learned] == ["merge", "in place"]


def test_the_path_of_a_batch_is_chosen_while_one_like_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    answers: list[Path] = []

    def choose(_: CostModel, updates: int, entries: int, *, in_place: bool = True) -> Path:
        assert in_place
        asked.append(round(updates, -3))
        return answers.pop(0)

    monkeypatch.setattr(CostModel, "choose", choose)
    monkeypatch.setattr(CostModel, "observe", lambda *_: None)
    rng = np.random.default_rng(3)
    with gl.DynamicGraph(directed=True, num_vertices=1000, devices="cuda-emulated") as store:
        answers += ["rebuild"]
        store.insert(*rng.integers(0, 1000, (2, 200_000)))
        first, second = rng.integers(0, 1000, (2, 2, 9000))
        asked.clear()
        answers[:] = ["merge", "in place", "merge", "merge", "in place", "merge"]
        paths = [store.delete(*edges).paths["cuda-emulated"] for edges in (first, second, first)]
        assert paths == ["merge", "in place", "merge"] and asked == 4 * [9000]
        other = store.delete(*second[:, :4000]).paths["cuda-emulated"]  # is not what was expected
        assert other == "in place" and asked == 4 * [9000] + 2 * [4000]
        store.check()


@pytest.mark.parametrize("size", [16_384, 131_072])
def test_calibration_times_what_it_says(size: int) -> None:
    """Batches that are to stay in place do, and hardly any page is written anew for them."""
    device = resolve("cuda-emulated")[0]
    kernels = kernel_module(device, KERNEL)
    changes: list[tuple[Path, Change]] = []

    def apply(*given: Any, path: Path, control: Control) -> Change:
        changes.append((path, kernels.apply(*given, path=path, control=control)))
        return changes[-1][1]

    watched: Any = SimpleNamespace(create=kernels.create, num_entries=kernels.num_entries, apply=apply)
    work = device.submit(lambda: list(_trial(device, watched, size, weighted=False)))
    assert [path for path, *_ in work.result()] == 3 * list(CHOICES)
    in_place = [change for path, change in changes if path == "in place"]
    assert len(in_place) == 6 and all(change.path == "in place" for change in in_place)
    assert max(change.slots_written for change in in_place) < size


def test_a_batch_on_the_calling_thread_is_waited_for_at_its_end_and_observed_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on a GPU, which writes while the host goes on."""
    monkeypatch.setattr(EmulatedDevice, "worker_turn", lambda device: device._worker.turn, raising=False)
    observed: list[tuple[str, float]] = []
    monkeypatch.setattr(CostModel, "choose", lambda *_, in_place=True: "merge" if observed else "in place")
    monkeypatch.setattr(CostModel, "observe", lambda _, path, *rest: observed.append((path, rest[-1])))
    rng = np.random.default_rng(4)
    with gl.DynamicGraph(directed=True, num_vertices=1000, devices="cuda-emulated") as store:
        shard = next(iter(store._shards))
        store.insert(*rng.integers(0, 1000, (2, 100_000)))
        shard._nearby, waits = shard.device, []
        store._shards._share(store._shards.table)

        def wait(device: Any) -> None:
            waits.append(shard.is_writing)
            sleep(0.05)

        monkeypatch.setattr(shard.kernels, "wait_until_written", wait)
        observed.clear()
        paths = [store.delete(*rng.integers(0, 1000, (2, 5000))).paths["cuda-emulated"] for _ in range(3)]
        store.check()
    assert paths == ["in place", "in place", "merge"] and waits == 3 * [True]
    assert [path for path, _ in observed] == ["in place", "in place"]  # the last one is told with the next
    assert all(0.05 <= seconds < 5 for _, seconds in observed)


def test_a_store_of_many_rows_grows_on_every_shard(mix: list[str]) -> None:
    store = gl.DynamicGraph(devices=mix, shares=even(mix))
    for begin in (0, 1000, 5000):
        store.insert(np.arange(begin, begin + 1000), np.arange(begin, begin + 1000) + 10**9)
        store.check()
    snapshot = store.snapshot()
    assert store.num_vertices == 6000 and snapshot.csr[0].size == 6001 and int(snapshot.degrees().max()) == 1


def test_a_batch_that_loads_a_store_tells_nothing_of_those_that_follow() -> None:
    store = gl.DynamicGraph(devices=["cpu", "cpu"], num_vertices=500)
    shown = store._shards._balance
    assert shown is not None
    rng = np.random.default_rng(7)
    store.insert(*rng.integers(0, 500, (2, 5000)))
    assert shown._usual == 0 and not any(fit.observations for fit in shown._fits)
    store.insert(*rng.integers(0, 500, (2, 800)))
    assert 700 * 2 < shown._usual <= 800 * 2 and all(fit.observations == 1 for fit in shown._fits)
