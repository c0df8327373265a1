"""The bundled graphs and facts about each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dataset:
    """One bundled graph.

    `num_edges` counts arcs if `directed`. `triangles` and `degeneracy` are those of the undirected form. `events` is
    the number of timed lines of a temporal graph, where an edge may occur many times; None for a graph without times.
    """

    name: str
    about: str
    source: str
    num_vertices: int
    num_edges: int
    triangles: int
    degeneracy: int
    directed: bool = False
    events: int | None = None


DATASETS = {
    each.name: each
    for each in (
        Dataset("karate", "friendships in a karate club", "Newman collection karate", 34, 78, 45, 4),
        Dataset("dolphins", "dolphins of Doubtful Sound seen together", "Newman collection dolphins", 62, 159, 95, 4),
        Dataset("lesmis", "characters of Les Miserables", "Newman collection lesmis", 77, 254, 467, 9),
        Dataset("football", "US college football games of 2000", "Newman collection football", 115, 613, 810, 8),
        Dataset("jazz", "jazz musicians who played together", "DIMACS10 jazz", 198, 2742, 17899, 29),
        Dataset(
            "celegans_metabolic", "metabolic network of C. elegans", "DIMACS10 celegans_metabolic", 453, 2025, 3284, 10
        ),
        Dataset("netscience", "co-authors in network science", "Newman collection netscience", 1461, 2742, 3764, 19),
        Dataset("power", "power grid of the western US", "Newman collection power", 4941, 6594, 651, 5),
        Dataset(
            "polblogs",
            "links between US political blogs, 2004",
            "Newman collection polblogs",
            1224,
            19022,
            101043,
            36,
            True,
        ),
        Dataset(
            "email-Eu-core", "e-mail within a research institution", "SNAP email-Eu-core", 986, 24929, 105461, 34, True
        ),
        Dataset("CollegeMsg", "private messages at a college", "SNAP CollegeMsg", 1899, 20296, 14319, 20, True, 59835),
    )
}
