"""What is measured: each operation makes a contest out of a case."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.case import Case
from benchmarks.contest import Contest
from benchmarks.operations import (
    all_cliques,
    bfs,
    build,
    clique_lists,
    cliques,
    components,
    cores,
    maximal_cliques,
    pagerank,
    read,
    startup,
    store,
    triangles,
)
from benchmarks.setting import Setting

OPERATIONS: dict[str, Callable[[Case, Setting], Contest]] = {
    "all_cliques": all_cliques.contest,
    "bfs": bfs.contest,
    "build": build.contest,
    "clique_lists": clique_lists.contest,
    "cliques": cliques.contest,
    "components": components.contest,
    "cores": cores.contest,
    "maximal_cliques": maximal_cliques.contest,
    "pagerank": pagerank.contest,
    "read": read.contest,
    "startup": startup.contest,
    "store": store.contest,
    "triangles": triangles.contest,
}
