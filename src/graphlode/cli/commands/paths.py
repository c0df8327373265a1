"""`graphlode paths`: the distance of every vertex from a source."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import typer

from graphlode.analytics.shortest_paths import shortest_paths
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
from graphlode.datasets import dataset_names


def paths(
    file: File,
    source: Annotated[int, typer.Option("--source", help="The vertex where paths begin.", show_default=False)],
    weights: Annotated[
        Literal["auto", "weights", "times", "none"],
        typer.Option(
            "--weights",
            help="The values to use as lengths; none: every edge has length 1.",
            show_default="weights if there are any",
        ),
    ] = "auto",
    top: Top = None,
    out: Out = None,
    device: Device = None,
    directed: Directed = None,
    format: Format = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Find the shortest path from a source to every vertex."""
    check_out(out)
    # A bundled graph states what its values are. In a file, a third column is times only if the user says so.
    values = "times" if weights == "times" and file not in dataset_names() else "auto"
    with threads_set(threads):
        loaded = load(file, format=format, directed=directed, values=values, quiet=as_json)
        with progress_bar("going from near to far", quiet=as_json) as progress:
            result = shortest_paths(
                loaded.graph,
                source,
                weights=None if weights == "none" else weights,
                devices=devices_of(device),
                progress=progress,
            )
    ids = loaded.graph.ids
    reached = np.flatnonzero(np.isfinite(result.distances))
    farthest = reached[np.argsort(-result.distances[reached], kind="stable")]
    rows = [
        {"vertex": int(ids[v]), "distance": float(result.distances[v]), "parent": int(result.parents[v])}
        for v in farthest[: DEFAULT_TOP if top is None else top].tolist()
    ]
    lines = [[str(row["vertex"]), f"{row['distance']:g}", str(row["parent"])] for row in rows]
    report(
        "paths",
        loaded,
        result,
        {"source": source, "reached": result.reached, "farthest": result.farthest, "top": rows},
        shown=[
            ("source", str(result.source)),
            ("reached", count(result.reached), BOLD),
            ("farthest", f"{result.farthest:g}", BOLD),
        ],
        listing=Listing("farthest vertices", ["vertex", "distance", "over"], lines),
        values={"vertex": ids, "distance": result.distances, "parent": result.parents},
        out=out,
        as_json=as_json,
    )
