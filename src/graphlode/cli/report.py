"""The common end of commands: writes values to a file, then prints JSON for programs or tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from graphlode.cli.load import Loaded
from graphlode.cli.numbers import count
from graphlode.cli.output import write_json, write_table
from graphlode.execute.provenance import Provenance
from graphlode.types import AnyArray

BOLD = "bold"  # a style for the value of a fact


class Result(Protocol):
    @property
    def provenance(self) -> Provenance: ...


@dataclass(frozen=True)
class Listing:
    """A table of some of the values."""

    title: str
    columns: Sequence[str]
    lines: Sequence[Sequence[str]]


def report(
    command: str,
    loaded: Loaded,
    result: Result,
    fields: Mapping[str, Any],
    *,
    shown: Sequence[tuple[str, ...]],
    listing: Listing | None = None,
    values: Mapping[str, AnyArray] | None = None,
    out: Path | None = None,
    as_json: bool = False,
    done: str = "found in",
) -> None:
    """Reports a result. `fields` are the fields of the JSON object besides graph and provenance.

    `shown` are the rows of the printed table, `values` the columns of the file `out`, if there is one. `done` is the
    label of the time.
    """
    written = {}
    if out is not None and values is not None:
        write_table(out, dict(values))
        written = {"out": str(out)}
    graph = loaded.facts()
    if as_json:
        write_json({"command": command, "graph": graph, **fields, **written, "provenance": result.provenance.to_dict()})
        return
    from graphlode.cli.screen import Screen, how

    screen = Screen()
    screen.facts(
        graph["name"],
        [
            ("vertices", count(graph["num_vertices"])),
            ("edges", count(graph["num_edges"])),
            *shown,
            (done, how(result.provenance)),
            *(("written to", file) for file in written.values()),
        ],
    )
    if listing is not None and listing.lines:
        screen.listing(listing.title, listing.columns, listing.lines)
