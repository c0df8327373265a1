"""`graphlode cores`: core numbers and degeneracy."""

from __future__ import annotations

import numpy as np

from graphlode.analytics.cores import core_numbers
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
    levels, sizes = np.unique(result.values, return_counts=True)
    by_level = {str(level): int(number) for level, number in zip(levels, sizes, strict=True)}
    highest = np.argsort(-result.values, kind="stable")[: DEFAULT_TOP if top is None else top]
    rows = [{"vertex": int(ids[v]), "core": int(result.values[v])} for v in highest.tolist()]
    lines = [[str(row["vertex"]), count(row["core"])] for row in rows]
    report(
        "cores",
        loaded,
        result,
        {"degeneracy": result.degeneracy, "sizes": by_level, "top": rows},
        shown=[
            ("degeneracy", count(result.degeneracy), BOLD),
            ("innermost core", f"{count(by_level.get(str(result.degeneracy), 0))} vertices"),
        ],
        listing=Listing("highest core numbers", ["vertex", "core"], lines),
        values={"vertex": ids, "core": result.values},
        out=out,
        as_json=as_json,
    )
