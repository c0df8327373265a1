"""`graphlode components`: which vertices hang together."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.analytics.components import Components, connected_components
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


def components(
    file: File,
    top: Top = None,
    out: Out = None,
    device: Device = None,
    directed: Directed = None,
    format: Format = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Find the connected components; of a directed graph the weakly connected ones."""
    check_out(out)
    with threads_set(threads):
        loaded = load(file, format=format, directed=directed, quiet=as_json)
        with progress_bar("joining vertices", quiet=as_json) as progress:
            result = connected_components(loaded.graph, devices=devices_of(device), progress=progress)
    ids = loaded.graph.ids
    if out is not None:
        write_table(out, {"vertex": ids, "component": result.labels})
    sizes = result.sizes
    largest = np.argsort(-sizes, kind="stable")[: DEFAULT_TOP if top is None else top]
    _, first = np.unique(result.labels, return_index=True)
    document: dict[str, Any] = {
        "command": "components",
        "graph": loaded.facts(),
        "count": result.count,
        "top": [{"component": c, "vertices": int(sizes[c]), "first": int(ids[first[c]])} for c in largest.tolist()],
    }
    if out is not None:
        document["out"] = str(out)
    document["provenance"] = result.provenance.to_dict()
    if as_json:
        write_json(document)
    else:
        _show(document, result)


def _show(document: dict[str, Any], result: Components) -> None:
    from graphlode.cli.screen import BOLD, Screen, how

    screen = Screen()
    graph = document["graph"]
    rows = [
        ("vertices", count(graph["num_vertices"])),
        ("edges", count(graph["num_edges"])),
        ("components", count(result.count), BOLD),
        ("found in", how(result.provenance)),
    ]
    if "out" in document:
        rows.append(("written to", document["out"]))
    screen.facts(graph["name"], rows)
    if document["top"]:
        lines = [[str(row["component"]), count(row["vertices"]), str(row["first"])] for row in document["top"]]
        screen.listing("largest components", ["component", "vertices", "first vertex"], lines)
