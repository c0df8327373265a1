"""`graphlode paths`: the distance of every vertex from a source."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import typer

from graphlode.analytics.shortest_paths import shortest_paths
from graphlode.cli.numbers import count
from graphlode.cli.report import BOLD, Listing, report
from graphlode.cli.request import GRAPH, Request, takes
from graphlode.datasets import dataset_names


@takes(*GRAPH, "top", "out")
def paths(
    request: Request,
    source: Annotated[int, typer.Option("--source", help="The vertex where ways begin.", show_default=False)],
    weights: Annotated[
        Literal["auto", "weights", "times", "none"],
        typer.Option(
            "--weights",
            help="The values to use as lengths; none: every edge has length 1.",
            show_default="weights if there are any",
        ),
    ] = "auto",
) -> None:
    """Find the shortest way from a source to every vertex."""
    # A bundled graph says itself what it holds; the third column of a file is times only if somebody says so.
    request.values = "times" if weights == "times" and request.file not in dataset_names() else "auto"
    chosen = None if weights == "none" else weights
    result = request.run("going from near to far", shortest_paths, source, weights=chosen)
    ids = request.graph.ids
    reached = np.flatnonzero(np.isfinite(result.distances))
    farthest = reached[np.argsort(-result.distances[reached], kind="stable")]
    rows = [
        {"vertex": int(ids[v]), "distance": float(result.distances[v]), "parent": int(result.parents[v])}
        for v in farthest[: request.most].tolist()
    ]
    lines = [[str(row["vertex"]), f"{row['distance']:g}", str(row["parent"])] for row in rows]
    report(
        "paths",
        request,
        result,
        {"source": source, "reached": result.reached, "farthest": result.farthest, "top": rows},
        shown=[
            ("source", str(result.source)),
            ("reached", count(result.reached), BOLD),
            ("farthest", f"{result.farthest:g}", BOLD),
        ],
        listing=Listing("farthest vertices", ["vertex", "distance", "over"], lines),
        values={"vertex": ids, "distance": result.distances, "parent": result.parents},
    )
