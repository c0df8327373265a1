"""A forked child runs operations, whatever the parent has run before and whatever its other threads do."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Event, Thread
from time import sleep
from typing import Any

import pytest

import graphlode as gl
from graphlode import execute
from graphlode.common import fork, worker
from graphlode.common.cached import cached_property
from graphlode.common.fork import load
from graphlode.common.wait import Interrupts
from graphlode.common.worker import Worker
from graphlode.execute.devices import resolve
from graphlode.execute.held import Held
from graphlode.generate import complete, erdos_renyi
from graphlode.graph.views import Csr


def child(answers: Any, graph: gl.Graph) -> None:
    answers.put(gl.count_triangles(graph, devices="cpu").total)
    answers.put(gl.count_triangles(graph, devices=["cpu", "cpu"]).total)
    answers.put(gl.count_triangles(complete(20), devices="reference").total)


def test_a_forked_child_runs_operations() -> None:
    graph = erdos_renyi(2000, p=0.05, seed=9)
    expected = gl.count_triangles(graph, devices="cpu").total
    assert gl.count_triangles(graph, devices=["cpu", "cpu"]).total == expected
    gl.count_triangles(complete(5), devices="reference")
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    processes = [context.Process(target=child, args=(answers, graph)) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of any fork of a process with threads
        for process in processes:
            process.start()
    found = [answers.get(timeout=60) for _ in range(6)]
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    assert sorted(found) == sorted([expected] * 4 + [1140] * 2)
    assert gl.count_triangles(graph, devices="cpu").total == expected


def test_a_spawned_child_gets_the_graph_by_pickle() -> None:
    graph = erdos_renyi(200, p=0.1, seed=9)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(total, (graph,)) == total(graph)


def total(graph: gl.Graph) -> int:
    return gl.count_triangles(graph, devices="cpu").total


def in_child(work: Callable[[], None]) -> int:
    """The exit status of a forked child that does the work; -SIGALRM if it hangs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if not process:
        signal.alarm(20)
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@contextmanager
def held_by_another_thread(lock: AbstractContextManager[Any]) -> Iterator[None]:
    is_held, may_end = Event(), Event()

    def hold() -> None:
        with lock:
            is_held.set()
            may_end.wait(60)

    holder = Thread(target=hold)
    holder.start()
    is_held.wait(60)
    try:
        yield
    finally:
        may_end.set()
        holder.join()


LOCKS: dict[str, Callable[[gl.Snapshot], Any]] = {
    "of views": lambda snapshot: execute.device._claiming,
    "of devices": lambda snapshot: execute.devices._making,
    "of lanes": lambda snapshot: worker._lending,
    "of a worker": lambda snapshot: resolve("cpu")[0]._worker._starting,  # type: ignore[attr-defined]
    "of a turn": lambda snapshot: resolve("cpu")[0]._worker.turn,  # type: ignore[attr-defined]
    "of a snapshot": lambda snapshot: snapshot._building,
}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_that_another_thread_held_at_the_fork_is_free_in_the_child(name: str) -> None:
    store = gl.DynamicGraph(devices="cpu")
    store.insert([1, 2, 3], [2, 3, 1])
    snapshot = store.snapshot()

    def count() -> None:
        assert gl.count_triangles(snapshot, devices=["cpu", "cpu", "cpu"]).total == 1
        assert snapshot.edges().size == 6
        gl.DynamicGraph(devices="cpu").insert([1], [2])

    with held_by_another_thread(LOCKS[name](snapshot)):
        assert in_child(count) == 0


def test_a_child_builds_the_view_that_another_thread_was_building() -> None:
    graph, cpu = complete(20), resolve("cpu")[0]
    place, key = Held(), (cpu.space, Csr())
    execute.device._being_built[id(place)] = graph, key, place
    graph.held[key] = place
    try:
        assert in_child(lambda: check_triangles(graph)) == 0
        assert graph.held[key] is place  # the parent's stays
    finally:
        del execute.device._being_built[id(place)], graph.held[key]


def check_triangles(graph: gl.Graph) -> None:
    assert gl.count_triangles(graph, devices="cpu").total == 1140


def test_a_fork_waits_until_a_module_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child could never import a module that another thread was importing at the fork."""
    (tmp_path / "takes_its_time.py").write_text("import time\ntime.sleep(0.5)\nanswer = 42\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    thread = Thread(target=load, args=("takes_its_time",))
    thread.start()
    while "takes_its_time" not in sys.modules:
        sleep(0.001)

    def use() -> None:
        assert load("takes_its_time").answer == 42

    assert in_child(use) == 0
    thread.join()


def test_a_store_in_a_child_says_that_it_is_the_parents() -> None:
    store = gl.DynamicGraph(devices="cpu")
    store.insert([1, 2], [2, 3])
    snapshot = store.snapshot()

    def use() -> None:
        uses: list[Callable[[], object]] = [
            store.snapshot,
            store.check,
            store.statistics,
            store.memory_usage,
            store.rebalance,
            lambda: store.insert([1], [2]),
            lambda: store.has_edge(1, 2),
            lambda: gl.bfs(store, 1),
        ]
        for each in uses:
            with pytest.raises(gl.errors.StateError, match="fork"):
                each()
        with store:
            """Leaving the block closes nothing."""
        assert snapshot.has_edge(1, 2) and snapshot.num_edges == 2

    with held_by_another_thread(store._lock):
        assert in_child(use) == 0
    assert store.insert([3], [4]).inserted == 1


def test_a_property_that_takes_long_on_one_object_does_not_hold_up_another() -> None:
    may_end = Event()

    class Slow:
        def __init__(self, waits: bool) -> None:
            self.waits = waits

        @cached_property
        def value(self) -> int:
            return int(may_end.wait(60)) if self.waits else 7

    thread = Thread(target=lambda: Slow(True).value)
    thread.start()
    try:
        quick = Slow(False)
        assert (quick.value, quick.__dict__["value"]) == (7, 7)
    finally:
        may_end.set()
        thread.join()


def test_what_a_child_renews_is_forgotten_with_its_owner() -> None:
    gc.collect()
    before = len(fork._owners)
    workers = [Worker("test") for _ in range(10)]
    assert len(fork._owners) == before + 10
    del workers
    assert len(fork._owners) == before


def test_ctrl_c_interrupts_a_child_that_was_forked_while_the_main_thread_deferred_it() -> None:
    statuses: list[int] = []

    def interrupted() -> None:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    with Interrupts():
        thread = Thread(target=lambda: statuses.append(in_child(interrupted)))
        thread.start()
        thread.join()
    assert statuses == [0]
