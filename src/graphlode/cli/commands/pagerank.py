"""`graphlode pagerank`: how often a random walk is at each vertex."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from graphlode.analytics.pagerank import pagerank as rank
from graphlode.cli.load import load
from graphlode.cli.numbers import count
from graphlode.cli.options import (
    DEFAULT_TOP,
    AsJson,
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


def pagerank(
    file: File,
    damping: Annotated[float, typer.Option("--damping", help="Probability that the walk follows an edge.")] = 0.85,
    tol: Annotated[float, typer.Option("--tol", help="Stop when values change by less than this per vertex.")] = 1e-6,
    max_iter: Annotated[int, typer.Option("--max-iter", help="Largest number of iterations.")] = 100,
    weights: Annotated[bool, typer.Option("--weights", help="Take edges in proportion to their weights.")] = False,
    top: Top = None,
    out: Out = None,
    device: Device = None,
    directed: Directed = None,
    format: Format = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Find the PageRank of every vertex."""
    check_out(out)
    with threads_set(threads):
        loaded = load(file, format=format, directed=directed, quiet=as_json)
        with progress_bar("iterating", quiet=as_json) as progress:
            result = rank(
                loaded.graph,
                damping,
                tol=tol,
                max_iter=max_iter,
                weights=weights,
                devices=devices_of(device),
                progress=progress,
            )
    ids = loaded.graph.ids
    highest = np.argsort(-result.values, kind="stable")[: DEFAULT_TOP if top is None else top]
    rows = [{"vertex": int(ids[v]), "value": float(result.values[v])} for v in highest.tolist()]
    lines = [[str(row["vertex"]), f"{row['value']:.6f}"] for row in rows]
    iterations = f"{count(result.iterations)}{'' if result.converged else ', not converged'}"
    report(
        "pagerank",
        loaded,
        result,
        {"iterations": result.iterations, "converged": result.converged, "top": rows},
        shown=[("iterations", iterations, BOLD)],
        listing=Listing("highest values", ["vertex", "value"], lines),
        values={"vertex": ids, "value": result.values},
        out=out,
        as_json=as_json,
    )
