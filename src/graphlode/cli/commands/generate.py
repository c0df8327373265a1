"""`graphlode generate`: generates a graph and writes it to a file.

The signature of a kind's function decides which options it takes and which it needs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, Literal, get_args

import typer

from graphlode import generate as generators
from graphlode.cli.load import Loaded
from graphlode.cli.numbers import count, duration, size
from graphlode.cli.output import check_folder
from graphlode.cli.progress import spinner
from graphlode.cli.request import Request, takes
from graphlode.errors import InputError
from graphlode.graph.graph import Graph
from graphlode.io import write
from graphlode.io.formats import file_kind

Kind = Literal[
    "rmat", "kronecker", "erdos_renyi", "barabasi_albert", "planted_clique", "web", "complete", "cycle", "star", "path",
    "grid",
]  # fmt: skip
KINDS: dict[str, Callable[..., Graph]] = {name: getattr(generators, name) for name in get_args(Kind)}

Whole = int | None
Real = float | None


@takes("threads")
def generate(
    request: Request,
    kind: Annotated[Kind, typer.Argument(metavar="KIND", help="What to make.", show_default=False)],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    scale: Annotated[Whole, typer.Option(help="rmat, kronecker, web: 2^scale vertices.")] = None,
    edge_factor: Annotated[Whole, typer.Option(help="rmat, kronecker, web: drawn edges per vertex.")] = None,
    a: Annotated[Real, typer.Option("-a", help="rmat, kronecker: probability of the first quadrant.")] = None,
    b: Annotated[Real, typer.Option("-b", help="rmat, kronecker: probability of the second quadrant.")] = None,
    c: Annotated[Real, typer.Option("-c", help="rmat, kronecker: probability of the third quadrant.")] = None,
    n: Annotated[Whole, typer.Option("-n", help="Number of vertices (star: leaves).")] = None,
    m: Annotated[Whole, typer.Option("-m", help="erdos_renyi: edges; barabasi_albert: edges per new vertex.")] = None,
    p: Annotated[Real, typer.Option("-p", help="erdos_renyi, planted_clique: probability of an edge.")] = None,
    k: Annotated[Whole, typer.Option("-k", help="planted_clique: vertices of the clique.")] = None,
    rows: Annotated[Whole, typer.Option(help="grid: number of rows.")] = None,
    columns: Annotated[Whole, typer.Option(help="grid: number of columns.")] = None,
    seed: Annotated[Whole, typer.Option(help="Random kinds: the same seed gives the same graph.")] = None,
    directed: Annotated[
        bool | None,
        typer.Option("--directed/--undirected", help="rmat, kronecker, erdos_renyi; web is directed by default."),
    ] = None,
    format: Annotated[str | None, typer.Option("--format", help="Format of OUT, if its suffix does not say.")] = None,
) -> None:
    """Generate a graph and write it to a file."""
    options = {
        "scale": scale, "edge_factor": edge_factor, "a": a, "b": b, "c": c, "n": n, "m": m, "p": p, "k": k,
        "rows": rows, "columns": columns, "seed": seed, "directed": directed,
    }  # fmt: skip
    arguments = checked(kind, {name: value for name, value in options.items() if value is not None})
    out_kind = file_kind(out, format).format
    check_folder(out)
    started = perf_counter()
    with spinner(f"making {kind}", quiet=request.as_json):
        graph = KINDS[kind](**arguments)
        made = perf_counter()
        write(graph, out, format=out_kind)
    ended = perf_counter()
    written = out.stat().st_size if out.is_file() else None
    seconds = {"generate_seconds": made - started, "write_seconds": ended - made}
    facts = Loaded(graph, graph.provenance.source, written, made - started).facts()
    document = {"command": "generate", "graph": facts, "out": str(out), "file_bytes": written, **seconds}
    request.answer(document, lambda: _show(document))


def _show(document: dict[str, Any]) -> None:
    from graphlode.cli.screen import Screen

    graph, out, written = document["graph"], document["out"], document["file_bytes"]
    lines = [
        ("vertices", count(graph["num_vertices"])),
        ("edges", count(graph["num_edges"])),
        ("made in", duration(document["generate_seconds"])),
        ("written to", out if written is None else f"{out}, {size(written)} in {duration(document['write_seconds'])}"),
    ]
    Screen().facts(graph["name"], lines)


def checked(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """The given options. Raises InputError if the kind does not take one of them, or needs another one."""
    parameters = inspect.signature(KINDS[kind]).parameters
    takes = ", ".join(map(flag, parameters))
    for name in given:
        if name not in parameters:
            raise InputError(f"{kind} does not take {flag(name)}; it takes {takes}")
    for name, parameter in parameters.items():
        if parameter.default is parameter.empty and name not in given:
            raise InputError(f"{kind} needs {flag(name)}; it takes {takes}")
    return given


def flag(name: str) -> str:
    """The command-line option of a parameter."""
    return f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
