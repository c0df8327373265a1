"""`graphlode convert`: converts a graph from one file format to another."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from graphlode.cli.load import load
from graphlode.cli.numbers import count, duration, size
from graphlode.cli.options import AsJson, Directed, File, Format, Threads, Values, threads_set
from graphlode.cli.output import check_folder, write_json
from graphlode.cli.progress import spinner
from graphlode.io import write
from graphlode.io.formats import file_kind

Target = Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)]
OutFormat = Annotated[str | None, typer.Option("--out-format", help="Format of OUT, if its suffix does not say.")]


def convert(
    file: File,
    out: Target,
    directed: Directed = None,
    format: Format = None,
    values: Values = "auto",
    out_format: OutFormat = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Read a graph and write it to another file."""
    kind = file_kind(out, out_format).format
    check_folder(out)
    with threads_set(threads):
        loaded = load(file, format=format, directed=directed, values=values, quiet=as_json)
        started = perf_counter()
        with spinner(f"writing {out}", quiet=as_json):
            write(loaded.graph, out, format=kind)
        seconds = perf_counter() - started
    written = out.stat().st_size if out.is_file() else None
    if as_json:
        times = {"read_seconds": loaded.seconds, "write_seconds": seconds}
        target = {"out": str(out), "format": kind, "file_bytes": written}
        write_json({"command": "convert", "graph": loaded.facts(), **target, **times})
        return
    from graphlode.cli.screen import Screen

    graph = loaded.graph
    rows = [
        ("graph", f"{count(graph.num_vertices)} vertices, {count(graph.num_edges)} edges"),
        ("read in", duration(loaded.seconds)),
        ("written in", duration(seconds)),
        ("format", kind),
        ("file", "a pipe" if written is None else size(written)),
    ]
    Screen().facts(f"{loaded.name} to {out}", rows)
