"""The view that motifs and orbits are counted on: the whole graph in rank space, with the triangles at each edge."""

from __future__ import annotations

from dataclasses import dataclass

from graphlode.graph.views import Csr


@dataclass(frozen=True)
class Supported:
    """Both directions of every edge, in the ranks of the degree order, and the number of triangles at each edge.

    Ranks ascend by (degree, vertex), as in `Oriented("degree")`. `offsets` and `neighbors` hold the ranks of all
    neighbors, ascending; the first `lower[u]` of row u rank below u. `edges` has the edge id of each entry: the edge
    {u > v} has the id lower_offsets[u] + (place of v in row u), where lower_offsets is the exclusive sum of `lower`.
    `triangles` has the number of triangles of each edge id; `vertices[rank]` is the vertex.
    """

    name = "mining.supports"
    base = Csr()
