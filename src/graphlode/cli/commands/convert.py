"""`graphlode convert`: converts a graph from one file format to another."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from graphlode.cli.load import Loaded
from graphlode.cli.numbers import count, duration, size
from graphlode.cli.output import check_folder
from graphlode.cli.progress import spinner
from graphlode.cli.request import Request, takes
from graphlode.io import write
from graphlode.io.formats import file_kind

Target = Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)]
OutFormat = Annotated[str | None, typer.Option("--out-format", help="Format of OUT, if its suffix does not say.")]


@takes("file", "directed", "format", "values", "threads")
def convert(request: Request, out: Target, out_format: OutFormat = None) -> None:
    """Read a graph and write it to another file."""
    kind = file_kind(out, out_format).format
    check_folder(out)
    loaded = request.loaded
    started = perf_counter()
    with spinner(f"writing {out}", quiet=request.as_json):
        write(loaded.graph, out, format=kind)
    seconds = perf_counter() - started
    written = out.stat().st_size if out.is_file() else None
    times = {"read_seconds": loaded.seconds, "write_seconds": seconds}
    target = {"out": str(out), "format": kind, "file_bytes": written}
    document = {"command": "convert", "graph": loaded.facts(), **target, **times}
    request.answer(document, lambda: _show(loaded, document))


def _show(loaded: Loaded, document: dict[str, Any]) -> None:
    from graphlode.cli.screen import Screen

    graph, written = loaded.graph, document["file_bytes"]
    rows = [
        ("graph", f"{count(graph.num_vertices)} vertices, {count(graph.num_edges)} edges"),
        ("read in", duration(document["read_seconds"])),
        ("written in", duration(document["write_seconds"])),
        ("format", document["format"]),
        ("file", "a pipe" if written is None else size(written)),
    ]
    Screen().facts(f"{loaded.name} to {document['out']}", rows)
