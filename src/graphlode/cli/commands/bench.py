"""`graphlode bench`: experiments on the system itself, each with a table, a JSON file and a plot."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from graphlode.cli.commands.cliques import parse_sizes
from graphlode.cli.load import load
from graphlode.cli.options import AsJson, Threads, threads_set
from graphlode.cli.output import write_json
from graphlode.errors import GraphlodeError, InputError
from graphlode.execute.devices import resolve
from graphlode.experiments import experiment as experiment_of
from graphlode.experiments.counting import check_all
from graphlode.experiments.record import Setting
from graphlode.experiments.run import Finished, draw_again, run
from graphlode.experiments.subjects import Subject, generate, is_generated, known_cliques, short_name
from graphlode.graph.graph import Graph

Experiment = Literal[
    "cliques-runtime",
    "cliques-ablation",
    "cliques-lanes",
    "cliques-sensitivity",
    "cliques-scaling",
    "store-correctness",
    "store-scaling",
    "store-shares",
    "store-batch",
    "motifs-steps",
    "motifs-runtime",
    "motifs-memory",
    "locality-iterations",
    "locality-graphs",
    "locality-skip",
    "locality-walltime",
]
_GRAPHS = ["jazz", "email-Eu-core"]


def bench(
    experiment: Annotated[
        Experiment, typer.Argument(metavar="EXPERIMENT", help=f"One of {', '.join(Experiment.__args__)}.")
    ],
    graphs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GRAPHS]...",
            help="Files, bundled graphs, or rmat:SCALE:EDGES[:SEED], web:SCALE:EDGES[:SEED].",
            show_default=" ".join(_GRAPHS),
        ),
    ] = None,
    device: Annotated[str, typer.Option("--device", help="cpu, cuda:0, cuda-emulated, ...")] = "auto",
    sizes: Annotated[
        str | None,
        typer.Option(
            "-k",
            "--sizes",
            metavar="SIZES",
            help="Values to vary, such as 4-8 or 5,7: sizes of cliques or batches, slides, instances, shares, lanes.",
            show_default="depends on the experiment",
        ),
    ] = None,
    limit: Annotated[float, typer.Option("--limit", min=0.01, help="Seconds that one cell may take.")] = 60.0,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Samples per cell.")] = 5,
    expected: Annotated[
        Path | None,
        typer.Option("--expected", metavar="FILE", help="Known counts as JSON, such as {graph: {k: count}}."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for JSON files and plots.")] = Path(
        "bench-output"
    ),
    redraw: Annotated[
        Path | None,
        typer.Option(
            "--redraw", metavar="FILE", help="Show and draw the JSON file of an earlier run; measure nothing."
        ),
    ] = None,
    commit: Annotated[
        str | None, typer.Option("--commit", metavar="HASH", help="The commit to record, for a copy without git.")
    ] = None,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Run an experiment on cliques, motifs, the store or the order of edges; docs/experiments.md describes each."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: this is a file, but results go to a folder")
    if redraw is not None:
        finished = draw_again(experiment, redraw, out)
    else:
        chosen = experiment_of(experiment)
        known = _known_counts(expected, getattr(chosen, "KNOWN", known_cliques))
        named = "-k" if experiment.startswith("cliques") else "--sizes"  # the same names as in docs/experiments.md
        with threads_set(threads):
            setting = Setting(
                device=resolve(device)[0].name,
                sizes=chosen.SIZES if sizes is None else parse_sizes(sizes, chosen.LEAST_SIZE, named),
                limit=limit,
                repeats=repeats,
                say=(lambda text: None) if as_json else _say,
                commit=commit,
            )
            finished = run(
                experiment,
                graphs or _GRAPHS,
                lambda name: _subject(name, known, directed=chosen.DIRECTED),
                setting,
                out,
            )
    if as_json:
        write_json({"command": "bench", "files": _files(finished)} | finished.document)
    else:
        _show(experiment, finished)
    check_all(finished.document["cells"])
    for name, reason in finished.document["failed"].items():
        raise BenchError(f"{name} could not be measured: {reason.splitlines()[0]}; {finished.file} tells where")


class BenchError(GraphlodeError):
    """A graph of an experiment could not be measured completely; the other results are in the files."""


def _subject(name: str, known: Mapping[str, Mapping[int, Any]], *, directed: bool) -> Subject:
    read = generate if is_generated(name) else _load
    graph, short = read(name, directed=directed), short_name(name)
    return Subject(short, graph if directed else graph.undirected(), known.get(short, {}))


def _load(name: str, *, directed: bool) -> Graph:
    return load(name, directed=True if directed else None, quiet=True).graph


def _known_counts(file: Path | None, read: Callable[[Any], Mapping[int, Any]]) -> dict[str, Mapping[int, Any]]:
    """Known counts by graph; `read` converts the entry of a graph."""
    if file is None:
        return {}
    try:
        document = json.loads(file.read_text("utf-8"))
        return {name: read(entry) for name, entry in document.get("graphs", document).items()}
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise InputError(
            f"{file}: known counts are JSON such as {{graph: {{k: count}}}}, or {{graph: {{noninduced: [..]}}}} of motifs: "
            f"{error!r}"
        ) from None


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def _files(finished: Finished) -> list[str]:
    return [str(file) for file in (finished.file, *finished.plots)]


def _show(name: str, finished: Finished) -> None:
    from graphlode.cli.screen import Screen

    screen = Screen()
    for table in experiment_of(name).tables(finished.document):
        screen.listing(table.title, table.columns, table.rows, words=table.words)
    for note in finished.document["notes"]:
        screen.line(note)
    for file in _files(finished):
        screen.line(f"written to {file}")
