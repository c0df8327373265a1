"""Running: progress, memory, errors, provenance, fixed shares."""

from __future__ import annotations

import json
import pickle
import threading
import time
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.analytics.triangles import TRIANGLES
from graphlode.common.control import Control
from graphlode.errors import DeviceMemoryError, InputError, UnsupportedError
from graphlode.execute import run as running
from graphlode.execute.device import hold, kernel_module
from graphlode.execute.devices import resolve
from graphlode.execute.operation import Operation
from graphlode.execute.run import memory_needed, run
from graphlode.generate import complete, erdos_renyi, kronecker
from graphlode.graph.views import Csr, Oriented


def test_progress_is_reported_on_the_calling_thread_and_reaches_the_total(devices: Any) -> None:
    reports: list[tuple[int, int, int]] = []
    graph = erdos_renyi(60, p=0.3, seed=1)
    gl.count_triangles(
        graph, devices=devices, progress=lambda done, total: reports.append((done, total, threading.get_ident()))
    )
    assert reports
    assert {thread for _, _, thread in reports} == {threading.get_ident()}
    assert {total for _, total, _ in reports} == {60}
    counts = [done for done, _, _ in reports]
    assert counts == sorted(counts) and counts[-1] == 60


@pytest.mark.parametrize("device", ["reference", "cpu"])
def test_progress_is_reported_while_the_work_runs(device: str) -> None:
    reports: list[int] = []
    graph = complete(90) if device == "reference" else complete(800)
    gl.count_triangles(graph, by="edge", devices=device, progress=lambda done, total: reports.append(done))
    assert reports[-1] == graph.num_vertices
    assert len(reports) > 1 and reports[0] < reports[-1]


def test_building_a_view_is_not_taken_for_progress() -> None:
    """A degeneracy order peels the whole graph; this must not count as progress of the operation."""
    seen: list[int] = []
    found = kernel_module
    kernel = found(resolve("cpu")[0], TRIANGLES.name)

    class Watching:
        memory = staticmethod(kernel.memory)

        @staticmethod
        def launch(device: Any, view: Any, tasks: Any, *, control: Any, **parameters: Any) -> Any:
            seen.append(control.done)
            return kernel.launch(device, view, tasks, control=control, **parameters)

    operation = Operation(
        "analytics.triangles", Oriented("degeneracy"), "vertex", TRIANGLES.combine, work=TRIANGLES.work
    )
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                running,
                "kernel_module",
                lambda device, stem: Watching if stem == TRIANGLES.name else found(device, stem),
            )
            for devices in ("cpu", ["cpu", "cpu"]):
                graph = complete(50)
                assert run(operation, graph, devices, by=None).value["total"] == 19_600
    finally:
        TRIANGLES.__post_init__()  # the registry keeps the real one
    assert seen[0] == 0 and all(done <= 50 for done in seen)


def test_an_error_in_the_progress_callback_stops_the_work() -> None:
    def fail(done: int, total: int) -> None:
        raise ZeroDivisionError("too much progress")

    with pytest.raises(ZeroDivisionError):
        gl.count_triangles(complete(200), devices="cpu", progress=fail)
    assert gl.count_triangles(complete(5), devices="cpu").total == 10


@pytest.mark.parametrize("by", [None, "vertex", "edge"])
def test_what_does_not_fit_the_memory_limit_is_refused_with_both_numbers(by: Any) -> None:
    graph = complete(50)
    needed = memory_needed(TRIANGLES, resolve("cpu")[0], graph, {"by": by})
    with gl.configure(memory_limit=needed - 1):
        expected = f"analytics.triangles needs {needed:,} bytes on cpu, {needed - 1:,} are free"
        with pytest.raises(DeviceMemoryError, match=expected) as caught:
            gl.count_triangles(graph, by=by, devices="cpu")
        assert isinstance(caught.value, MemoryError)
    with gl.configure(memory_limit=needed):
        assert gl.count_triangles(graph, by=by, devices="cpu").total == 19_600


def test_a_view_that_is_there_needs_no_memory_again() -> None:
    graph, cpu = complete(50), resolve("cpu")[0]
    before = memory_needed(TRIANGLES, cpu, graph, {"by": None})
    gl.count_triangles(graph, devices="cpu")
    assert memory_needed(TRIANGLES, cpu, graph, {"by": None}) < before


def test_a_view_is_finished_on_its_device_before_others_may_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two streams of one GPU share views: a future that is done must not stand for kernels that are still queued."""
    graph, device, views = complete(20), resolve("cuda-emulated")[0], (Csr(), Oriented("degree"))
    done_at: list[list[bool]] = []

    def synchronize() -> None:
        done_at.append([(found := graph.held.get((device.space, view))) is not None and found.done() for view in views])

    monkeypatch.setattr(device, "synchronize", synchronize)
    device.submit(lambda: hold(device, graph, views[1], Control())).result()
    assert [False, False] in done_at and done_at[-1] == [True, False]


def test_the_graph_itself_counts_where_it_must_be_copied() -> None:
    graph = complete(50)
    host, emulated = (
        memory_needed(TRIANGLES, resolve(name)[0], graph, {"by": None}) for name in ("cpu", "cuda-emulated")
    )
    assert emulated > graph.nbytes and host < graph.nbytes + emulated


class Broken:
    """A kernel fails on one device while the others have much work."""

    def __init__(self, real: Any, fails: bool) -> None:
        self._real, self._fails = real, fails

    def memory(self, *arguments: Any, **parameters: Any) -> int:
        return 0

    def launch(self, device: Any, view: Any, tasks: Any, *, control: Any, by: Any) -> Any:
        if self._fails:
            raise RuntimeError("the kernel broke")
        for _ in tasks:
            while True:
                control.check()
                time.sleep(0.001)


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_on_one_device_stops_the_others(monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    devices = resolve(["cpu", "reference"])
    real = running.kernel_module
    monkeypatch.setattr(
        running, "kernel_module", lambda device, stem: Broken(real(device, stem), device is devices[failing])
    )
    started = time.perf_counter()
    with pytest.raises(RuntimeError, match="the kernel broke"):
        gl.count_triangles(complete(40), devices=["cpu", "reference"])
    assert time.perf_counter() - started < 5
    monkeypatch.undo()
    assert gl.count_triangles(complete(40), devices=["cpu", "reference"]).total == 9880


def test_provenance_says_how_it_came_to_be() -> None:
    graph = complete(100)
    found = gl.count_triangles(graph, devices=["cpu", "reference"]).provenance
    assert found.operation == "analytics.triangles" and found.version == 0 and found.method
    assert found.devices == ("cpu", "reference")
    assert sum(found.units.values()) == 100 and set(found.units) == {"cpu", "reference"}
    assert found.threads == gl.settings().threads and found.notes == ()
    assert 0 < found.seconds < 60
    assert set(found.steps) == {"view", "kernel", "combine"}
    assert sum(found.steps.values()) <= found.seconds + 1e-6
    with pytest.raises(TypeError):
        found.steps["view"] = 0  # type: ignore[index]
    assert pickle.loads(pickle.dumps(found)) == found
    assert json.loads(json.dumps(found.to_dict()))["devices"] == ["cpu", "reference"]


def test_fixed_shares_decide_who_does_what() -> None:
    graph = kronecker(12, 8, seed=2)
    expected = gl.count_triangles(graph, devices="cpu").total
    nearly_all = gl.count_triangles(graph, devices=["cpu", "reference"], shares={"cpu": 1023, "reference": 1})
    assert nearly_all.total == expected
    assert nearly_all.provenance.units["cpu"] > 0
    alone = gl.count_triangles(graph, devices=["cpu", "reference"], shares={"cpu": 1, "reference": 0})
    assert alone.total == expected and alone.provenance.units == {"cpu": graph.num_vertices, "reference": 0}


def test_shares_may_use_the_short_names_of_devices() -> None:
    graph = complete(20)
    for name in ("cuda-emulated", "cuda-emulated:0"):
        shares = {name: 0, "cpu": 1}
        assert gl.count_triangles(graph, devices=["cuda-emulated", "cpu"], shares=shares).total == 1140


@pytest.mark.parametrize("devices", ["cpu", ["cpu", "reference"]])
@pytest.mark.parametrize("shares", [{"cuda:0": 1}, {"cpu": -1, "reference": 2}, {}])
def test_wrong_shares_are_refused_even_for_one_device(devices: Any, shares: Any) -> None:
    with pytest.raises(InputError, match="shares must"):
        gl.count_triangles(complete(5), devices=devices, shares=shares)


def test_what_is_learnt_of_a_device_is_slots_per_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slots hold equal work. With equal rows, equal devices would learn unequal shares: heavy rows come last."""
    learnt: list[list[int]] = []
    monkeypatch.setattr(running, "_remember", lambda operation, devices, done, busy: learnt.append(list(done)))
    gl.count_triangles(kronecker(12, 16, seed=1), devices=["cpu", "reference"], shares={"cpu": 3, "reference": 1})
    assert learnt == [[768, 256]]


def test_rates_of_shared_runs_are_kept_and_finite() -> None:
    running._rates.clear()
    for _ in range(3):
        gl.count_triangles(complete(100), devices=["cpu", "reference"])
    assert running._rates and all(np.isfinite(rate) and rate > 0 for rate in running._rates.values())
    running._rates.clear()


def test_an_operation_without_a_kernel_says_so() -> None:
    operation = Operation("analytics.nothing", Csr(), "vertex", combine=sum)
    try:
        with pytest.raises(UnsupportedError, match="analytics.nothing has no kernel for the device 'cpu'"):
            run(operation, complete(3), "cpu")
    finally:
        from graphlode.execute.operation import OPERATIONS

        del OPERATIONS["analytics.nothing"]
