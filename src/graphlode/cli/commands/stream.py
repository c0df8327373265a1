"""`graphlode stream`: streams a file. A part of its edges is loaded, then new edges arrive while old ones leave."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import Annotated, Any

import typer

from graphlode.analytics.bfs import bfs
from graphlode.cli.numbers import count, duration
from graphlode.cli.options import devices_of
from graphlode.cli.report import BOLD
from graphlode.cli.request import Request, takes
from graphlode.errors import InputError
from graphlode.execute.run import Shares
from graphlode.graph.graph import Graph
from graphlode.graph.store.dynamic import DynamicGraph
from graphlode.graph.store.sliding import Sliding, arrival, in_order

_SHOWN = 12  # slides in the live table

Row = dict[str, Any]


@takes("file", "directed", "format", "values", "threads")
def stream(
    request: Request,
    load_part: Annotated[float, typer.Option("--load", help="Part of the edges that is loaded at once.")] = 0.5,
    slide: Annotated[float, typer.Option("--slide", help="Part of the edges that comes, and goes, in a slide.")] = 0.01,
    slides: Annotated[int, typer.Option("--slides", min=0, help="Number of slides.")] = 100,
    source: Annotated[
        int | None, typer.Option("--bfs", metavar="VERTEX", help="Run a BFS from this vertex before and after.")
    ] = None,
    device: Annotated[
        list[str] | None,
        typer.Option(
            "--devices",
            "--device",
            help="Devices, one shard each: cpu, cuda:0, ... separated by commas; a name may occur twice.",
        ),
    ] = None,
    shares: Annotated[
        str | None,
        typer.Option("--shares", help="Weights such as cuda:0=7,cpu=1.", show_default="chosen automatically"),
    ] = None,
) -> None:
    """Stream a file through the store: load a part, then slide a window over its edges.

    Edges arrive in order of time if the third column is times, by the file or by --values times, otherwise shuffled.
    Weights arrive with their edges.
    """
    given = parse_shares(shares)
    graph, file, values = request.graph, request.file, request.values
    if not graph.num_edges:
        raise InputError(f"{file}: there are no edges to stream")
    if values == "times" and graph.times is None:
        raise InputError(f"{file}: there are no times to stream by; without --values times edges come shuffled")
    if source is not None and source not in graph:
        raise InputError(f"{file}: there is no vertex {source} to search from")
    weights = None if graph.weights is None else graph.weights[arrival(graph)]
    sliding = Sliding(*in_order(graph), load_part, slide, slides, weights)
    # All vertices of the file are there from the start, by position, whichever of their edges have come.
    with DynamicGraph(
        directed=graph.directed,
        num_vertices=graph.num_vertices,
        weighted=weights is not None,
        devices=devices_of(device),
        shares=given,
    ) as store:
        order = "shuffled" if graph.times is None else "times"
        about = {"command": "stream", "graph": request.loaded.facts(), "order": order, "weighted": store.weighted}
        document = about | _run(graph, store, sliding, source, quiet=request.as_json)
    # The third column of a file without a header may be times.
    hint = values == "auto" and graph.weights is not None
    request.answer(document, lambda: _summary(document, hint=hint))


def parse_shares(text: str | None) -> Shares:
    """Weights by device from `cuda:0=7,cpu=1`; "auto" for None."""
    if text is None:
        return "auto"
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, equals, weight = part.partition("=")
        try:
            shares[name.strip()] = float(weight)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise InputError(f"--shares takes weights such as cuda:0=7,cpu=1, got {text!r}")
    return shares


def _run(graph: Graph, store: DynamicGraph, sliding: Sliding, source: int | None, *, quiet: bool) -> dict[str, Any]:
    started = perf_counter()
    store.apply(sliding.first())
    document: dict[str, Any] = {"loaded": {"edges": store.num_edges, "seconds": perf_counter() - started}}
    start = None if source is None else int(graph.positions(source))
    searches = [] if start is None else [_search(store, start)]
    rows: list[Row] = []
    with _live(quiet) as show:
        for number, batch in enumerate(sliding.batches(), 1):
            started = perf_counter()
            store.apply(batch)
            seconds = perf_counter() - started
            rows.append(_row(store, number, len(batch), seconds))
            show(rows)
    if start is not None:
        searches.append(_search(store, start))
        document["bfs"] = {"source": source, "before": searches[0], "after": searches[1]}
    return document | {
        "slides": rows,
        # The median: the first slides also pay for measurements that a store makes once.
        "updates_per_second": median(row["updates_per_second"] for row in rows) if rows else None,
        "version": store.version,
        "statistics": store.statistics(),
        "memory": store.memory_usage(),
    }


def _search(store: DynamicGraph, source: int) -> dict[str, Any]:
    started = perf_counter()
    found = bfs(store, source)
    reached = found.levels >= 0
    return {"reached": int(reached.sum()), "depth": int(found.levels.max()), "seconds": perf_counter() - started}


def _row(store: DynamicGraph, number: int, updates: int, seconds: float) -> Row:
    shards = store.statistics()
    capacity = sum(shard["capacity"] for shard in shards.values())
    return {
        "slide": number,
        "edges": store.num_edges,
        "seconds": seconds,
        "updates_per_second": updates / seconds,
        "density": sum(shard["entries"] for shard in shards.values()) / max(1, capacity),
        "shares": {name: shard["buckets"] for name, shard in shards.items()},
    }


@contextmanager
def _live(quiet: bool) -> Iterator[Any]:
    """A function that shows the latest rows: in place on a terminal, otherwise not at all."""
    import sys

    if quiet or not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), refresh_per_second=8, transient=True) as live:
        yield lambda rows: live.update(_table(rows[-_SHOWN:]))


def _table(rows: list[Row]) -> Any:
    from rich import box
    from rich.table import Table

    names = list(rows[-1]["shares"])
    table = Table(box=box.SIMPLE_HEAD, header_style="cyan", pad_edge=False)
    for name in ("slide", "edges", "time", "updates/s", "density", *names):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*_cells(row, names))
    return table


def _cells(row: Row, names: list[str]) -> list[str]:
    rate = f"{row['updates_per_second'] / 1e6:.3g} M"
    shares = [f"{row['shares'].get(name, 0)}" for name in names]
    return [str(row["slide"]), count(row["edges"]), duration(row["seconds"]), rate, f"{row['density']:.2f}", *shares]


def _summary(document: dict[str, Any], *, hint: bool) -> None:
    from graphlode.cli.screen import Screen

    screen = Screen()
    graph, rows = document["graph"], document["slides"]
    loaded = document["loaded"]
    shuffled = "shuffled; --values times if the third column is times" if hint else "shuffled"
    facts: list[tuple[str, ...]] = [
        ("edges of the file", count(graph["num_edges"])),
        ("order", "by time" if document["order"] == "times" else shuffled),
        *([("weights", "come with the edges; --values none leaves them out")] if document["weighted"] else []),
        ("loaded", f"{count(loaded['edges'])} edges in {duration(loaded['seconds'])}"),
    ]
    if rows:
        seconds = [row["seconds"] for row in rows]
        typical = f"{duration(median(seconds))} each (median), the slowest {duration(max(seconds))}"
        facts += [
            ("slides", f"{len(rows)}, {typical}"),
            ("updates per second", f"{document['updates_per_second'] / 1e6:.3g} million (median)", BOLD),
        ]
    if "bfs" in document:
        before, after = document["bfs"]["before"], document["bfs"]["after"]
        reach = f"{count(before['reached'])} vertices before, {count(after['reached'])} after"
        facts.append((f"reached from {document['bfs']['source']}", reach))
    facts.append(("bytes", count(sum(document["memory"].values()))))
    screen.facts(graph["name"], facts)
    if rows:
        names = list(rows[-1]["shares"])
        every = max(1, len(rows) // _SHOWN)
        listed = [row for row in rows if row["slide"] % every == 0 or row["slide"] == len(rows)]
        columns = ["slide", "edges", "time", "updates/s", "density", *(f"buckets of {name}" for name in names)]
        screen.listing("slides", columns, [_cells(row, names) for row in listed])
