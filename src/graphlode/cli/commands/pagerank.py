"""`graphlode pagerank`: the value of every vertex to a walk that follows edges at random."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from graphlode.analytics.pagerank import PageRank
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
from graphlode.cli.output import check_out, write_json, write_table
from graphlode.cli.progress import progress_bar


def pagerank(
    file: File,
    damping: Annotated[float, typer.Option("--damping", help="Probability that the walk follows an edge.")] = 0.85,
    tol: Annotated[float, typer.Option("--tol", help="Stop when values move less than this per vertex.")] = 1e-6,
    max_iter: Annotated[int, typer.Option("--max-iter", help="Most iterations.")] = 100,
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
    if out is not None:
        write_table(out, {"vertex": ids, "value": result.values})
    highest = np.argsort(-result.values, kind="stable")[: DEFAULT_TOP if top is None else top]
    document: dict[str, Any] = {
        "command": "pagerank",
        "graph": loaded.facts(),
        "iterations": result.iterations,
        "converged": result.converged,
        "top": [{"vertex": int(ids[v]), "value": float(result.values[v])} for v in highest.tolist()],
    }
    if out is not None:
        document["out"] = str(out)
    document["provenance"] = result.provenance.to_dict()
    if as_json:
        write_json(document)
    else:
        _show(document, result)


def _show(document: dict[str, Any], result: PageRank) -> None:
    from graphlode.cli.screen import BOLD, Screen, how

    screen = Screen()
    graph = document["graph"]
    rows = [
        ("vertices", count(graph["num_vertices"])),
        ("edges", count(graph["num_edges"])),
        ("iterations", f"{count(result.iterations)}{'' if result.converged else ', not converged'}", BOLD),
        ("found in", how(result.provenance)),
    ]
    if "out" in document:
        rows.append(("written to", document["out"]))
    screen.facts(graph["name"], rows)
    if document["top"]:
        lines = [[str(row["vertex"]), f"{row['value']:.6f}"] for row in document["top"]]
        screen.listing("highest values", ["vertex", "value"], lines)
