"""Breadth-first search on the pages of a store against the same search on rows that never change.

The store gets most of the graph at once and the rest in batches, so its pages have the usual gaps of a store that
changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.inputs import digest
from benchmarks.setting import Setting

_IN_BATCHES = 0.1
_BATCHES = 10


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    graph = gl.from_edges(*given.graph.edges(indices=True).T, num_vertices=given.num_vertices)
    source = int(np.argmax(graph.degrees()))
    store = gl.DynamicGraph(num_vertices=given.num_vertices, devices=setting.devices)
    edges = np.random.default_rng(1).permutation(graph.edges(indices=True))
    later = int(len(edges) * _IN_BATCHES)
    store.insert(*edges[later:].T)
    for batch in np.array_split(edges[:later], _BATCHES):
        store.insert(*batch.T)
    snapshot = store.snapshot()
    ours = setting.ours(methods={"bfs on pages": lambda: gl.bfs(snapshot, source)}, answer=_answer)
    static = Contender(
        "static rows",
        gl.__version__,
        ours.settings,
        {"bfs on rows": lambda: gl.bfs(graph, source, devices=setting.devices)},
        answer=_answer,
    )
    expected = _answer(gl.bfs(graph, source, devices="cpu"))
    sizes = {"store": int(sum(store.memory_usage().values())), "rows": graph.nbytes}
    return Contest([ours, static], expected, "the search on static rows of the CPU, in this run", sizes)


def _answer(found: gl.Bfs) -> dict[str, Any]:
    """Levels alone would not show a wrong parent."""
    return {
        "reached": found.reached,
        "depth": found.depth,
        "levels": digest(found.levels.astype(np.int64)),
        "parents": digest(found.parents.astype(np.int64)),
    }
