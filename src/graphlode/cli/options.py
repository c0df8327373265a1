"""Arguments and options shared by several commands, and their conversion for the API."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from graphlode.config import MOST_THREADS
from graphlode.datasets import dataset_names
from graphlode.execute.devices import Devices


def _complete_file(incomplete: str) -> list[str]:
    folder = Path(incomplete).parent if not incomplete.endswith("/") else Path(incomplete)
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    paths = [f"{path}/" if path.is_dir() else str(path) for path in found]
    return [name for name in (*dataset_names(), *paths) if name.startswith(incomplete)]


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A file, - for standard input, or a bundled graph such as karate.",
        autocompletion=_complete_file,
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Format = Annotated[
    str | None,
    typer.Option("--format", help="text, csv, mtx, metis, gr, npz or parquet, if the suffix does not say."),
]
Values = Annotated[
    Literal["auto", "weights", "times", "none"],
    typer.Option("--values", help="Meaning of the third column.", show_default="what the file says, else weights"),
]
Directed = Annotated[
    bool | None,
    typer.Option(
        "--directed/--undirected",
        help="Whether edges are directed.",
        show_default="what the file says, else undirected",
    ),
]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, max=MOST_THREADS, help="CPU threads.", show_default="all cores")
]
Device = Annotated[
    list[str] | None,
    typer.Option("--device", help="cpu, cuda:0, ...; several separated by commas or repeated.", show_default="auto"),
]
By = Annotated[Literal["vertex", "edge"] | None, typer.Option("--by", help="Also count at each vertex or edge.")]
Top = Annotated[
    int | None, typer.Option("--top", min=0, help="Number of the largest values to show.", show_default="10")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write all values to a file (.csv, .tsv, .npz or .parquet)."),
]

DEFAULT_TOP = 10


def devices_of(given: list[str] | None) -> Devices:
    """The value for `devices=`, from a list whose entries may also be several names with commas."""
    return "auto" if not given else [name.strip() for each in given for name in each.split(",")]
