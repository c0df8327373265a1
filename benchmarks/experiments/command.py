"""`graphlode bench`: experiments about the system itself, each with a table, a JSON file and a plot."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.experiments import EXPERIMENTS
from benchmarks.experiments import experiment as experiment_of
from benchmarks.experiments.counting import check_all
from benchmarks.experiments.run import Finished, draw_again, run
from benchmarks.experiments.setting import Setting
from benchmarks.experiments.subjects import Subject, generate, is_generated, known_cliques, short_name
from benchmarks.record import as_text
from graphlode.cli.app import help_style
from graphlode.cli.commands.cliques import parse_sizes
from graphlode.cli.load import load
from graphlode.cli.request import Request, takes
from graphlode.errors import GraphlodeError, InputError
from graphlode.execute.devices import resolve
from graphlode.graph.graph import Graph

_GRAPHS = ["jazz", "email-Eu-core"]


def main(words: Sequence[str]) -> None:
    """Run the command. Raises all errors."""
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=help_style(),
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command("bench", epilog=f"EXPERIMENT is one of {', '.join(EXPERIMENTS)}.")(bench)
    typer.main.get_command(app).main(list(words), prog_name="graphlode bench", standalone_mode=False)


@takes("threads")
def bench(
    request: Request,
    experiment: Annotated[str, typer.Argument(metavar="EXPERIMENT", help="The question.", show_default=False)],
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
            help="What is varied, such as 4-8 or 5,7: sizes of cliques or batches, slides, instances, shares, lanes.",
            show_default="as the experiment needs",
        ),
    ] = None,
    limit: Annotated[float, typer.Option("--limit", min=0.01, help="Seconds that one cell may take.")] = 60.0,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Samples per cell.")] = 5,
    expected: Annotated[
        Path | None,
        typer.Option("--expected", metavar="FILE", help="Known counts as JSON, such as {graph: {k: count}}."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where JSON and plots go.")] = Path("bench-output"),
    redraw: Annotated[
        Path | None,
        typer.Option(
            "--redraw", metavar="FILE", help="Show and draw the JSON file of an earlier run; measure nothing."
        ),
    ] = None,
    commit: Annotated[
        str | None, typer.Option("--commit", metavar="HASH", help="The commit of a copy without git.")
    ] = None,
) -> None:
    """Run an experiment about cliques, motifs, the store or the order of edges; docs/experiments.md says what each one
    asks."""
    if experiment not in EXPERIMENTS:
        raise InputError(f"{experiment}: there is no such experiment; there are {', '.join(EXPERIMENTS)}")
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: this is a file, but results go to a folder")
    if redraw is not None:
        finished = draw_again(experiment, redraw, out)
    else:
        chosen = experiment_of(experiment)
        known = _known_counts(expected, getattr(chosen, "KNOWN", known_cliques))
        named = "-k" if experiment.startswith("cliques") else "--sizes"  # as docs/experiments.md does
        setting = Setting(
            device=resolve(device)[0].name,
            sizes=chosen.SIZES if sizes is None else parse_sizes(sizes, chosen.LEAST_SIZE, named),
            limit=limit,
            repeats=repeats,
            say=(lambda text: None) if request.as_json else _say,
            commit=commit,
        )
        named_graphs = graphs or _GRAPHS
        finished = run(
            experiment, named_graphs, lambda name: _subject(name, known, directed=chosen.DIRECTED), setting, out
        )
    written = json.loads(as_text(finished.document))  # as it is in the file
    request.answer({"command": "bench", "files": _files(finished)} | written, lambda: _show(experiment, finished))
    check_all(finished.document["cells"])
    for name, reason in finished.document["failed"].items():
        raise BenchError(f"{name} could not be measured: {reason.splitlines()[0]}; {finished.file} says where")


class BenchError(GraphlodeError):
    """The measurement of a graph failed. The files contain everything else."""


def _subject(name: str, known: Mapping[str, Mapping[int, Any]], *, directed: bool) -> Subject:
    read = generate if is_generated(name) else _load
    graph, short = read(name, directed=directed), short_name(name)
    return Subject(short, graph if directed else graph.undirected(), known.get(short, {}))


def _load(name: str, *, directed: bool) -> Graph:
    return load(name, directed=True if directed else None, quiet=True).graph


def _known_counts(file: Path | None, read: Callable[[Any], Mapping[int, Any]]) -> dict[str, Mapping[int, Any]]:
    """By graph the known counts, as the experiment reads them from its entry in a file."""
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
