"""`graphlode bfs`: steps from a source to every vertex."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from graphlode.analytics.bfs import bfs as search
from graphlode.cli.numbers import count
from graphlode.cli.report import BOLD, Listing, report
from graphlode.cli.request import GRAPH, Request, takes


@takes(*GRAPH, "out")
def bfs(
    request: Request,
    source: Annotated[int, typer.Option("--source", help="The vertex where the search begins.", show_default=False)],
) -> None:
    """Find how many steps every vertex is away from a source."""
    result = request.run("searching level by level", search, source)
    sizes = np.bincount(result.levels[result.levels >= 0]).tolist()
    lines = [[str(level), count(size)] for level, size in enumerate(sizes[:_MOST_LEVELS])]
    if len(sizes) > _MOST_LEVELS:
        lines.append(["more", count(sum(sizes[_MOST_LEVELS:]))])
    report(
        "bfs",
        request,
        result,
        {"source": source, "reached": result.reached, "depth": result.depth, "level_sizes": sizes},
        shown=[
            ("source", str(result.source)),
            ("reached", count(result.reached), BOLD),
            ("farthest", f"{count(result.depth)} steps", BOLD),
        ],
        listing=Listing("vertices by steps", ["steps", "vertices"], lines),
        values={"vertex": request.graph.ids, "level": result.levels, "parent": result.parents},
    )


_MOST_LEVELS = 20
