"""`graphlode cores`: core numbers and degeneracy."""

from __future__ import annotations

import numpy as np

from graphlode.analytics.cores import core_numbers
from graphlode.cli.numbers import count
from graphlode.cli.report import BOLD, Listing, report
from graphlode.cli.request import GRAPH, Request, takes


@takes(*GRAPH, "top", "out")
def cores(request: Request) -> None:
    """Find the core number of every vertex."""
    result = request.run("removing vertices in rounds", core_numbers)
    ids = request.graph.ids
    levels, sizes = np.unique(result.values, return_counts=True)
    by_level = {str(level): int(number) for level, number in zip(levels, sizes, strict=True)}
    highest = np.argsort(-result.values, kind="stable")[: request.most]
    rows = [{"vertex": int(ids[v]), "core": int(result.values[v])} for v in highest.tolist()]
    lines = [[str(row["vertex"]), count(row["core"])] for row in rows]
    report(
        "cores",
        request,
        result,
        {"degeneracy": result.degeneracy, "sizes": by_level, "top": rows},
        shown=[
            ("degeneracy", count(result.degeneracy), BOLD),
            ("innermost core", f"{count(by_level.get(str(result.degeneracy), 0))} vertices"),
        ],
        listing=Listing("highest core numbers", ["vertex", "core"], lines),
        values={"vertex": ids, "core": result.values},
    )
