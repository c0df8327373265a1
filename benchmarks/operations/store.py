"""A batch of new edges into, or out of, a store that holds the whole graph, both directions of each edge.

Options: `batch`, its size; `kind` of edges (`random`, `one vertex`, `descending`); `path` through the store; `delete`.
Every sample has edges of its own: inserted edges leave, and deleted ones come back, before the next sample.
"""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contest
from benchmarks.setting import Setting
from graphlode.experiments.store_batch import new_edges

_BATCHES = 6


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    options: dict[str, Any] = {"kind": "random", "path": "auto", "delete": False} | case.options
    graph = gl.from_edges(*given.both_ways, num_vertices=given.num_vertices, directed=True)
    src, dst = graph.edges(indices=True).T
    store = gl.DynamicGraph(
        directed=True, num_vertices=given.num_vertices, devices=setting.devices, strategy=options["path"]
    )
    store.insert(src, dst)
    batches = cycle(list(new_edges(graph, options["kind"], options["batch"], _BATCHES)))
    state: dict[str, Any] = {}

    def setup() -> None:
        """Undoes the sample before and gets the next batch ready."""
        if state:
            store.apply(gl.Batch(*state["edges"], delete=np.full(state["edges"][0].size, not options["delete"])))
        state["edges"] = next(batches)
        if options["delete"]:
            store.insert(*state["edges"])
        state["batch"] = gl.Batch(*state["edges"], delete=np.full(state["edges"][0].size, options["delete"]))

    def run() -> int:
        result = store.apply(state["batch"])
        return result.deleted if options["delete"] else result.inserted

    sizes = {"store": int(sum(store.memory_usage().values())), "edges": store.num_edges}
    expected = int(next(batches)[0].size)
    ours = setting.ours(methods={f"apply({options['path']})": run}, setup=setup)
    return Contest([ours], expected, "the batch", sizes)
