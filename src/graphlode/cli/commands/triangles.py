"""`graphlode triangles`: counts triangles, in total and at each vertex or edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.analytics.triangles import TriangleCount, count_triangles
from graphlode.cli.load import load
from graphlode.cli.numbers import count
from graphlode.cli.options import (
    DEFAULT_TOP,
    AsJson,
    By,
    Device,
    Directed,
    File,
    Format,
    Out,
    Threads,
    Top,
    devices_of,
    threads_set,
)
from graphlode.cli.output import check_out
from graphlode.cli.progress import progress_bar
from graphlode.cli.report import BOLD, Listing, report
from graphlode.errors import InputError
from graphlode.graph.graph import Graph
from graphlode.types import AnyArray


def triangles(
    file: File,
    by: By = None,
    top: Top = None,
    out: Out = None,
    device: Device = None,
    directed: Directed = None,
    format: Format = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Count triangles exactly."""
    if by is None and (top is not None or out is not None):
        raise InputError("--top and --out need --by vertex or --by edge")
    check_out(out)
    with threads_set(threads):
        loaded = load(file, format=format, directed=directed, quiet=as_json)
        with progress_bar("counting triangles", quiet=as_json) as progress:
            result = count_triangles(loaded.graph, by=by, devices=devices_of(device), progress=progress)
    columns = _columns(loaded.graph, result)
    fields: dict[str, Any] = {"total": result.total}
    listing = None
    if by is not None:
        largest = _largest(columns, DEFAULT_TOP if top is None else top)
        fields |= {"by": by, "top": largest}
        # Ids are names, so they have no separators between digits.
        lines = [[*map(str, list(row.values())[:-1]), count(row["triangles"])] for row in largest]
        listing = Listing(f"most triangles by {by}", list(columns), lines)
    report(
        "triangles",
        loaded,
        result,
        fields,
        shown=[("triangles", count(result.total), BOLD)],
        listing=listing,
        values=columns,
        out=out,
        as_json=as_json,
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
