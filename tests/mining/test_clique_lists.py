"""Listing cliques: every clique once, in bounded memory, and nothing keeps running when the caller stops."""

from __future__ import annotations

import gc
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import comb
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.cpu import _native
from graphlode.errors import DeviceMemoryError, DeviceUnavailableError, StateError
from strategies import EdgeList, edge_lists, edge_lists_with_ids

Clique = tuple[int, ...]

TRUTH = json.loads((Path(__file__).parents[1] / "data" / "truth" / "cliques.json").read_text("utf-8"))["graphs"]


def listed(graph: Any, k: int, **options: Any) -> list[Clique]:
    """All cliques, each sorted; checks the properties of every batch."""
    found: list[Clique] = []
    most = options.get("batch_size", 1 << 16)
    for batch in gl.list_cliques(graph, k, **options):
        assert batch.dtype == np.int64 and batch.shape[1] == k and 1 <= len(batch) <= most
        assert batch.flags.c_contiguous and batch.flags.writeable
        found += map(tuple, np.sort(batch, axis=1).tolist())
    return found


def once(cliques: list[Clique]) -> set[Clique]:
    assert len(set(cliques)) == len(cliques)
    return set(cliques)


def own_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("graphlode-") and _aside(thread)]


def _aside(thread: threading.Thread) -> bool:
    return thread.name == "graphlode-stream" or thread.name.endswith("-aside")


def wait_for(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


@contextmanager
def threads_of(count: int) -> Iterator[None]:
    with gl.configure(threads=count):
        yield


@given(edge_lists(most_vertices=65, most_edges=600), st.integers(1, 7))
@settings(max_examples=30)
def test_the_cpu_lists_what_the_reference_lists(edges: EdgeList, k: int) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)
    expected = once(listed(graph, k, devices="reference"))
    assert once(listed(graph, k, devices="cpu")) == expected
    assert once(listed(graph, k, devices="cpu", batch_size=7)) == expected


@pytest.mark.parametrize("name", ["karate", "lesmis", "football", "dolphins"])
def test_lists_are_networkx_lists(name: str, devices: str | list[str]) -> None:
    graph = gl.dataset(name)
    by_size: dict[int, set[Clique]] = {}
    for clique in nx.enumerate_all_cliques(graph.to_networkx()):
        by_size.setdefault(len(clique), set()).add(tuple(sorted(clique)))
    for k in (1, 2, 3, 4, max(by_size), max(by_size) + 1):
        assert once(listed(graph, k, devices=devices)) == by_size.get(k, set())


@pytest.mark.parametrize("name", [name for name in sorted(TRUTH) if name in gl.dataset_names()])
def test_as_many_are_listed_as_others_counted(name: str) -> None:
    graph = gl.dataset(name)
    for k, total in TRUTH[name].items():
        if total < 2_000_000:
            assert sum(len(batch) for batch in gl.list_cliques(graph, int(k), devices="cpu")) == total


@pytest.mark.parametrize("batch_size", [1, 7, 64, 1000])
@pytest.mark.parametrize("k", [3, 4, 5, 8, 9, 12])
def test_batches_of_any_size_hold_every_clique_once(k: int, batch_size: int, device: str) -> None:
    graph = gl.complete(13)
    expected = comb(13, k)
    assert len(once(listed(graph, k, devices=device, batch_size=batch_size))) == expected


@pytest.mark.parametrize("size", [31, 32, 33, 63, 64, 65, 66, 128, 130, 257, 513])
def test_rows_of_every_width_are_searched(size: int) -> None:
    """A complete bipartite graph between two halves, and one triangle-making edge at the far end of a row."""
    half = size // 2
    left, right = np.meshgrid(np.arange(half), np.arange(half, size))
    src, dst = np.append(left.ravel(), size - 2), np.append(right.ravel(), size - 1)
    graph = gl.from_edges(src, dst)
    assert once(listed(graph, 3, devices="cpu")) == {(u, size - 2, size - 1) for u in range(half)}
    assert listed(graph, 4, devices="cpu") == []


@pytest.mark.parametrize("size", [66, 130, 260, 520, 1030, 2060])
def test_counts_of_large_complete_graphs_are_closed_forms(size: int) -> None:
    graph = gl.complete(size)
    k = 3 if size > 300 else 4
    most = 3_000_000
    found = 0
    with gl.list_cliques(graph, k, devices="cpu") as batches:
        for batch in batches:
            assert (np.diff(np.sort(batch[:: len(batch) // 4 + 1], axis=1), axis=1) > 0).all()
            found += len(batch)
            if found > most:
                break
    assert found == comb(size, k) if comb(size, k) <= most else found > most


def test_several_threads_list_the_same(threads: int) -> None:
    graph = gl.erdos_renyi(120, p=0.4, seed=5)
    with threads_of(threads):
        expected = {k: int(gl.count_triangles(graph)) if k == 3 else None for k in (3, 5)}
        for k, total in expected.items():
            found = once(listed(graph, k, devices="cpu", batch_size=500))
            assert total in (None, len(found))
            assert found == once(listed(graph, k, devices="reference"))


@given(edge_lists_with_ids(most_vertices=33, most_edges=300))
@settings(max_examples=20)
def test_rows_hold_original_ids_or_positions(edges: EdgeList) -> None:
    graph = gl.from_edges(edges.src, edges.dst)
    for k in (1, 2, 3):
        ids = once(listed(graph, k, devices="cpu"))
        positions = once(listed(graph, k, devices="cpu", indices=True))
        assert {tuple(graph.ids[list(clique)].tolist()) for clique in positions} == ids


def test_a_directed_graph_is_listed_as_its_undirected_form(devices: str | list[str]) -> None:
    graph = gl.from_edges([0, 1, 2, 0, 3], [1, 2, 0, 2, 0], directed=True)
    stream = gl.list_cliques(graph, 3, devices=devices)
    assert [tuple(sorted(row)) for batch in stream for row in batch.tolist()] == [(0, 1, 2)]
    assert stream.provenance is not None
    assert stream.provenance.notes == ("directed graph: its undirected form was used",)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 10**12])
def test_an_empty_graph_has_no_cliques(k: int, devices: str | list[str]) -> None:
    assert listed(gl.from_edges([], []), k, devices=devices) == []
    assert listed(gl.from_edges([], [], num_vertices=4), k, devices=devices) == (
        [(i,) for i in range(4)] if k == 1 else []
    )


def test_provenance_comes_with_the_end(devices: str | list[str]) -> None:
    stream = gl.list_cliques(gl.dataset("karate"), 3, devices=devices, batch_size=10)
    assert stream.provenance is None
    first = next(stream)
    assert stream.provenance is None
    assert len(first) + sum(map(len, stream)) == 45
    provenance = stream.provenance
    assert provenance is not None and provenance.operation == "mining.clique_lists"
    assert sum(provenance.units.values()) == 78
    assert len(provenance.devices) == (1 if isinstance(devices, str) else len(devices))
    assert list(stream) == [], "an iterator that has ended stays ended"


def test_progress_is_reported_on_the_consuming_thread() -> None:
    reports: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        assert threading.current_thread() is threading.main_thread()
        reports.append((done, total))

    graph = gl.complete(60)
    assert sum(len(batch) for batch in gl.list_cliques(graph, 5, devices="cpu", progress=progress)) == comb(60, 5)
    assert reports[-1] == (graph.num_edges, graph.num_edges)
    assert [done for done, _ in reports] == sorted(done for done, _ in reports)


# Stopping


def test_nothing_runs_before_the_first_batch_is_asked_for() -> None:
    stream = gl.list_cliques(gl.complete(200), 5, devices="cpu")
    assert own_threads() == []
    stream.close()
    assert list(stream) == []


def test_closing_after_one_batch_ends_all_threads(device: str) -> None:
    graph = gl.complete(40)
    before = _native.live_bytes()
    stream = gl.list_cliques(graph, 6, devices=device, batch_size=100)
    assert 1 <= len(next(stream)) <= 100
    stream.close()
    assert own_threads() == []
    assert list(stream) == [] and stream.provenance is None
    del stream
    graph.held.clear()
    gc.collect()
    assert _native.live_bytes() <= before


def test_leaving_the_context_ends_all_threads() -> None:
    with pytest.raises(ZeroDivisionError), gl.list_cliques(gl.complete(200), 5, devices="cpu") as stream:
        next(stream)
        raise ZeroDivisionError
    assert own_threads() == []


def test_a_stream_without_references_stops(devices: str | list[str]) -> None:
    for batch in gl.list_cliques(gl.complete(60), 6, devices=devices, batch_size=50):
        assert len(batch)
        break
    gc.collect()
    assert wait_for(lambda: own_threads() == [])


def test_a_search_that_finds_nothing_for_long_can_be_stopped() -> None:
    """A complete multipartite graph has many cliques of as many vertices as parts, and none of one more."""
    parts = np.repeat(np.arange(16), 10)
    u, v = np.triu_indices(len(parts), 1)
    graph = gl.from_edges(u[parts[u] != parts[v]], v[parts[u] != parts[v]])
    stream = gl.list_cliques(graph, 17, devices="cpu")
    threading.Timer(0.3, stream._channel.close).start()
    begun = time.monotonic()
    assert list(stream) == []
    assert time.monotonic() - begun < 3
    stream.close()
    assert own_threads() == []


def test_devices_stay_free_while_a_stream_is_consumed(device: str) -> None:
    graph = gl.dataset("lesmis")
    found = 0
    for batch in gl.list_cliques(graph, 3, devices=device, batch_size=20):
        found += len(batch)
        if found % 5 == 0:
            assert gl.count_triangles(graph, devices=device).total == 467
    assert found == 467


def test_two_streams_can_be_read_side_by_side() -> None:
    graph = gl.dataset("football")
    left = gl.list_cliques(graph, 3, devices="cpu", batch_size=10)
    right = gl.list_cliques(graph, 4, devices="cpu", batch_size=10)
    first, second = [*left], [*right]
    pairs = zip(
        gl.list_cliques(graph, 3, devices="cpu", batch_size=10),
        gl.list_cliques(graph, 3, devices="cpu", batch_size=10),
        strict=True,
    )
    assert sum(len(a) + len(b) for a, b in pairs) == 2 * sum(map(len, first))
    assert second


def test_ctrl_c_while_waiting_stops_the_search(run_python: Callable[..., str]) -> None:
    script = """
import os, signal, threading, time
import numpy as np, graphlode as gl
parts = np.repeat(np.arange(16), 10)
u, v = np.triu_indices(len(parts), 1)
stream = gl.list_cliques(gl.from_edges(u[parts[u] != parts[v]], v[parts[u] != parts[v]]), 17, devices="cpu")
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    next(stream)
except KeyboardInterrupt:
    left = [t.name for t in threading.enumerate() if "stream" in t.name or "aside" in t.name]
    print(left, time.monotonic() - begun < 2)
"""
    assert run_python(script).split() == ["[]", "True"]


@pytest.mark.parametrize("devices", ["'cpu'", "['cpu', 'cpu']", "'reference'"])
def test_a_program_that_forgets_its_stream_ends(run_python: Callable[..., str], devices: str) -> None:
    script = f"""
import graphlode as gl
stream = gl.list_cliques(gl.complete(100), 6, devices={devices}, batch_size=100)
print(len(next(stream)) > 0)
"""
    assert run_python(script).split() == ["True"]


def test_errors_of_kernels_reach_the_caller() -> None:
    graph = gl.complete(50)
    next(gl.list_cliques(graph, 4, devices="cpu"))  # the view is there
    _native.fail_allocation(3)
    try:
        with pytest.raises(MemoryError):
            list(gl.list_cliques(graph, 4, devices="cpu"))
    finally:
        _native.fail_allocation(0)
    assert wait_for(lambda: own_threads() == [])  # the first stream, which was dropped, may still be ending
    assert len(listed(graph, 3, devices="cpu")) == comb(50, 3)


def test_an_error_in_progress_ends_all_threads() -> None:
    def progress(done: int, total: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(gl.list_cliques(gl.complete(60), 6, devices="cpu", progress=progress))
    assert own_threads() == []


def test_a_forked_child_gets_an_error_that_asks_for_a_new_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its parent's threads are not in the child, so it would wait without end."""
    stream = gl.list_cliques(gl.complete(60), 6, devices="cpu", batch_size=100)
    next(stream)
    with monkeypatch.context() as patch:
        patch.setattr("os.getpid", lambda: -1)
        with pytest.raises(StateError, match="fork"):
            next(stream)
    assert len(next(stream)) == 100
    stream.close()


# Memory


def test_memory_is_bounded_whatever_there_is_to_list() -> None:
    graph = gl.complete(100)
    batch_size, k = 1000, 5
    next(gl.list_cliques(graph, k, devices="cpu", batch_size=1))
    with threads_of(2):
        gc.collect()
        assert wait_for(lambda: own_threads() == [])
        before = _native.live_bytes()
        _native.reset_peak_bytes()
        found = 0
        with gl.list_cliques(graph, k, devices="cpu", batch_size=batch_size) as stream:
            for batch in stream:
                found += len(batch)
                if found > 5_000_000:
                    break
        peak = _native.peak_bytes() - before
    # In addition to batches: bit rows of 100 candidates, positions and names.
    assert peak < 16 * 8 * k * batch_size + 100_000
    assert found * 8 * k > 100 * peak


def test_a_batch_that_is_kept_does_not_change() -> None:
    stream = gl.list_cliques(gl.complete(40), 4, devices="cpu", batch_size=50)
    kept = [next(stream) for _ in range(30)]
    copies = [batch.copy() for batch in kept]
    rest = [tuple(row) for batch in stream for row in batch.tolist()]
    assert all(np.array_equal(batch, copy) for batch, copy in zip(kept, copies, strict=True))
    assert len({*rest, *(tuple(row) for batch in kept for row in batch.tolist())}) == comb(40, 4)


def test_a_batch_that_does_not_fit_is_refused_before_it_is_made() -> None:
    with pytest.raises(DeviceMemoryError, match="bytes"):
        next(gl.list_cliques(gl.complete(10), 3, devices="cpu", batch_size=10**13))


def test_the_estimate_covers_what_is_taken() -> None:
    graph = gl.erdos_renyi(400, p=0.3, seed=1)
    with threads_of(2):
        next(gl.list_cliques(graph, 4, devices="cpu", batch_size=1))
        gc.collect()
        assert wait_for(lambda: own_threads() == [])
        before = _native.live_bytes()
        _native.reset_peak_bytes()
        for batch in gl.list_cliques(graph, 4, devices="cpu", batch_size=2000):
            del batch
        taken = _native.peak_bytes() - before
        estimate = gl.estimate(gl.list_cliques, graph, devices="cpu", k=4, batch_size=2000).needed
    assert taken <= estimate


# Arguments


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"k": 0}, "k must be"),
        ({"k": -3}, "k must be"),
        ({"k": 2.5}, "k must be"),
        ({"k": True}, "k must be"),
        ({"k": 3, "batch_size": 0}, "batch_size must be"),
        ({"k": 3, "batch_size": "many"}, "batch_size must be"),
    ],
)
def test_wrong_arguments_are_named_at_once(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(gl.InputError, match=says):
        gl.list_cliques(gl.complete(4), **arguments)


def test_wrong_devices_are_named_at_once() -> None:
    with pytest.raises(gl.InputError, match="unknown device"):
        gl.list_cliques(gl.complete(4), 3, devices="tpu")
    with pytest.raises(DeviceUnavailableError):
        gl.list_cliques(gl.complete(4), 3, devices="cuda:99")


def test_graphs_of_other_libraries_are_taken() -> None:
    assert len(listed(nx.complete_graph(6), 3)) == 20
