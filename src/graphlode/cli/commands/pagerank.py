"""`graphlode pagerank`: how often a random walk is at each vertex."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from graphlode.analytics.pagerank import pagerank as rank
from graphlode.cli.numbers import count
from graphlode.cli.report import BOLD, Listing, report
from graphlode.cli.request import GRAPH, Request, takes


@takes(*GRAPH, "top", "out")
def pagerank(
    request: Request,
    damping: Annotated[float, typer.Option("--damping", help="Probability that the walk follows an edge.")] = 0.85,
    tol: Annotated[float, typer.Option("--tol", help="Stop when values change by less than this per vertex.")] = 1e-6,
    max_iter: Annotated[int, typer.Option("--max-iter", help="Largest number of iterations.")] = 100,
    weights: Annotated[bool, typer.Option("--weights", help="Take edges in proportion to their weights.")] = False,
) -> None:
    """Find the PageRank of every vertex."""
    result = request.run("iterating", rank, damping, tol=tol, max_iter=max_iter, weights=weights)
    ids = request.graph.ids
    highest = np.argsort(-result.values, kind="stable")[: request.most]
    rows = [{"vertex": int(ids[v]), "value": float(result.values[v])} for v in highest.tolist()]
    lines = [[str(row["vertex"]), f"{row['value']:.6f}"] for row in rows]
    iterations = f"{count(result.iterations)}{'' if result.converged else ', not converged'}"
    report(
        "pagerank",
        request,
        result,
        {"iterations": result.iterations, "converged": result.converged, "top": rows},
        shown=[("iterations", iterations, BOLD)],
        listing=Listing("highest values", ["vertex", "value"], lines),
        values={"vertex": ids, "value": result.values},
    )
