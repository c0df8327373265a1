"""`graphlode demo`: mines real graphs and a stream of edges, with tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from graphlode.cli.demo.real import GRAPHS, SHOWN, Mined, mine
from graphlode.cli.demo.stream import Step, steps
from graphlode.cli.numbers import count, duration, rate, real
from graphlode.cli.progress import progress_bar
from graphlode.cli.request import Request, takes
from graphlode.errors import InputError

_SEED = 1


@takes("device", "threads")
def demo(
    request: Request,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where plots go.")] = Path("demo-output"),
    scale: Annotated[int, typer.Option("--scale", min=4, max=26, help="The stream has 2^scale vertices.")] = 15,
    batches: Annotated[int, typer.Option("--batches", min=1, max=1000, help="How many batches it comes in.")] = 12,
) -> None:
    """Mine bundled graphs and a generated stream; print tables, write plots."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: this is a file, but plots go to a folder")
    devices = request.devices
    mine(GRAPHS[0], devices)  # loads what is loaded once, so the first row is the time of the work;
    mined = [mine(name, devices) for name in GRAPHS]
    list(steps(4, 3, seed=_SEED, devices=devices))  # as does a store
    stream: list[Step] = []
    with progress_bar("edges arrive", quiet=request.as_json) as progress:
        for step in steps(scale, batches, seed=_SEED, devices=devices):
            stream.append(step)
            if progress is not None:
                progress(step.batch, batches)
    shown = next(each for each in mined if each.name == SHOWN)
    plots, note = _plots(out, shown, stream)
    request.answer(_document(mined, stream, plots, note), lambda: _show(mined, stream, scale, plots, note))


def _plots(out: Path, mined: Mined, stream: Sequence[Step]) -> tuple[list[Path], str | None]:
    from graphlode.cli.demo.plots import draw

    try:
        return draw(out, mined, stream), None
    except ImportError:
        return [], "plots need matplotlib: pip install graphlode[plot]"


def _document(
    mined: Sequence[Mined], stream: Sequence[Step], plots: Sequence[Path], note: str | None
) -> dict[str, Any]:
    graphs = [
        {
            "name": each.name,
            "num_vertices": each.graph.num_vertices,
            "num_edges": each.graph.num_edges,
            "triangles": each.triangles,
            "clustering": each.clustering,
            "degeneracy": each.degeneracy,
            "seconds": each.mine_seconds,
        }
        for each in mined
    ]
    steps = [asdict(step) for step in stream]
    return {"command": "demo", "graphs": graphs, "stream": steps, "plots": [str(path) for path in plots], "note": note}


def _show(mined: Sequence[Mined], stream: Sequence[Step], scale: int, plots: Sequence[Path], note: str | None) -> None:
    from graphlode.cli.screen import Screen

    screen = Screen()
    columns = ["graph", "vertices", "edges", "triangles", "clustering", "degeneracy", "time"]
    rows = [
        [
            each.name,
            count(each.graph.num_vertices),
            count(each.graph.num_edges),
            count(each.triangles),
            real(each.clustering),
            count(each.degeneracy),
            duration(each.mine_seconds),
        ]
        for each in mined
    ]
    screen.listing("Real graphs: triangles and cores", columns, rows, words=1)
    columns = ["batch", "updates", "edges", "triangles", "largest component", "update", "mine", "updates"]
    rows = [
        [
            count(step.batch),
            count(step.updates),
            count(step.num_edges),
            count(step.triangles),
            count(step.largest_component),
            duration(step.update_seconds),
            duration(step.mine_seconds),
            rate(step.updates_per_second),
        ]
        for step in stream
    ]
    title = f"A stream of edges (R-MAT, {count(2**scale)} vertices): exact answers after every batch"
    screen.listing(title, columns, rows)
    for path in plots:
        screen.line(f"plot written to {path}")
    if note is not None:
        screen.line(note)
