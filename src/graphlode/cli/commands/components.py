"""`graphlode components`: which vertices are joined by a path."""

from __future__ import annotations

import numpy as np

from graphlode.analytics.components import connected_components
from graphlode.cli.numbers import count
from graphlode.cli.report import BOLD, Listing, report
from graphlode.cli.request import GRAPH, Request, takes


@takes(*GRAPH, "top", "out")
def components(request: Request) -> None:
    """Find the connected components; of a directed graph the weakly connected ones."""
    result = request.run("joining vertices", connected_components)
    ids, sizes = request.graph.ids, result.sizes
    largest = np.argsort(-sizes, kind="stable")[: request.most]
    _, first = np.unique(result.labels, return_index=True)
    rows = [{"component": c, "vertices": int(sizes[c]), "first": int(ids[first[c]])} for c in largest.tolist()]
    lines = [[str(row["component"]), count(row["vertices"]), str(row["first"])] for row in rows]
    report(
        "components",
        request,
        result,
        {"count": result.count, "top": rows},
        shown=[("components", count(result.count), BOLD)],
        listing=Listing("largest components", ["component", "vertices", "first vertex"], lines),
        values={"vertex": ids, "component": result.labels},
    )
