"""`graphlode components`: which vertices are joined by a path."""

from __future__ import annotations

import numpy as np

from graphlode.analytics.components import connected_components
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
    """Find the connected components; in a directed graph the weakly connected ones."""
    check_out(out)
    with threads_set(threads):
        loaded = load(file, format=format, directed=directed, quiet=as_json)
        with progress_bar("joining vertices", quiet=as_json) as progress:
            result = connected_components(loaded.graph, devices=devices_of(device), progress=progress)
    ids, sizes = loaded.graph.ids, result.sizes
    largest = np.argsort(-sizes, kind="stable")[: DEFAULT_TOP if top is None else top]
    _, first = np.unique(result.labels, return_index=True)
    rows = [{"component": c, "vertices": int(sizes[c]), "first": int(ids[first[c]])} for c in largest.tolist()]
    lines = [[str(row["component"]), count(row["vertices"]), str(row["first"])] for row in rows]
    report(
        "components",
        loaded,
        result,
        {"count": result.count, "top": rows},
        shown=[("components", count(result.count), BOLD)],
        listing=Listing("largest components", ["component", "vertices", "first vertex"], lines),
        values={"vertex": ids, "component": result.labels},
        out=out,
        as_json=as_json,
    )
