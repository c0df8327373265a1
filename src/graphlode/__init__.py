"""Mine graphs that keep changing, on the CPU cores and GPUs at hand.

Public names are loaded when they are first used: importing graphlode takes no time, not even numpy's.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphlode import errors, generate, measure
    from graphlode.analytics.bfs import Bfs, bfs
    from graphlode.analytics.components import Components, connected_components
    from graphlode.analytics.cores import CoreNumbers, core_numbers
    from graphlode.analytics.pagerank import PageRank, pagerank
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
    from graphlode.graph.batch import Batch, BatchResult
    from graphlode.graph.build import from_csr, from_edges, from_networkx, from_scipy
    from graphlode.graph.dynamic import DynamicGraph
    from graphlode.graph.estimate import Estimate, estimate
    from graphlode.graph.graph import Graph
    from graphlode.graph.snapshot import Snapshot
    from graphlode.io import EdgeList, read, read_edges, write
    from graphlode.mining.all_cliques import AllCliques, count_all_cliques
    from graphlode.mining.clique_lists import list_cliques
    from graphlode.mining.cliques import CliqueCount, count_cliques
    from graphlode.mining.maximal_cliques import MaxClique, list_maximal_cliques, max_clique

__version__ = "0.1.0"
__all__ = [
    "AllCliques",
    "Batch",
    "BatchResult",
    "Bfs",
    "CliqueCount",
    "Components",
    "CoreNumbers",
    "DynamicGraph",
    "EdgeList",
    "Estimate",
    "Graph",
    "GraphlodeError",
    "InputError",
    "MaxClique",
    "PageRank",
    "Snapshot",
    "TriangleCount",
    "barabasi_albert",
    "bfs",
    "complete",
    "configure",
    "connected_components",
    "core_numbers",
    "count_all_cliques",
    "count_cliques",
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
    "list_cliques",
    "list_maximal_cliques",
    "max_clique",
    "measure",
    "pagerank",
    "path",
    "planted_clique",
    "read",
    "read_edges",
    "rmat",
    "settings",
    "star",
    "write",
]

# Where each name lives; a name that is not here is a subpackage. A test compares this with the imports above.
_HOMES = {
    "analytics.bfs": ("Bfs", "bfs"),
    "analytics.components": ("Components", "connected_components"),
    "analytics.cores": ("CoreNumbers", "core_numbers"),
    "analytics.pagerank": ("PageRank", "pagerank"),
    "analytics.triangles": ("TriangleCount", "count_triangles"),
    "config": ("configure", "settings"),
    "datasets": ("dataset", "dataset_names"),
    "errors": ("GraphlodeError", "InputError"),
    "generate.barabasi_albert": ("barabasi_albert",),
    "generate.classical": ("complete", "cycle", "grid", "path", "star"),
    "generate.erdos_renyi": ("erdos_renyi",),
    "generate.planted_clique": ("planted_clique",),
    "generate.rmat": ("kronecker", "rmat"),
    "graph.batch": ("Batch", "BatchResult"),
    "graph.build": ("from_csr", "from_edges", "from_networkx", "from_scipy"),
    "graph.dynamic": ("DynamicGraph",),
    "graph.estimate": ("Estimate", "estimate"),
    "graph.graph": ("Graph",),
    "graph.snapshot": ("Snapshot",),
    "io": ("EdgeList", "read", "read_edges", "write"),
    "mining.all_cliques": ("AllCliques", "count_all_cliques"),
    "mining.clique_lists": ("list_cliques",),
    "mining.cliques": ("CliqueCount", "count_cliques"),
    "mining.maximal_cliques": ("MaxClique", "list_maximal_cliques", "max_clique"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'graphlode' has no attribute {name!r}")
    home = _HOME_OF.get(name)
    value = import_module(f"graphlode.{name}") if home is None else getattr(import_module(f"graphlode.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
