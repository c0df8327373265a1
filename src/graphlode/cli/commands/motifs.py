"""`graphlode motifs`: counts small patterns, in total and at each vertex, and compares with random graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from graphlode.cli.numbers import count
from graphlode.cli.output import check_out, save_figure, write_table
from graphlode.cli.plots import check_plot
from graphlode.cli.request import GRAPH, Request, takes
from graphlode.errors import InputError
from graphlode.mining.motif_counts import MotifCounts
from graphlode.mining.motif_profile import MotifProfile, motif_profile
from graphlode.mining.motifs import Method, count_motifs
from graphlode.mining.orbits import count_orbits

Size = Annotated[int, typer.Option("--size", min=3, max=5, help="Largest number of vertices of a pattern.")]
AllCopies = Annotated[
    bool, typer.Option("--non-induced", help="Show all copies, also those with further edges among their vertices.")
]
Orbits = Annotated[
    Path | None,
    typer.Option(
        "--orbits", metavar="FILE", help="Write the orbits of each vertex to a file (.csv, .tsv, .npz or .parquet)."
    ),
]
OrbitsOf = Annotated[
    Literal["vertices", "edges"], typer.Option("--orbits-of", help="Whether --orbits counts at vertices or edges.")
]
Null = Annotated[
    int | None,
    typer.Option(
        "--null", metavar="SAMPLES", min=2, help="Compare with this number of random graphs with the same degrees."
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the random graphs.")]
Plot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE", help="Plot the counts, or z-scores with --null (.png, .svg or .pdf)."),
]
How = Annotated[Method, typer.Option("--method", help="How to count.")]


@takes(*GRAPH)
def motifs(
    request: Request,
    size: Size = 5,
    non_induced: AllCopies = False,
    orbits: Orbits = None,
    orbits_of: OrbitsOf = "vertices",
    null: Null = None,
    seed: Seed = 0,
    plot: Plot = None,
    method: How = "auto",
) -> None:
    """Count every connected pattern of 3 to 5 vertices exactly."""
    if orbits is not None and size < 4:
        raise InputError("--orbits needs --size 4 or 5")
    check_out(orbits)
    check_plot(plot)
    induced = not non_induced
    found = request.run("counting motifs", count_motifs, _size(size), induced=induced, method=method)
    if orbits is not None:
        most: Literal[4, 5] = 5 if size == 5 else 4
        counted = request.run("counting orbits", count_orbits, most, edges=orbits_of == "edges", induced=induced)
        write_table(orbits, counted.to_columns())
    profile = None
    if null is not None:
        options = {"samples": null, "seed": seed, "induced": induced}
        profile = request.run("counting in random graphs", motif_profile, _size(size), **options)
    document: dict[str, Any] = {"command": "motifs", "graph": request.loaded.facts(), **found.to_dict()}
    if orbits is not None:
        document["orbits"] = str(orbits)
    if profile is not None:
        document["null"] = profile.to_dict()
    if plot is not None:
        save_figure((found if profile is None else profile).plot(), plot, 150)
        document["plot"] = str(plot)
    request.answer(document, lambda: _show(document, found, profile))


def _size(size: int) -> Literal[3, 4, 5]:
    return 3 if size == 3 else 4 if size == 4 else 5


def _show(document: dict[str, Any], found: MotifCounts, profile: MotifProfile | None) -> None:
    from graphlode.cli.screen import Screen, how

    screen = Screen()
    graph = document["graph"]
    facts = [("vertices", count(graph["num_vertices"])), ("edges", count(graph["num_edges"]))]
    facts += [(what, str(document[what])) for what in ("orbits", "plot") if what in document]
    facts.append(("counted in", how(found.provenance)))
    if profile is not None:
        facts.append(("compared in", how(profile.provenance)))
    screen.facts(graph["name"], facts)
    columns = ["", "pattern", "induced" if found.counted == "induced" else "copies"]
    lines = [[*names, count(number)] for *names, number in zip(found.ids, found.names, found.counts, strict=True)]
    if profile is not None:
        columns += ["random", "z-score", "p more", "p fewer"]
        for line, values in zip(lines, _compared(profile), strict=True):
            line += values
    screen.listing("motifs", columns, lines, words=2)


def _compared(profile: MotifProfile) -> list[list[str]]:
    columns = (profile.null_mean, profile.z_scores, profile.p_more, profile.p_fewer)
    return [
        [f"{mean:,.4g}", f"{z:+.2f}", f"{more:.3g}", f"{fewer:.3g}"]
        for mean, z, more, fewer in zip(*(column.tolist() for column in columns), strict=True)
    ]
