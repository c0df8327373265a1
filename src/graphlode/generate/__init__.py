"""Generated graphs. Random ones depend on their arguments and the seed alone."""

from graphlode.generate.barabasi_albert import barabasi_albert, barabasi_albert_edges
from graphlode.generate.classical import (
    complete,
    complete_edges,
    cycle,
    cycle_edges,
    grid,
    grid_edges,
    path,
    path_edges,
    star,
    star_edges,
)
from graphlode.generate.erdos_renyi import erdos_renyi, erdos_renyi_edges
from graphlode.generate.planted_clique import planted_clique, planted_clique_edges, planted_members
from graphlode.generate.rmat import kronecker, kronecker_edges, rmat, rmat_edges
from graphlode.generate.web import web, web_edges

__all__ = [
    "barabasi_albert",
    "barabasi_albert_edges",
    "complete",
    "complete_edges",
    "cycle",
    "cycle_edges",
    "erdos_renyi",
    "erdos_renyi_edges",
    "grid",
    "grid_edges",
    "kronecker",
    "kronecker_edges",
    "path",
    "path_edges",
    "planted_clique",
    "planted_clique_edges",
    "planted_members",
    "rmat",
    "rmat_edges",
    "star",
    "star_edges",
    "web",
    "web_edges",
]
