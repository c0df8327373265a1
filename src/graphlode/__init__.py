"""Mine graphs that keep changing, on the CPU cores and GPUs at hand."""

from __future__ import annotations

from graphlode import errors, generate
from graphlode.analytics.cores import CoreNumbers, core_numbers
from graphlode.analytics.triangles import TriangleCount, count_triangles
from graphlode.config import configure, settings
from graphlode.datasets import dataset, dataset_names
from graphlode.errors import GraphlodeError, InputError
from graphlode.generate import (
    barabasi_albert,
    complete,
    cycle,
    erdos_renyi,
    grid,
    kronecker,
    path,
    planted_clique,
    rmat,
    star,
)
from graphlode.graph.build import from_csr, from_edges, from_networkx, from_scipy
from graphlode.graph.estimate import Estimate, estimate
from graphlode.graph.graph import Graph
from graphlode.io import EdgeList, read, read_edges, write

__version__ = "0.1.0"
__all__ = [
    "CoreNumbers",
    "EdgeList",
    "Estimate",
    "Graph",
    "GraphlodeError",
    "InputError",
    "TriangleCount",
    "barabasi_albert",
    "complete",
    "configure",
    "core_numbers",
    "count_triangles",
    "cycle",
    "dataset",
    "dataset_names",
    "erdos_renyi",
    "errors",
    "estimate",
    "from_csr",
    "from_edges",
    "from_networkx",
    "from_scipy",
    "generate",
    "grid",
    "kronecker",
    "path",
    "planted_clique",
    "read",
    "read_edges",
    "rmat",
    "settings",
    "star",
    "write",
]
