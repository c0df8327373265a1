"""`graphlode info`: the size and shape of the graph in a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.cli.load import Loaded
from graphlode.cli.numbers import count, duration, real, size
from graphlode.cli.request import Request, takes
from graphlode.graph.graph import Graph
from graphlode.types import Int64Array


@takes("file", "directed", "format", "values", "threads")
def info(request: Request) -> None:
    """Show the size and shape of a graph."""
    loaded = request.loaded
    document = {"command": "info", "graph": loaded.facts(), **describe(loaded)}
    request.answer(document, lambda: _show(loaded, document))


def describe(loaded: Loaded) -> dict[str, Any]:
    graph = loaded.graph
    outgoing = graph.degrees()
    if graph.directed:
        incoming = np.bincount(graph.csr[1], minlength=graph.num_vertices)
        degrees = {"out": _spread(outgoing), "in": _spread(incoming)}
        isolated = int(((outgoing == 0) & (incoming == 0)).sum())
    else:
        degrees = {"all": _spread(outgoing)}
        isolated = int((outgoing == 0).sum())
    return {
        "degrees": degrees,
        "isolated": isolated,
        "density": _density(graph),
        "ids": None if not graph.num_vertices else [int(graph.ids[0]), int(graph.ids[-1])],
        "weights": _range(graph.weights),
        "times": _range(graph.times),
        "edges_given": graph.provenance.edges_given,
        "self_loops_dropped": graph.provenance.self_loops_dropped,
        "duplicates_dropped": graph.provenance.duplicates_dropped,
        "memory_bytes": graph.nbytes,
        "file_bytes": loaded.file_bytes,
        "read_seconds": loaded.seconds,
        "source": graph.provenance.source,
    }


def _spread(degrees: Int64Array) -> dict[str, float]:
    if not degrees.size:
        return {"min": 0, "median": 0.0, "mean": 0.0, "max": 0}
    middle, mean = float(np.median(degrees)), float(degrees.mean())
    return {"min": int(degrees.min()), "median": middle, "mean": mean, "max": int(degrees.max())}


def _density(graph: Graph) -> float:
    """The fraction of all possible edges that exist."""
    n = graph.num_vertices
    pairs = n * (n - 1) if graph.directed else n * (n - 1) // 2
    return graph.num_edges / pairs if pairs else 0.0


def _range(values: Any) -> list[float] | None:
    return None if values is None or not values.size else [values.min().item(), values.max().item()]


def _show(loaded: Loaded, document: dict[str, Any]) -> None:
    from graphlode.cli.screen import Screen

    graph = loaded.graph
    rows = [
        ("vertices", count(graph.num_vertices)),
        ("edges", f"{count(graph.num_edges)} {'directed' if graph.directed else 'undirected'}"),
    ]
    for name, spread in document["degrees"].items():
        label = "degree" if name == "all" else f"{name}-degree"
        rows.append((label, ", ".join(f"{what} {real(value)}" for what, value in spread.items())))
    rows += [("isolated", count(document["isolated"])), ("density", real(document["density"]))]
    if document["ids"] is not None:
        rows.append(("ids", "{} to {}".format(*document["ids"])))
    for name in ("weights", "times"):
        if document[name] is not None:
            rows.append((name, "{} to {}".format(*document[name])))
    rows += [
        (
            "dropped",
            f"{count(document['self_loops_dropped'])} self-loops, {count(document['duplicates_dropped'])} duplicates",
        ),
        ("memory", size(document["memory_bytes"])),
        ("file", "a pipe" if loaded.file_bytes is None else size(loaded.file_bytes)),
        ("read in", duration(loaded.seconds)),
    ]
    Screen().facts(loaded.name, rows)
