"""The comment that graphlode writes at the top of its text files.

It states what the format itself cannot: the number of vertices, whether the graph is directed, and the meaning of the
third column. A file without it is readable, too; then the reader's arguments decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphlode.cpu.io.text import Kind

_WORDS = re.compile(rb"graphlode((?: [a-z_]+=[a-z0-9]+)+)\s*")


@dataclass(frozen=True)
class Mark:
    num_vertices: int | None = None
    directed: bool | None = None
    kind: Kind | None = None
    known: bool = False  # whether the mark states `kind`; if so, None means that there are no values


def format_mark(num_vertices: int | None, directed: bool, kind: Kind | None) -> str:
    size = "" if num_vertices is None else f" num_vertices={num_vertices}"
    return f"graphlode{size} directed={int(directed)} values={kind or 'none'}"


def parse_mark(line: bytes) -> Mark:
    """The mark in a line (without its comment character); an empty one if there is none."""
    match = _WORDS.fullmatch(line.strip())
    if match is None:
        return Mark()
    words = dict(word.split("=", 1) for word in match[1].decode().split())
    size, directed, kind = words.get("num_vertices", ""), words.get("directed"), words.get("values")
    return Mark(
        num_vertices=int(size) if size.isdecimal() and len(size) <= 15 else None,
        directed=None if directed not in ("0", "1") else directed == "1",
        kind="weights" if kind == "weights" else "times" if kind == "times" else None,
        known=kind in ("weights", "times", "none"),
    )
