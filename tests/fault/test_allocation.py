"""The n-th allocation of the core fails, for every n: MemoryError, nothing leaked, and the next call is right.

The counter sees every `buffer` of the core. The second test covers the small vectors as well, because it limits the
address space.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.cpu import _native
from graphlode.graph.views import Oriented
from graphlode.mining.motif_profile import rewired

RNG = np.random.default_rng(11)
DENSE = RNG.integers(0, 500, (2, 4000))
SCATTERED = RNG.integers(-(2**62), 2**62, 300)[RNG.integers(0, 300, (2, 4000))]
WEIGHTS = RNG.random(4000)
# Every vertex of one half joined to all of the other, and some edges within: long rows, few cliques.
HALVES = np.array(np.meshgrid(np.arange(75), np.arange(75, 150))).reshape(2, -1)
CROWDED = np.concatenate([HALVES, RNG.integers(0, 75, (2, 30)), RNG.integers(75, 150, (2, 30))], axis=1)


def fresh() -> gl.Graph:
    """A graph without views."""
    return gl.from_edges(*DENSE, num_vertices=500)


def views(by: Any) -> Callable[[gl.Graph], Any]:
    return lambda graph: graph.view(Oriented(by))["neighbors"].tolist()


def triangles(by: Any, devices: Any = "cpu") -> Callable[[gl.Graph], Any]:
    def count(graph: gl.Graph) -> Any:
        found = gl.count_triangles(graph, by=by, devices=devices)
        return found.total, *(None if a is None else a.tolist() for a in (found.by_vertex, found.by_edge))

    return count


def cliques(method: Any, by: Any) -> Callable[[gl.Graph], Any]:
    def count(graph: gl.Graph) -> Any:
        found = gl.count_cliques(crowded(graph), 4, method=method, by=by, devices="cpu")
        return found.total, *(None if a is None else a.tolist() for a in (found.by_vertex, found.by_edge))

    return count


def crowded(graph: gl.Graph) -> gl.Graph:
    """A graph whose neighborhoods take more than a word per row, without views."""
    return gl.from_edges(*CROWDED)


def sparse(graph: gl.Graph) -> gl.Graph:
    """A graph of fewer edges, without views."""
    return gl.from_edges(*DENSE[:, :300])


def directed(graph: gl.Graph) -> gl.Graph:
    """The same rows as those of a directed graph, without views."""
    return gl.Graph(*graph.csr, directed=True)


CASES: dict[str, Callable[[gl.Graph], Any]] = {
    "build": lambda graph: gl.from_edges(*DENSE, num_vertices=500).edges().tolist(),
    "build-ids": lambda graph: gl.from_edges(*DENSE).edges().tolist(),
    "build-directed": lambda graph: gl.from_edges(*DENSE, directed=True).edges().tolist(),
    "build-scattered-ids": lambda graph: gl.from_edges(*SCATTERED).edges().tolist(),
    "build-weights": lambda graph: gl.from_edges(*DENSE, weights=WEIGHTS).weights.tolist(),  # type: ignore[union-attr]
    "view-degree": views("degree"),
    "view-degeneracy": views("degeneracy"),
    "view-approximate": views("approximate"),
    "triangles": triangles(None),
    "triangles-by-vertex": triangles("vertex"),
    "triangles-by-edge": triangles("edge"),
    "cores": lambda graph: gl.core_numbers(graph, devices="cpu").order.tolist(),
    "bfs": lambda graph: gl.bfs(graph, 7, devices="cpu").parents.tolist(),
    "components": lambda graph: gl.connected_components(graph, devices="cpu").labels.tolist(),
    "shortest-paths": lambda graph: gl.shortest_paths(
        gl.Graph(*graph.csr, directed=False, weights=WEIGHTS[: graph.num_edges]), 7, devices="cpu"
    ).parents.tolist(),
    "label-propagation": lambda graph: gl.label_propagation(graph, max_iter=3, devices="cpu").labels.tolist(),
    "pagerank": lambda graph: gl.pagerank(graph, devices="cpu").values.tolist(),
    "pagerank-directed": lambda graph: gl.pagerank(directed(graph), devices="cpu").values.tolist(),
    "cliques-auto": cliques("auto", None),
    "cliques-pivot": cliques("pivot", None),
    "cliques-pivot-by-edge": cliques("pivot", "edge"),
    "cliques-enumerate": cliques("enumerate", None),
    "cliques-enumerate-by-vertex": cliques("enumerate", "vertex"),
    "cliques-set-by-edge": cliques("set", "edge"),
    "all-cliques": lambda graph: dict(gl.count_all_cliques(crowded(graph), 6, devices="cpu").counts),
    "clique-lists": lambda graph: sorted(
        clique for batch in gl.list_cliques(crowded(graph), 4, devices="cpu") for clique in np.sort(batch).tolist()
    ),
    "maximal-cliques": lambda graph: sorted(
        clique.tolist() for clique in gl.list_maximal_cliques(crowded(graph), min_size=5, devices="cpu")
    ),
    "max-clique": lambda graph: gl.max_clique(crowded(graph), devices="cpu").size,
    "motifs": lambda graph: gl.count_motifs(crowded(graph), devices="cpu").counts,
    "orbits": lambda graph: gl.count_orbits(sparse(graph), devices="cpu").values.tolist(),
    "orbits-of-edges": lambda graph: gl.count_orbits(sparse(graph), edges=True, devices="cpu").values.tolist(),
    "rewiring": lambda graph: [g.edges().tolist() for g in rewired(graph, samples=2, swaps=3, seed=1)],
}


@pytest.fixture(autouse=True)
def _no_failure_is_left_behind() -> Any:
    yield
    _native.fail_allocation(0)


def live() -> int:
    gc.collect()
    return int(_native.live_bytes())


def outcome(work: Callable[[gl.Graph], Any], graph: gl.Graph, n: int) -> Any:
    """The answer, or None if memory ran out. The error and the objects it refers to are released."""
    _native.fail_allocation(n)
    try:
        return work(graph)
    except MemoryError:
        return None
    finally:
        _native.fail_allocation(0)


@pytest.mark.parametrize("name", sorted(CASES))
def test_each_allocation_may_fail(name: str) -> None:
    work = CASES[name]
    expected = work(fresh())
    failures = 0
    before = live()
    for n in range(1, 200):
        graph = fresh()
        found = outcome(work, graph, n)
        if found is not None:
            assert found == expected
            break
        failures += 1
        assert work(graph) == expected, f"wrong after the failure of allocation {n}"
        del graph  # with the views that were finished before the failure
        assert live() == before, f"allocation {n} leaked"
    assert found is not None, "it never succeeded"
    assert failures >= 2


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 21, 34])
def test_an_allocation_may_fail_on_one_of_several_devices(n: int) -> None:
    work = triangles("edge", ["cpu", "cpu"])
    expected = triangles("edge")(fresh())
    before = live()
    graph = fresh()
    assert outcome(work, graph, n) in (None, expected)
    assert work(graph) == expected
    del graph
    assert live() == before


def test_all_memory_comes_back_when_the_graph_goes() -> None:
    before = live()
    graph = fresh()
    gl.count_triangles(graph, by="edge", devices="cpu")
    gl.core_numbers(graph, devices="cpu")
    assert live() > before
    del graph
    assert live() == before


LITTLE_MEMORY = """
import resource
import numpy as np
import graphlode as gl
from graphlode.generate import erdos_renyi_edges
from graphlode.graph.views import Oriented

src, dst = erdos_renyi_edges(10_000, m=200_000, seed=1)
scattered = np.sort(np.random.default_rng(0).integers(0, 2**60, 10_000))

def work():
    graph = gl.from_edges(src, dst, num_vertices=10_000)
    other = gl.from_edges(scattered[src], scattered[dst])
    graph.view(Oriented("approximate"))
    cores = gl.core_numbers(graph, devices="cpu")
    return gl.count_triangles(graph, by="edge", devices="cpu").total, cores.degeneracy, other.num_edges

def address_space():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

def grow_stack(depth):
    return sorted([depth], key=lambda depth: depth and grow_stack(depth - 1))

grow_stack(200)  # a stack that cannot grow any more ends the process: not what this is about
expected = work()  # starts all threads and loads all modules
failed = 0
for megabytes in range(0, 24):
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + megabytes * 2**20, resource.RLIM_INFINITY))
    try:
        assert work() == expected
    except MemoryError:
        failed += 1
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert failed > 3, failed
assert work() == expected
print(failed)
"""


def test_too_little_address_space_is_a_memory_error_and_nothing_worse(run_python: Any) -> None:
    """For a failed allocation in the core, in its vectors or in numpy."""
    # Freed memory goes back to the system, so every attempt has to allocate it again.
    environment = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536", "GRAPHLODE_THREADS": "2"}
    assert int(run_python(LITTLE_MEMORY, **environment)) > 3
