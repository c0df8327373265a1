"""Maximal cliques: networkx, closed forms, agreement of devices and threads, streaming, stopping, failing memory."""

from __future__ import annotations

import dataclasses
import gc
import json
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.cpu import _native
from graphlode.errors import InputError, UnsupportedError
from graphlode.execute import devices as device_names
from graphlode.generate import complete, cycle, grid, kronecker, path, star
from strategies import EdgeList, edge_lists, edge_lists_with_ids, relabellings

DEVICES: list[Any] = ["reference", "cpu", ["cpu", "cpu"], ["cpu", "reference"]]

# Maximal cliques and the size of the largest one: the numbers that igraph finds.
REAL = {
    "ca-AstroPh": (36_427, 57),
    "ca-HepPh": (14_937, 239),
    "email-Enron": (226_859, 20),
    "wiki-Vote": (459_002, 17),
    "soc-Slashdot0902": (890_041, 27),
    "dblp-2010": (196_434, 75),
}


@pytest.fixture(
    scope="session", params=DEVICES, ids=lambda names: "+".join(names) if isinstance(names, list) else names
)
def some(request: pytest.FixtureRequest) -> Any:
    """Devices that have a kernel, and mixtures of them."""
    return request.param


def listed(graph: Any, **options: Any) -> list[tuple[int, ...]]:
    return [tuple(clique.tolist()) for clique in gl.list_maximal_cliques(graph, **options)]


def unique(cliques: list[tuple[int, ...]]) -> set[tuple[int, ...]]:
    found = set(cliques)
    assert len(found) == len(cliques), "a clique came twice"
    return found


def of_networkx(graph: Any) -> set[tuple[int, ...]]:
    return {tuple(sorted(clique)) for clique in nx.find_cliques(graph)}


def from_pairs(pairs: Iterable[tuple[int, int]], num_vertices: int) -> gl.Graph:
    src, dst = np.array([*pairs], np.int64).reshape(-1, 2).T
    return gl.from_edges(src, dst, num_vertices=num_vertices)


def multipartite(*sizes: int) -> gl.Graph:
    part = np.repeat(np.arange(len(sizes)), sizes)
    src, dst = np.nonzero(np.triu(part[:, None] != part))
    return gl.from_edges(src, dst, num_vertices=part.size)


CLOSED_FORMS: list[tuple[str, gl.Graph, int, int]] = [
    ("empty", complete(0), 0, 0),
    *[(f"complete-{n}", complete(n), 1, n) for n in (1, 2, 3, 64, 65, 66, 129, 130)],
    ("isolated", from_pairs([], 7), 7, 1),
    ("edge-and-isolated", from_pairs([(1, 4)], 7), 6, 2),
    ("star", star(40), 40, 2),
    ("path", path(33), 32, 2),
    ("cycle-3", cycle(3), 1, 3),
    ("cycle-65", cycle(65), 65, 2),
    ("grid", grid(8, 9), 7 * 9 + 8 * 8, 2),
    ("bipartite", multipartite(7, 33), 7 * 33, 2),
    ("tripartite", multipartite(5, 6, 7), 5 * 6 * 7, 3),
    *[(f"moon-moser-{3 * n}", multipartite(*[3] * n), 3**n, n) for n in (1, 2, 5, 8)],
    ("cocktail-party", multipartite(*[2] * 10), 2**10, 10),
    ("dominated-parts", multipartite(*[1] * 70, 2, 2, 2), 8, 73),
]


@pytest.mark.parametrize(("graph", "count", "largest"), [c[1:] for c in CLOSED_FORMS], ids=[c[0] for c in CLOSED_FORMS])
def test_closed_forms(some: Any, graph: gl.Graph, count: int, largest: int) -> None:
    found = unique(listed(graph, devices=some))
    assert len(found) == count and max(map(len, found), default=0) == largest
    best = gl.max_clique(graph, devices=some)
    assert best.size == len(best.members) == largest
    assert largest == 0 or tuple(best) in found


@settings(max_examples=25)
@given(edges=edge_lists(most_vertices=65, most_edges=700))
def test_all_devices_find_what_networkx_finds(some: Any, edges: EdgeList) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)
    theirs = of_networkx(graph.to_networkx())
    assert unique(listed(graph, devices=some)) == theirs
    best = gl.max_clique(graph, devices=some)
    assert best.size == max(map(len, theirs), default=0)
    assert not theirs or tuple(best) in theirs


@settings(max_examples=15)
@given(edges=edge_lists(most_edges=2000))
def test_the_cpu_finds_what_networkx_finds_in_larger_graphs(edges: EdgeList) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)
    theirs = of_networkx(graph.to_networkx())
    assert unique(listed(graph, devices="cpu")) == theirs
    assert gl.max_clique(graph, devices="cpu").size == max(map(len, theirs), default=0)


@pytest.mark.parametrize(("n", "density"), [(90, 0.6), (200, 0.4), (300, 0.3)])
def test_all_threads_find_what_networkx_finds(n: int, density: float) -> None:
    graph = gl.erdos_renyi(n, p=density, seed=n)
    theirs = of_networkx(graph.to_networkx())
    for threads in (1, 2, 4):
        with gl.configure(threads=threads):
            assert unique(listed(graph, devices="cpu")) == theirs
            best = gl.max_clique(graph, devices="cpu")
            assert best.size == max(map(len, theirs)) and tuple(best) in theirs


@pytest.mark.parametrize("width", [60, 120, 250, 510, 530])
@pytest.mark.parametrize("threads", [1, 4])
def test_rows_of_every_width(width: int, threads: int) -> None:
    """Rows of one to eight and of more words, rewritten in narrower rows at deeper levels, and split branches."""
    wide = multipartite(width, width)  # two independent sets as long as a row
    dense = multipartite(*[1] * width, 3, 3, 3, 2)  # one clique as long as a row, and a few choices
    with gl.configure(threads=threads):
        for graph, count, largest in ((wide, width**2, 2), (dense, 54, width + 4)):
            batches = list(gl.list_maximal_cliques(graph, devices="cpu").batches())
            rows = np.concatenate([batch.members for batch in batches]).reshape(-1, largest)
            assert len(rows) == len(np.unique(rows, axis=0)) == count
            assert gl.max_clique(graph, devices="cpu").size == largest


@settings(max_examples=15)
@given(edges=edge_lists_with_ids(most_vertices=65, most_edges=600))
def test_members_are_original_ids_ascending_or_positions(edges: EdgeList) -> None:
    graph = gl.from_edges(edges.src, edges.dst)
    by_id = listed(graph, devices="cpu")
    assert unique(by_id) == of_networkx(graph.to_networkx())
    by_index = listed(graph, devices="cpu", indices=True)
    assert {tuple(graph.ids[list(clique)].tolist()) for clique in by_index} == set(by_id)
    best = gl.max_clique(graph, devices="cpu")
    with gl.configure(threads=1):
        assert len(gl.max_clique(graph, devices="cpu", indices=True)) == best.size
    assert best.members.tolist() == sorted(best)


@settings(max_examples=15)
@given(data=st.data(), edges=edge_lists(most_vertices=65, most_edges=900))
def test_new_names_change_nothing_but_the_names(data: st.DataObject, edges: EdgeList) -> None:
    names = data.draw(relabellings(edges.num_vertices))
    before = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices)
    after = gl.from_edges(names[edges.src], names[edges.dst], num_vertices=edges.num_vertices)
    renamed = {tuple(sorted(names[list(clique)].tolist())) for clique in listed(before, devices="cpu")}
    assert set(listed(after, devices="cpu")) == renamed


@pytest.mark.parametrize("min_size", [1, 2, 3, 4, 7, 11])
def test_smaller_cliques_are_left_out(some: Any, min_size: int) -> None:
    graph = gl.dataset("lesmis")
    every = listed(graph, devices="cpu")
    kept = {clique for clique in every if len(clique) >= min_size}
    assert unique(listed(graph, devices=some, min_size=min_size)) == kept


@pytest.mark.parametrize("batch_size", [1, 2, 100, 10**6])
def test_batches_hold_what_the_iterator_gives(some: Any, batch_size: int) -> None:
    graph = gl.erdos_renyi(60, p=0.4, seed=2)
    expected = set(listed(graph, devices="cpu"))
    found: list[tuple[int, ...]] = []
    stream = gl.list_maximal_cliques(graph, batch_size=batch_size, devices=some)
    for batch in stream.batches():
        assert 1 <= len(batch) <= batch_size
        assert batch.offsets.dtype == batch.members.dtype == np.int64
        assert batch.offsets[0] == 0 and batch.offsets[-1] == batch.members.size
        assert batch.sizes.tolist() == [len(clique) for clique in batch]
        assert batch[-1].tolist() == list(batch)[-1].tolist() == batch[len(batch) - 1].tolist()
        found += [tuple(clique.tolist()) for clique in batch]
    assert unique(found) == expected
    assert stream.provenance is not None and stream.provenance.operation == "mining.maximal_cliques"
    assert next(stream, None) is None


def threads_of_streams() -> list[str]:
    return [thread.name for thread in threading.enumerate() if "stream" in thread.name or "aside" in thread.name]


def test_a_caller_who_stops_early_leaves_no_thread(some: Any) -> None:
    endless = multipartite(*[3] * 40)  # 3^40 maximal cliques
    with gl.list_maximal_cliques(endless, devices=some) as stream:
        first = [next(stream) for _ in range(100)]
    assert all(len(clique) == 40 for clique in first)
    assert threads_of_streams() == []
    assert next(stream, None) is None and stream.provenance is None


def test_a_stream_that_is_dropped_stops_by_itself() -> None:
    stream = gl.list_maximal_cliques(multipartite(*[3] * 40), devices="cpu")
    next(stream)
    del stream
    gc.collect()
    waited = time.monotonic() + 5
    while threads_of_streams() and time.monotonic() < waited:
        time.sleep(0.01)
    assert threads_of_streams() == []


@pytest.mark.parametrize("threads", [1, 4])
def test_a_stop_takes_effect_within_a_third_of_a_second(threads: int) -> None:
    """Both searches, in the middle of a root that would take extremely long."""
    from graphlode.common.control import Control
    from graphlode.cpu.device import CpuDevice
    from graphlode.cpu.mining.maximal_cliques import launch
    from graphlode.graph.views import Oriented
    from graphlode.types import Task

    sparse_sink: Callable[[Any], None] = lambda batch: None  # noqa: E731
    hard = {"all": multipartite(*[3] * 60), "largest": gl.erdos_renyi(700, p=0.9, seed=1)}
    for want, graph in hard.items():
        view = graph.view(Oriented(by="degeneracy"))
        control = Control()
        timer = threading.Timer(0.2, control.stop)
        with gl.configure(threads=threads):
            timer.start()
            started = time.monotonic()
            with pytest.raises(InterruptedError):
                launch(
                    CpuDevice(),
                    view,
                    iter([Task(0, graph.num_vertices)]),
                    control=control,
                    want=want,
                    min_size=1,
                    batch_size=1000,
                    ids=None,
                    sink=sparse_sink,
                )
        assert 0.2 <= time.monotonic() - started < 0.2 + 0.3 * 3  # factor three: other work may run at the same time


def test_an_error_in_the_sink_ends_the_search_and_is_the_callers(threads: int) -> None:
    from graphlode.execute.run import run
    from graphlode.mining.maximal_cliques import MAXIMAL_CLIQUES

    def refuse(batch: Any) -> None:
        raise KeyError("refused")

    with gl.configure(threads=threads), pytest.raises(KeyError, match="refused"):
        run(
            MAXIMAL_CLIQUES,
            multipartite(*[3] * 40),
            "cpu",
            want="all",
            min_size=1,
            batch_size=10,
            ids=None,
            sink=refuse,
        )


def test_progress_is_reported_in_vertices() -> None:
    graph = kronecker(10, 8, seed=1)
    reports: list[tuple[int, int]] = []
    listed(graph, devices="cpu", progress=lambda done, total: reports.append((done, total)))
    assert reports[-1] == (graph.num_vertices, graph.num_vertices)


def test_auto_chooses_a_device_that_has_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_names, "_cuda_names", lambda: ("cuda:0",))
    assert gl.max_clique(complete(4)).provenance.devices == ("cpu",)
    assert gl.estimate(gl.max_clique, complete(4)).devices[0].device == "cpu"
    assert len(listed(complete(4))) == 1


def test_an_explicit_device_without_a_kernel_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="no kernel for the device"):
        gl.max_clique(complete(4), devices="cuda-emulated")
    with pytest.raises(UnsupportedError, match="no kernel for the device"):
        next(gl.list_maximal_cliques(complete(4), devices=["cpu", "cuda-emulated"]))


@pytest.mark.parametrize("name", ["min_size", "batch_size"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "2", None, True])
def test_sizes_are_positive_integers(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{name} must be an integer of at least 1"):
        gl.list_maximal_cliques(complete(3), **{name: value})


def test_a_directed_graph_is_searched_in_its_undirected_form() -> None:
    graph = gl.from_edges([0, 1, 2, 1], [1, 2, 0, 0], directed=True)
    found = gl.max_clique(graph, devices="cpu")
    assert found.members.tolist() == [0, 1, 2]
    assert found.provenance.notes == ("directed graph: its undirected form was used",)


def test_the_largest_clique_is_a_frozen_value_ready_for_json() -> None:
    found = gl.max_clique(gl.dataset("lesmis"), devices="cpu")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.size = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        found.members[0] = 0
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["size"] == len(plain["members"]) == int(found) == 10
    assert plain["provenance"]["method"] == "branch and bound"


@pytest.mark.parametrize("what", ["list", "largest"])
def test_each_allocation_may_fail(what: str) -> None:
    src, dst = np.random.default_rng(3).integers(0, 60, (2, 800))

    def work(graph: gl.Graph) -> Any:
        if what == "list":
            return sorted(listed(graph, devices="cpu"))
        return gl.max_clique(graph, devices="cpu").size

    def live() -> int:
        gc.collect()
        return int(_native.live_bytes())

    with gl.configure(threads=2):
        expected = work(gl.from_edges(src, dst, num_vertices=60))
        before = live()
        for n in range(1, 400):
            graph = gl.from_edges(src, dst, num_vertices=60)
            _native.fail_allocation(n)
            found = None
            try:
                found = work(graph)
            except MemoryError:
                pass
            finally:
                _native.fail_allocation(0)
            assert work(graph) == expected, f"wrong after the failure of allocation {n}"
            del graph
            assert live() == before, f"allocation {n} leaked"
            if found is not None:
                assert found == expected
                break
        assert found is not None and n > 5


@pytest.mark.parametrize("what", ["list", "largest"])
def test_the_estimate_of_memory_is_not_exceeded(what: str) -> None:
    graph = kronecker(12, 12, seed=5)
    for threads in (1, 3):
        with gl.configure(threads=threads):
            fresh = gl.from_edges(*graph.edges().T)
            function = gl.list_maximal_cliques if what == "list" else gl.max_clique
            needed = gl.estimate(function, fresh, devices="cpu").needed
            base = _native.live_bytes()
            _native.reset_peak_bytes()
            if what == "list":
                stream = gl.list_maximal_cliques(fresh, devices="cpu", min_size=9)
                assert sum(len(batch) for batch in stream.batches()) > 0
            else:
                assert gl.max_clique(fresh, devices="cpu").size > 8
            assert 0 < _native.peak_bytes() - base <= needed


@pytest.mark.parametrize("name", sorted(REAL))
def test_larger_real_graphs(real_graph: Callable[..., gl.Graph], name: str) -> None:
    graph = real_graph(name)
    count, largest = REAL[name]
    sizes = [batch.sizes for batch in gl.list_maximal_cliques(graph, devices="cpu").batches()]
    assert sum(map(len, sizes)) == count and max(size.max() for size in sizes) == largest
    best = gl.max_clique(graph, devices="cpu")
    assert best.size == largest
    inside = np.searchsorted(graph.undirected().ids, best.members)
    offsets, neighbors = graph.undirected().csr
    for v in inside:
        row = neighbors[offsets[v] : offsets[v + 1]]
        assert np.isin(inside, row).sum() == largest - 1


@pytest.mark.parametrize("devices", ["cpu", "reference"])
def test_bounds_that_leave_64_bits_are_taken(devices: str) -> None:
    graph = gl.complete(5)
    assert [c.tolist() for c in gl.list_maximal_cliques(graph, batch_size=2**70, devices=devices)] == [[0, 1, 2, 3, 4]]
    assert list(gl.list_maximal_cliques(graph, min_size=2**70, devices=devices)) == []
