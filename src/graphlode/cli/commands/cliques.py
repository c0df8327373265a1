"""`graphlode cliques`: counts cliques of each size, at each vertex or edge, and lists them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from graphlode.cli.numbers import count, duration
from graphlode.cli.options import By
from graphlode.cli.plots import check_plot, draw_clique_counts
from graphlode.cli.progress import progress_bar
from graphlode.cli.request import GRAPH, Request, takes
from graphlode.errors import InputError
from graphlode.graph.graph import Graph
from graphlode.io.cliques import check_clique_file, write_cliques
from graphlode.mining.clique_lists import list_cliques
from graphlode.mining.clique_plan import Method
from graphlode.mining.cliques import CliqueCount, count_cliques
from graphlode.types import AnyArray

Sizes = Annotated[str, typer.Option("-k", "--size", metavar="K", help="A size, several (3,5,8) or a range (4-8).")]
ListTo = Annotated[
    Path | None,
    typer.Option("--list", metavar="FILE", help="Write the cliques to a file (.parquet, .csv or .npz)."),
]
How = Annotated[Method, typer.Option("--method", help="How to count.")]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Plot the counts over k (.png, .svg or .pdf).")
]
_MOST_SIZES = 10_000


@takes(*GRAPH, "top", "out")
def cliques(
    request: Request,
    size: Sizes,
    by: By = None,
    list_to: ListTo = None,
    plot: Plot = None,
    method: How = "auto",
) -> None:
    """Count k-cliques exactly, and list them."""
    sizes = parse_sizes(size)
    if by is None and (request.top, request.out) != (None, None):
        raise InputError("--top and --out need --by vertex or --by edge")
    if list_to is not None:
        if len(sizes) > 1:
            raise InputError(f"--list writes cliques of one size, got -k {size}")
        check_clique_file(list_to)
    check_plot(plot)
    results = [request.run(f"counting cliques of {k} vertices", count_cliques, k, by=by, method=method) for k in sizes]
    listed = None if list_to is None else _list(request, sizes[0], list_to)
    document: dict[str, Any] = {
        "command": "cliques",
        "graph": request.loaded.facts(),
        "counts": {str(result.k): result.total for result in results},
    }
    if by is not None:
        columns = _columns(request.graph, results)
        document |= {"by": by, "top": _largest(columns, request.most)} | request.write_out(columns)
    if listed is not None:
        document["list"] = {"file": str(list_to), "cliques": listed}
    if plot is not None:
        draw_clique_counts(plot, request.loaded.name, {result.k: result.total for result in results})
        document["plot"] = str(plot)
    document["runs"] = {str(result.k): result.provenance.to_dict() for result in results}
    document["provenance"] = results[-1].provenance.to_dict()
    request.answer(document, lambda: _show(document, results))


def parse_sizes(text: str, least: int = 1, option: str = "-k") -> list[int]:
    """The sizes in a text such as `5`, `4-8` or `3,5,7-9`, ascending. `option` is the name used in error messages."""
    sizes: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d{1,18})\s*(?:-\s*(\d{1,18})\s*)?", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (-1, -1)
        if not least <= first <= last:
            accepted = f"sizes of at least {least}: one, several (3,5,8) or a range (4-8)"
            raise InputError(f"{option} takes {accepted}, got {text!r}")
        if last - first >= _MOST_SIZES:
            raise InputError(f"{option} takes at most {_MOST_SIZES} sizes, got {text!r}")
        sizes.update(range(first, last + 1))
    return sorted(sizes)


def _list(request: Request, k: int, path: Path) -> int:
    with (
        progress_bar("listing cliques", quiet=request.as_json) as progress,
        list_cliques(request.graph, k, devices=request.devices, progress=progress) as batches,
    ):
        return write_cliques(batches, k, path)


def _columns(graph: Graph, results: list[CliqueCount]) -> dict[str, AnyArray]:
    """One row per vertex or edge: its ids, and one column per size."""
    columns: dict[str, AnyArray] = {}
    for result in results:
        if result.by_vertex is not None:
            columns |= {"vertex": graph.ids, f"k{result.k}": result.by_vertex}
        elif result.by_edge is not None:
            edges = graph.undirected().edges()
            columns |= {"u": edges[:, 0], "v": edges[:, 1], f"k{result.k}": result.by_edge}
    return columns


def _largest(columns: dict[str, AnyArray], top: int) -> list[dict[str, int]]:
    """The rows with the most cliques of the largest size that occurs, most first, ties in the order of the graph."""
    counts = [column for name, column in columns.items() if name.startswith("k")]
    key = next((column for column in reversed(counts) if column.any()), counts[-1])
    rows = np.argsort(-key, kind="stable")[:top].tolist()
    return [{name: int(column[row]) for name, column in columns.items()} for row in rows]


def _show(document: dict[str, Any], results: list[CliqueCount]) -> None:
    from graphlode.cli.screen import Screen, how

    screen = Screen()
    graph = document["graph"]
    facts = [("vertices", count(graph["num_vertices"])), ("edges", count(graph["num_edges"]))]
    facts += [(what, str(document[what])) for what in ("out", "plot") if what in document]
    if "list" in document:
        facts.append(("listed", f"{count(document['list']['cliques'])} cliques to {document['list']['file']}"))
    if len(results) == 1:
        facts.append(("counted in", how(results[0].provenance)))
    screen.facts(graph["name"], facts)
    lines = [
        [
            str(r.k),
            count(r.total),
            duration(r.provenance.seconds),
            r.provenance.method,
            " + ".join(r.provenance.devices),
        ]
        for r in results
    ]
    screen.listing("cliques", ["k", "cliques", "time", "method", "device"], lines)
    if document.get("top"):
        names = list(document["top"][0])
        shown = [[count(v) if name.startswith("k") else str(v) for name, v in row.items()] for row in document["top"]]
        screen.listing(f"in most cliques, by {document['by']}", names, shown)
