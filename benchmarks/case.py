"""Cases: the measurements, as data. Each file in `cases/` except `graphs.toml` is a group.

An entry with `each` stands for many cases: `each = { graph = ["mico"], k = [4, 6] }` makes one case of every
combination. The name contains their values, as in "cliques/{graph}/k{k}". A key that is not a field of a case becomes
an option.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from fnmatch import fnmatch
from itertools import product
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parent / "cases"
GRAPHS = "graphs"
SMOKE = "smoke"
GROUPS = {
    "build": "Building a graph from arrays",
    "read": "Reading text files",
    "triangles": "Triangles",
    "cores": "Core numbers",
    "bfs": "Breadth-first search",
    "components": "Connected components",
    "pagerank": "PageRank",
    "shortest_paths": "Shortest paths",
    "label_propagation": "Label propagation",
    "cliques": "Cliques",
    "clique_threads": "Cliques with one and two threads",
    "all_cliques": "Cliques of all sizes",
    "clique_lists": "Listing cliques",
    "maximal_cliques": "Maximal cliques",
    "motifs": "Motifs",
    "orbits": "Orbits",
    "store": "Batches into and out of a store",
    "gpu": "A GPU against the cores beside it",
    "gpu_cliques": "Cliques on a GPU",
    "gpu_walks": "Walks over graphs on a GPU",
    "gpu_motifs": "Motifs and orbits on a GPU",
    "gpu_store": "Batches into and out of a store on a GPU",
    "import": "Start-up",
    "peers": "Against other libraries",
    "peer_cliques": "Cliques against other libraries",
    "smoke": "Smoke",
}
"""Headings of the groups, in the order of the report."""


@dataclass(frozen=True)
class Case:
    """One measurement.

    `expected` is the answer, or the name of the independent method that computes it in the run, or "recorded": the
    answer is stored with the graph. `what` says what the time includes: "device" the kernels alone, by the clock of a
    CUDA device, "kernel" the search alone, "resident" the whole call with what it derives from the graph already there,
    "end_to_end" the whole call. `needs` is the kind of device that the case requires.
    """

    name: str
    group: str
    operation: str
    what: Literal["device", "kernel", "resident", "end_to_end"]
    expected: Any
    graph: str | None = None
    peers: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    repeats: int = 5
    warmup: int = 1
    settle: int = 0  # untimed calls directly before each timed one
    quiet: bool = False  # on the core that is fastest at the moment (quiet.py)
    stays: int = 0  # samples before that core is chosen again; 0: all
    rounds: int = 1  # repetitions of everything; a sample is the median of its times in all of them
    needs: str | None = None


def load_cases(folder: Path = FOLDER) -> list[Case]:
    """All cases, in the order of their files."""
    cases = []
    for file in sorted(folder.glob("*.toml")):
        if file.stem != GRAPHS:
            for entry in tomllib.loads(file.read_text("utf-8"))["case"]:
                cases += [_case(file.stem, made) for made in _each(entry)]
    return cases


def _case(group: str, entry: dict[str, Any]) -> Case:
    return Case(group=group, **entry | {"peers": tuple(entry.get("peers", ()))})


def _each(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The entry itself, or one for every combination of what its `each` lists."""
    shared = dict(entry)
    axes: dict[str, list[Any]] = shared.pop("each", {})
    known = {each.name for each in fields(Case)}
    for values in product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        own = {name: value for name, value in chosen.items() if name in known}
        options = shared.get("options", {}) | {name: value for name, value in chosen.items() if name not in known}
        yield shared | own | {"name": shared["name"].format(**chosen), "options": options}


def choose(cases: list[Case], groups: list[str], pattern: str | None) -> list[Case]:
    """The cases of the groups (none: all but smoke) whose names match the pattern."""
    chosen = [case for case in cases if (case.group in groups if groups else case.group != SMOKE or pattern)]
    return [case for case in chosen if pattern is None or fnmatch(case.name, pattern)]
