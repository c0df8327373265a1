"""The CPU kernels for cliques: widths of bit rows, closed forms, splitting between threads, parts of rows, large
counts."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from math import comb
from pathlib import Path
from threading import Thread
from time import perf_counter, sleep
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import graphlode as gl
from graphlode.common.control import Control
from graphlode.common.counts import from_limbs
from graphlode.cpu import _native
from graphlode.cpu.device import CpuDevice
from graphlode.cpu.graph import oriented, roots
from graphlode.cpu.mining import all_cliques, cliques
from graphlode.datasets import dataset, dataset_names
from graphlode.errors import UnsupportedError
from graphlode.graph.accept import as_undirected
from graphlode.graph.views import Oriented, Roots
from graphlode.types import Task
from strategies import EdgeList, simple_edge_lists

METHODS = ("pivot", "enumerate", "set")
TRUTH = json.loads((Path(__file__).parents[1] / "data/truth/cliques.json").read_text("utf-8"))["graphs"]


class Cpu(CpuDevice):
    """A CPU with a fixed number of threads."""

    def __init__(self, threads: int) -> None:
        super().__init__()
        self._threads = threads

    @property
    def threads(self) -> int:
        return self._threads


def view_of(graph: gl.Graph) -> dict[str, Any]:
    base = {"offsets": graph._offsets, "neighbors": graph._neighbors}
    rows = oriented.build(Cpu(1), base, Oriented(by="degeneracy"), control=Control())
    return roots.build(Cpu(1), rows, Roots(by="degeneracy"), control=Control())


def count(
    view: dict[str, Any],
    k: int,
    *,
    by: str | None = None,
    method: str = "pivot",
    threads: int = 1,
    cuts: Sequence[int] = (),
    control: Control | None = None,
) -> dict[str, Any]:
    ends = [0, *sorted(cuts), view["neighbors"].size]
    tasks = [Task(begin, end) for begin, end in itertools.pairwise(ends)]
    return cliques.launch(Cpu(threads), view, iter(tasks), control=control or Control(), k=k, by=by, method=method)


def count_sizes(view: dict[str, Any], max_k: int | None = None, threads: int = 1) -> list[int]:
    task = Task(0, view["neighbors"].size)
    return all_cliques.launch(Cpu(threads), view, iter([task]), control=Control(), max_k=max_k)["counts"]


def random_graph(n: int, p: float, seed: int) -> gl.Graph:
    return gl.erdos_renyi(n, p=p, seed=seed)


def complete_multipartite(*parts: int) -> gl.Graph:
    part = np.repeat(np.arange(len(parts)), parts)
    u, v = np.triu_indices(part.size, 1)
    apart = part[u] != part[v]
    return gl.from_edges(u[apart], v[apart], num_vertices=part.size)


def cliques_of_multipartite(parts: Sequence[int], k: int) -> int:
    polynomial = [1]
    for size in parts:
        longer = [*polynomial, 0]
        polynomial = [longer[i] + (size * polynomial[i - 1] if i else 0) for i in range(len(longer))]
    return polynomial[k] if k < len(polynomial) else 0


def brute_force(edges: EdgeList, k: int) -> tuple[int, list[int], dict[tuple[int, int], int]]:
    """k-cliques: the number, by vertex, by edge; one vertex after the other, in ascending order."""
    higher: dict[int, set[int]] = {v: set() for v in range(edges.num_vertices)}
    for u, v in edges.simple():
        higher[u].add(v)
    by_vertex = [0] * edges.num_vertices
    by_edge = dict.fromkeys(edges.simple(), 0)
    total = 0

    def extend(held: list[int], candidates: set[int]) -> None:
        nonlocal total
        if len(held) == k:
            total += 1
            for v in held:
                by_vertex[v] += 1
            for pair in itertools.combinations(held, 2):
                by_edge[pair] += 1
            return
        for v in sorted(candidates):
            extend([*held, v], candidates & higher[v])

    extend([], set(range(edges.num_vertices)))
    return total, by_vertex, by_edge


def in_vertex_order(view: dict[str, Any], counts: Any) -> list[int]:
    found = [0] * (view["offsets"].size - 1)
    for rank, value in enumerate(from_limbs(counts).tolist()):
        found[int(view["vertices"][rank])] = value
    return found


def in_edge_order(view: dict[str, Any], counts: Any) -> dict[tuple[int, int], int]:
    rows = np.repeat(np.arange(view["offsets"].size - 1), np.diff(view["offsets"]))
    ends = np.sort(np.stack([view["vertices"][rows], view["vertices"][view["neighbors"]]], axis=1), axis=1)
    return dict(zip(map(tuple, ends.tolist()), from_limbs(counts).tolist(), strict=True))


@settings(max_examples=40)
@given(simple_edge_lists(most_vertices=65, most_edges=260))
def test_all_methods_agree_with_brute_force_in_total_by_vertex_and_by_edge(edges: EdgeList) -> None:
    view = view_of(gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices))
    for k in (3, 4, 5):
        total, by_vertex, by_edge = brute_force(edges, k)
        for method in METHODS:
            assert count(view, k, method=method)["total"] == total
            vertex = count(view, k, method=method, by="vertex")
            edge = count(view, k, method=method, by="edge")
            assert vertex["total"] == edge["total"] == total
            assert in_vertex_order(view, vertex["counts"]) == by_vertex
            assert in_edge_order(view, edge["counts"]) == by_edge


@pytest.mark.parametrize("name", [name for name in dataset_names() if name in TRUTH])
def test_known_counts_of_bundled_graphs(name: str) -> None:
    view = view_of(as_undirected(dataset(name))[0])
    sizes = count_sizes(view)
    for k, total in TRUTH[name].items():
        assert count(view, int(k))["total"] == total
        assert sum(sizes[int(k) : int(k) + 1]) == total


@pytest.mark.parametrize("size", [63, 64, 65, 66, 128, 129, 130, 256, 257, 258, 513, 514, 1025, 1026, 2050])
def test_complete_graphs_around_the_widths_of_bit_rows(size: int) -> None:
    view = view_of(gl.complete(size))
    assert count(view, 5)["total"] == comb(size, 5)
    assert count(view, size)["total"] == 1
    assert count(view, size + 1)["total"] == 0
    if size <= 130:
        assert count(view, 3, method="enumerate")["total"] == comb(size, 3)


@pytest.mark.parametrize("rest", [62, 63, 64, 65, 127, 128, 129, 255, 256, 511, 512])
def test_all_methods_agree_on_dense_rows_of_every_width(rest: int) -> None:
    """A vertex joined to a sparse random graph has one row of `rest` entries."""
    graph = random_graph(rest, 8 / rest, seed=rest)
    src, dst = graph.edges().T
    joined = gl.from_edges(
        np.concatenate([src, np.arange(rest)]), np.concatenate([dst, np.full(rest, rest)]), num_vertices=rest + 1
    )
    view = view_of(joined)
    for k in (3, 4, 5):
        assert len({count(view, k, method=method)["total"] for method in METHODS}) == 1


def rows_of(offsets: Sequence[int], neighbors: Sequence[int]) -> dict[str, Any]:
    """A view with given rows: an order that is not a degeneracy order may have rows of any length."""
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable")
    longest = int(lengths.max())
    return {
        "offsets": np.asarray(offsets, np.int64),
        "neighbors": np.asarray(neighbors, np.int32),
        "vertices": np.arange(len(offsets) - 1, dtype=np.int32),
        "roots": order[lengths[order] >= 2].astype(np.int32),
        "row_counts": np.array([(lengths >= d).sum() for d in range(longest + 2)], np.int64),
    }


@pytest.mark.parametrize("size", [64, 65, 600, 2100])
@pytest.mark.parametrize("method", METHODS)
def test_a_long_row_over_a_path_is_searched_at_any_width(size: int, method: str) -> None:
    """Row 0 holds all vertices, the others the next two: a wheel of triangles, with known numbers of small cliques."""
    neighbors = [list(range(1, size + 1))] + [[w for w in (v + 1, v + 2) if w <= size] for v in range(1, size + 1)]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in neighbors])])
    view = rows_of(offsets.tolist(), list(itertools.chain(*neighbors)))
    edges, triangles = 2 * size - 3, size - 2
    assert count(view, 3, method=method)["total"] == edges + triangles
    assert count(view, 4, method=method, threads=2)["total"] == triangles
    by_vertex = count(view, 3, method=method, by="vertex")["counts"][:, 0]
    assert by_vertex[0] == edges
    assert by_vertex.sum() == 3 * (edges + triangles)
    assert count(view, 5, method=method)["total"] == 0


@pytest.mark.parametrize("parts", [(2,) * 8, (2,) * 45, (1,) * 5 + (2,) * 20, (3,) * 10, (5, 1, 7, 2, 2)])
def test_multipartite_graphs_by_closed_forms(parts: tuple[int, ...]) -> None:
    view = view_of(complete_multipartite(*parts))
    sizes = count_sizes(view)
    for k in range(3, len(parts) + 2):
        expected = cliques_of_multipartite(parts, k)
        assert count(view, k)["total"] == expected
        assert sum(sizes[k : k + 1]) == expected


def test_many_leaves_of_large_multiplicity_do_not_wrap() -> None:
    """More pairs than one closed form covers: most leaves stand for more than 2^50 choices each."""
    parts = (2,) * 44
    view = view_of(complete_multipartite(*parts))
    assert count(view, 30)["total"] == cliques_of_multipartite(parts, 30) > 2**64


def test_counts_above_64_and_128_bits_are_exact() -> None:
    view = view_of(gl.complete(300))
    assert count(view, 150)["total"] == comb(300, 150) > 2**128
    assert count(view, 150, by="vertex")["counts"].shape == (300, 5)
    assert set(from_limbs(count(view, 150, by="vertex")["counts"]).tolist()) == {comb(299, 149)}
    smaller = view_of(gl.complete(100))
    assert set(from_limbs(count(smaller, 40, by="edge")["counts"]).tolist()) == {comb(98, 38)}
    assert count_sizes(view)[150] == comb(300, 150)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", [None, "vertex", "edge"])
def test_tasks_that_begin_and_end_inside_rows_add_up(method: str, by: str | None) -> None:
    view = view_of(random_graph(110, 0.55, seed=3))
    rng = np.random.default_rng(5)
    for k in (3, 4, 6):
        whole = count(view, k, method=method, by=by)
        for cuts in ([1], rng.integers(0, view["neighbors"].size, 9).tolist()):
            parts = count(view, k, method=method, by=by, cuts=cuts)
            assert parts["total"] == whole["total"]
            if by is not None:
                np.testing.assert_array_equal(parts["counts"], whole["counts"])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", [None, "vertex", "edge"])
def test_any_number_of_threads_gives_the_same_answer(method: str, by: str | None) -> None:
    """Few heavy roots, so that the threads must share their branches."""
    view = view_of(random_graph(130, 0.6, seed=11))
    k = 6 if method == "pivot" else 5
    one = count(view, k, method=method, by=by)
    for threads in (2, 4):
        several = count(view, k, method=method, by=by, threads=threads)
        assert several["total"] == one["total"]
        if by is not None:
            np.testing.assert_array_equal(several["counts"], one["counts"])
            pairs = k if by == "vertex" else comb(k, 2)
            assert sum(from_limbs(one["counts"]).tolist()) == pairs * one["total"]


def test_wide_vertices_give_the_same_counts() -> None:
    view = view_of(random_graph(90, 0.5, seed=2))
    wide = {name: array.astype(np.int64) for name, array in view.items()}
    for method in METHODS:
        assert count(wide, 5, method=method)["total"] == count(view, 5, method=method)["total"]


@pytest.mark.parametrize("max_k", [3, 4, 7, 100])
def test_all_sizes_up_to_a_bound(max_k: int) -> None:
    view = view_of(random_graph(120, 0.5, seed=9))
    bounded, full = count_sizes(view, max_k, threads=2), count_sizes(view)
    assert len(bounded) == max_k + 1
    for k in range(3, min(max_k + 1, len(full))):
        assert bounded[k] == full[k] == count(view, k)["total"]


def test_empty_and_tiny_graphs_have_no_cliques() -> None:
    for graph in (gl.from_edges([], [], num_vertices=0), gl.from_edges([0], [1]), gl.star(5)):
        view = view_of(graph)
        for method in METHODS:
            assert count(view, 3, method=method, threads=2)["total"] == 0
        assert sum(count_sizes(view)[3:]) == 0


@pytest.mark.parametrize("method", ["bitmap", "warp", "thread"])
def test_methods_of_other_devices_are_refused_by_name(method: str) -> None:
    with pytest.raises(UnsupportedError, match="pivot, enumerate, set"):
        count(view_of(gl.complete(4)), 3, method=method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_stop_takes_effect_inside_a_single_row(method: str, threads: int) -> None:
    view = view_of(random_graph(300, 0.9, seed=1))
    control = Control()
    failure: list[BaseException] = []

    def work() -> None:
        try:
            count(view, 40, method=method, threads=threads, control=control)
        except InterruptedError as error:
            failure.append(error)

    thread = Thread(target=work)
    thread.start()
    sleep(0.1)
    assert thread.is_alive()
    control.stop()
    started = perf_counter()
    thread.join(5)
    assert failure
    assert perf_counter() - started < 1.0


def test_progress_counts_the_entries_of_searched_rows() -> None:
    control = Control()
    view = view_of(gl.complete(100))
    count(view, 4, control=control, threads=2)
    assert control.done == sum(d for d in range(100) if d >= 3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", [None, "edge"])
def test_a_failed_allocation_is_reported_and_leaves_nothing_behind(method: str, by: str | None) -> None:
    view = view_of(random_graph(150, 0.5, seed=4))
    before = _native.live_bytes()
    failed = 0
    for n in range(1, 40):
        _native.fail_allocation(n)
        try:
            count(view, 4, method=method, by=by, threads=2)
        except MemoryError:
            failed += 1
        finally:
            _native.fail_allocation(0)
    assert failed >= 5
    assert _native.live_bytes() == before


@pytest.mark.parametrize("by", [None, "vertex", "edge"])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_memory_that_is_announced_is_not_exceeded(by: str | None, threads: int) -> None:
    for graph in (gl.complete(200), random_graph(300, 0.3, seed=1)):
        view = view_of(graph)
        shape = {"num_vertices": graph.num_vertices, "num_edges": graph.num_edges, "vertex_bytes": 4}
        before = _native.live_bytes()
        _native.reset_peak_bytes()
        count(view, 4, by=by, threads=threads)
        announced = cliques.memory(Cpu(threads), shape, k=4, by=by, method="pivot")
        assert _native.peak_bytes() - before <= announced
        _native.reset_peak_bytes()
        count_sizes(view, threads=threads) if graph.num_edges == comb(200, 2) else None
        assert _native.peak_bytes() - before <= all_cliques.memory(Cpu(threads), shape, max_k=None)


def test_a_sample_stands_for_every_row_and_holds_the_heaviest() -> None:
    work = np.arange(1000, 0, -1).astype(float) ** 3
    places, weights = cliques.strata(work)
    assert places[0] == 0
    assert weights.sum() == work.size
    assert places.max() < work.size
    assert weights[0] == 1.0


def test_the_estimate_chooses_between_pivoting_and_enumeration() -> None:
    """A large clique has one leaf and very many cliques; a sparse graph is quick either way."""
    overlapping = view_of(complete_multipartite(*(1,) * 150, 3, 3, 3))
    estimate = cliques.estimate(Cpu(1), overlapping, control=Control(), k=8, by=None)
    assert estimate["enumerate"] > 3 * estimate["pivot"] > 0
    small = cliques.estimate(Cpu(1), view_of(gl.complete(12)), control=Control(), k=5, by=None)
    assert small["sampled"] == 0
    assert small["pivot"] <= small["enumerate"]
