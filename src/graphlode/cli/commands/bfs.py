"""`graphlode bfs`: steps from a source to every vertex."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from graphlode.analytics.bfs import Bfs
from graphlode.analytics.bfs import bfs as search
from graphlode.cli.load import load
from graphlode.cli.numbers import count
from graphlode.cli.options import AsJson, Device, Directed, File, Format, Out, Threads, devices_of, threads_set
from graphlode.cli.output import check_out, write_json, write_table
from graphlode.cli.progress import progress_bar


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
    """Find how many steps every vertex is away from a source."""
    check_out(out)
    with threads_set(threads):
        loaded = load(file, format=format, directed=directed, quiet=as_json)
        with progress_bar("searching level by level", quiet=as_json) as progress:
            result = search(loaded.graph, source, devices=devices_of(device), progress=progress)
    if out is not None:
        write_table(out, {"vertex": loaded.graph.ids, "level": result.levels, "parent": result.parents})
    document: dict[str, Any] = {
        "command": "bfs",
        "graph": loaded.facts(),
        "source": source,
        "reached": result.reached,
        "depth": result.depth,
        "level_sizes": np.bincount(result.levels[result.levels >= 0]).tolist(),
    }
    if out is not None:
        document["out"] = str(out)
    document["provenance"] = result.provenance.to_dict()
    if as_json:
        write_json(document)
    else:
        _show(document, result)


def _show(document: dict[str, Any], result: Bfs) -> None:
    from graphlode.cli.screen import BOLD, Screen, how

    screen = Screen()
    graph = document["graph"]
    rows = [
        ("vertices", count(graph["num_vertices"])),
        ("edges", count(graph["num_edges"])),
        ("source", str(result.source)),
        ("reached", count(result.reached), BOLD),
        ("farthest", f"{count(result.depth)} steps", BOLD),
        ("found in", how(result.provenance)),
    ]
    if "out" in document:
        rows.append(("written to", document["out"]))
    screen.facts(graph["name"], rows)
    shown = document["level_sizes"][:_MOST_LEVELS]
    lines = [[str(level), count(size)] for level, size in enumerate(shown)]
    left = sum(document["level_sizes"][_MOST_LEVELS:])
    screen.listing("vertices by steps", ["steps", "vertices"], [*lines, *([["more", count(left)]] if left else [])])


_MOST_LEVELS = 20
