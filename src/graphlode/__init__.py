"""Mine graphs that keep changing, on the CPU cores and GPUs at hand.

Each public name is loaded on first use, so `import graphlode` alone is fast: it loads no NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphlode.common.fork import load as _load

if TYPE_CHECKING:
    from graphlode import errors, generate, locality, measure
    from graphlode.analytics.bfs import Bfs, bfs
    from graphlode.analytics.clustering import Clustering, clustering
    from graphlode.analytics.components import Components, connected_components
    from graphlode.analytics.cores import CoreNumbers, core_numbers
    from graphlode.analytics.label_propagation import Communities, label_propagation
    from graphlode.analytics.pagerank import PageRank, pagerank
    from graphlode.analytics.shortest_paths import ShortestPaths, shortest_paths
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
        web,
    )
    from graphlode.graph.build import from_csr, from_edges, from_networkx, from_scipy
    from graphlode.graph.estimate import Estimate, estimate
    from graphlode.graph.graph import Graph
    from graphlode.graph.store.batch import Batch, BatchResult
    from graphlode.graph.store.dynamic import DynamicGraph
    from graphlode.graph.store.snapshot import Snapshot
    from graphlode.io import EdgeList, read, read_edges, write
    from graphlode.mining.all_cliques import AllCliques, count_all_cliques
    from graphlode.mining.clique_lists import list_cliques
    from graphlode.mining.cliques import CliqueCount, count_cliques
    from graphlode.mining.maximal_cliques import MaxClique, list_maximal_cliques, max_clique
    from graphlode.mining.motif_counts import MotifCounts
    from graphlode.mining.motif_estimates import MotifEstimates, estimate_motifs
    from graphlode.mining.motif_profile import MotifProfile, motif_profile
    from graphlode.mining.motifs import count_motifs
    from graphlode.mining.orbit_counts import OrbitCounts
    from graphlode.mining.orbits import count_orbits

__version__ = "0.1.0"
__all__ = [
    "AllCliques",
    "Batch",
    "BatchResult",
    "Bfs",
    "CliqueCount",
    "Clustering",
    "Communities",
    "Components",
    "CoreNumbers",
    "DynamicGraph",
    "EdgeList",
    "Estimate",
    "Graph",
    "GraphlodeError",
    "InputError",
    "MaxClique",
    "MotifCounts",
    "MotifEstimates",
    "MotifProfile",
    "OrbitCounts",
    "PageRank",
    "ShortestPaths",
    "Snapshot",
    "TriangleCount",
    "barabasi_albert",
    "bfs",
    "clustering",
    "complete",
    "configure",
    "connected_components",
    "core_numbers",
    "count_all_cliques",
    "count_cliques",
    "count_motifs",
    "count_orbits",
    "count_triangles",
    "cycle",
    "dataset",
    "dataset_names",
    "erdos_renyi",
    "errors",
    "estimate",
    "estimate_motifs",
    "from_csr",
    "from_edges",
    "from_networkx",
    "from_scipy",
    "generate",
    "grid",
    "kronecker",
    "label_propagation",
    "list_cliques",
    "list_maximal_cliques",
    "locality",
    "max_clique",
    "measure",
    "motif_profile",
    "pagerank",
    "path",
    "planted_clique",
    "read",
    "read_edges",
    "rmat",
    "settings",
    "shortest_paths",
    "star",
    "web",
    "write",
]

# The module that defines each public name. A name that is not listed is a subpackage. A test compares this table with
# the imports above.
_NAMES_BY_MODULE = {
    "analytics.bfs": ("Bfs", "bfs"),
    "analytics.clustering": ("Clustering", "clustering"),
    "analytics.components": ("Components", "connected_components"),
    "analytics.cores": ("CoreNumbers", "core_numbers"),
    "analytics.label_propagation": ("Communities", "label_propagation"),
    "analytics.pagerank": ("PageRank", "pagerank"),
    "analytics.shortest_paths": ("ShortestPaths", "shortest_paths"),
    "analytics.triangles": ("TriangleCount", "count_triangles"),
    "config": ("configure", "settings"),
    "datasets": ("dataset", "dataset_names"),
    "errors": ("GraphlodeError", "InputError"),
    "generate.barabasi_albert": ("barabasi_albert",),
    "generate.classical": ("complete", "cycle", "grid", "path", "star"),
    "generate.erdos_renyi": ("erdos_renyi",),
    "generate.planted_clique": ("planted_clique",),
    "generate.rmat": ("kronecker", "rmat"),
    "generate.web": ("web",),
    "graph.store.batch": ("Batch", "BatchResult"),
    "graph.build": ("from_csr", "from_edges", "from_networkx", "from_scipy"),
    "graph.store.dynamic": ("DynamicGraph",),
    "graph.estimate": ("Estimate", "estimate"),
    "graph.graph": ("Graph",),
    "graph.store.snapshot": ("Snapshot",),
    "io": ("EdgeList", "read", "read_edges", "write"),
    "mining.all_cliques": ("AllCliques", "count_all_cliques"),
    "mining.clique_lists": ("list_cliques",),
    "mining.cliques": ("CliqueCount", "count_cliques"),
    "mining.maximal_cliques": ("MaxClique", "list_maximal_cliques", "max_clique"),
    "mining.motif_counts": ("MotifCounts",),
    "mining.motif_estimates": ("MotifEstimates", "estimate_motifs"),
    "mining.motif_profile": ("MotifProfile", "motif_profile"),
    "mining.motifs": ("count_motifs",),
    "mining.orbit_counts": ("OrbitCounts",),
    "mining.orbits": ("count_orbits",),
}
_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'graphlode' has no attribute {name!r}")
    module = _MODULE_OF.get(name)
    value = _load(f"graphlode.{name}") if module is None else getattr(_load(f"graphlode.{module}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
