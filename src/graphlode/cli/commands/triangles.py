"""`graphlode triangles`: counts triangles, in total and at each vertex or edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.analytics.triangles import TriangleCount, count_triangles
from graphlode.cli.numbers import count
from graphlode.cli.options import By
from graphlode.cli.report import BOLD, Listing, report
from graphlode.cli.request import GRAPH, Request, takes
from graphlode.errors import InputError
from graphlode.graph.graph import Graph
from graphlode.types import AnyArray


@takes(*GRAPH, "top", "out")
def triangles(
    request: Request,
    by: By = None,
) -> None:
    """Count triangles exactly."""
    if by is None and (request.top, request.out) != (None, None):
        raise InputError("--top and --out need --by vertex or --by edge")
    result = request.run("counting triangles", count_triangles, by=by)
    columns = _columns(request.graph, result)
    found: dict[str, Any] = {"total": result.total}
    listing = None
    if by is not None:
        largest = _largest(columns, request.most)
        found |= {"by": by, "top": largest}
        # Ids are names: no separators between their digits.
        lines = [[*map(str, list(row.values())[:-1]), count(row["triangles"])] for row in largest]
        listing = Listing(f"most triangles by {by}", list(columns), lines)
    report(
        "triangles",
        request,
        result,
        found,
        shown=[("triangles", count(result.total), BOLD)],
        listing=listing,
        values=columns,
        done="counted in",
    )


def _columns(graph: Graph, result: TriangleCount) -> dict[str, AnyArray]:
    """The columns by name, with one row per vertex or edge; empty if only the total was requested."""
    if result.by_vertex is not None:
        return {"vertex": graph.ids, "triangles": result.by_vertex}
    if result.by_edge is not None:
        edges = graph.undirected().edges()
        return {"u": edges[:, 0], "v": edges[:, 1], "triangles": result.by_edge}
    return {}


def _largest(columns: dict[str, AnyArray], top: int) -> list[dict[str, int]]:
    """The rows with the most triangles, most first, ties in the order of the graph."""
    rows = np.argsort(-columns["triangles"], kind="stable")[:top].tolist()
    return [{name: int(column[row]) for name, column in columns.items()} for row in rows]
