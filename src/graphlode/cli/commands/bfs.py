"""`graphlode bfs`: steps from a source to every vertex."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from graphlode.analytics.bfs import bfs as search
from graphlode.cli.load import load
from graphlode.cli.numbers import count
from graphlode.cli.options import AsJson, Device, Directed, File, Format, Out, Threads, devices_of, threads_set
from graphlode.cli.output import check_out
from graphlode.cli.progress import progress_bar
from graphlode.cli.report import BOLD, Listing, report


def bfs(
    file: File,
    source: Annotated[int, typer.Option("--source", help="The vertex where the search begins.", show_default=False)],
    out: Out = None,
    device: Device = None,
    directed: Directed = None,
    format: Format = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Find the number of steps from a source to every vertex."""
    check_out(out)
    with threads_set(threads):
        loaded = load(file, format=format, directed=directed, quiet=as_json)
        with progress_bar("searching level by level", quiet=as_json) as progress:
            result = search(loaded.graph, source, devices=devices_of(device), progress=progress)
    sizes = np.bincount(result.levels[result.levels >= 0]).tolist()
    lines = [[str(level), count(size)] for level, size in enumerate(sizes[:_MOST_LEVELS])]
    if len(sizes) > _MOST_LEVELS:
        lines.append(["more", count(sum(sizes[_MOST_LEVELS:]))])
    report(
        "bfs",
        loaded,
        result,
        {"source": source, "reached": result.reached, "depth": result.depth, "level_sizes": sizes},
        shown=[
            ("source", str(result.source)),
            ("reached", count(result.reached), BOLD),
            ("farthest", f"{count(result.depth)} steps", BOLD),
        ],
        listing=Listing("vertices by steps", ["steps", "vertices"], lines),
        values={"vertex": loaded.graph.ids, "level": result.levels, "parent": result.parents},
        out=out,
        as_json=as_json,
    )


_MOST_LEVELS = 20
