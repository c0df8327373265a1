"""`graphlode cores`: core numbers and degeneracy."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.analytics.cores import CoreNumbers, core_numbers
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


def cores(
    file: File,
    top: Top = None,
    out: Out = None,
    device: Device = None,
    directed: Directed = None,
    format: Format = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Find the core number of every vertex."""
    check_out(out)
    with threads_set(threads):
        loaded = load(file, format=format, directed=directed, quiet=as_json)
        with progress_bar("removing vertices in rounds", quiet=as_json) as progress:
            result = core_numbers(loaded.graph, devices=devices_of(device), progress=progress)
    ids = loaded.graph.ids
    if out is not None:
        write_table(out, {"vertex": ids, "core": result.values})
    levels, sizes = np.unique(result.values, return_counts=True)
    innermost = np.argsort(-result.values, kind="stable")[: DEFAULT_TOP if top is None else top]
    document: dict[str, Any] = {
        "command": "cores",
        "graph": loaded.facts(),
        "degeneracy": result.degeneracy,
        "sizes": {str(level): int(number) for level, number in zip(levels, sizes, strict=True)},
        "top": [{"vertex": int(ids[v]), "core": int(result.values[v])} for v in innermost.tolist()],
    }
    if out is not None:
        document["out"] = str(out)
    document["provenance"] = result.provenance.to_dict()
    if as_json:
        write_json(document)
    else:
        _show(document, result)


def _show(document: dict[str, Any], result: CoreNumbers) -> None:
    from graphlode.cli.screen import BOLD, Screen, how

    screen = Screen()
    graph = document["graph"]
    innermost = document["sizes"].get(str(result.degeneracy), 0)
    rows = [
        ("vertices", count(graph["num_vertices"])),
        ("edges", count(graph["num_edges"])),
        ("degeneracy", count(result.degeneracy), BOLD),
        ("innermost core", f"{count(innermost)} vertices"),
        ("found in", how(result.provenance)),
    ]
    if "out" in document:
        rows.append(("written to", document["out"]))
    screen.facts(graph["name"], rows)
    if document["top"]:
        lines = [[str(row["vertex"]), count(row["core"])] for row in document["top"]]
        screen.listing("highest core numbers", ["vertex", "core"], lines)
