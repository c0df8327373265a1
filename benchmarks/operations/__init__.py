"""The measured operations. Each makes a contest of a case."""

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
    label_propagation,
    maximal_cliques,
    motifs,
    orbits,
    pagerank,
    read,
    shortest_paths,
    startup,
    store,
    store_bfs,
    store_hybrid,
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
    "label_propagation": label_propagation.contest,
    "maximal_cliques": maximal_cliques.contest,
    "motifs": motifs.contest,
    "orbits": orbits.contest,
    "pagerank": pagerank.contest,
    "read": read.contest,
    "shortest_paths": shortest_paths.contest,
    "startup": startup.contest,
    "store": store.contest,
    "store_bfs": store_bfs.contest,
    "store_hybrid": store_hybrid.contest,
    "triangles": triangles.contest,
}
