"""The common end of commands: writes values to a file, then prints JSON for programs or tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from graphlode.cli.numbers import count
from graphlode.cli.output import write_json
from graphlode.cli.request import Request
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
    request: Request,
    result: Result,
    found: Mapping[str, Any],
    *,
    shown: Sequence[tuple[str, ...]],
    listing: Listing | None = None,
    values: Mapping[str, AnyArray] | None = None,
    done: str = "found in",
) -> None:
    """`found` is what the JSON object has beside graph and provenance; `shown` are the facts that people see of it.

    `values` are the columns of the file of `--out`, if there is one; `done` is the label of the time.
    """
    written = request.write_out(values or {})
    graph = request.loaded.facts()
    if request.as_json:
        write_json({"command": command, "graph": graph, **found, **written, "provenance": result.provenance.to_dict()})
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
