"""What is measured: each operation makes a contest out of a case."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.case import Case
from benchmarks.contest import Contest
from benchmarks.operations import (
    all_cliques,
    build,
    clique_lists,
    cliques,
    cores,
    maximal_cliques,
    read,
    startup,
    triangles,
)
from benchmarks.setting import Setting

OPERATIONS: dict[str, Callable[[Case, Setting], Contest]] = {
    "all_cliques": all_cliques.contest,
    "build": build.contest,
    "clique_lists": clique_lists.contest,
    "cliques": cliques.contest,
    "cores": cores.contest,
    "maximal_cliques": maximal_cliques.contest,
    "read": read.contest,
    "startup": startup.contest,
    "triangles": triangles.contest,
}
