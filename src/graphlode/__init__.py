"""Mine graphs that keep changing, on the CPU cores and GPUs at hand."""

from __future__ import annotations

from graphlode.analytics.cores import CoreNumbers, core_numbers
from graphlode.analytics.triangles import TriangleCount, count_triangles
from graphlode.config import configure, settings
from graphlode.graph.build import from_csr, from_edges, from_networkx, from_scipy
from graphlode.graph.graph import Graph

__version__ = "0.1.0"
__all__ = [
    "CoreNumbers",
    "Graph",
    "TriangleCount",
    "configure",
    "core_numbers",
    "count_triangles",
    "from_csr",
    "from_edges",
    "from_networkx",
    "from_scipy",
    "settings",
]
