"""The .gr files of the DIMACS shortest-path challenge: `p sp n m`, then `a u v w` per arc. Vertices start at 1."""

from __future__ import annotations

from graphlode.cpu.io.text import Layout, parse
from graphlode.errors import InputError, UnsupportedError
from graphlode.io.edge_list import EdgeList
from graphlode.io.mark import Mark, parse_mark
from graphlode.io.request import Request, as_values, head_lines, header_numbers, shown
from graphlode.io.source import Text


def read_gr(text: Text, request: Request) -> EdgeList:
    mark = Mark()
    number, line, at = 1, b"", 0
    for number, line, at in head_lines(text):  # noqa: B007  (used below)
        if line.startswith(b"c"):
            mark = parse_mark(line[1:]) if mark == Mark() else mark
        elif line.strip():
            break
    words = line.split(maxsplit=2)
    if len(words) < 3 or words[0] != b"p":
        raise InputError(f'line {number}: expected the line "p sp VERTICES ARCS", found {shown(line)}')
    if words[1] != b"sp":
        raise UnsupportedError(f"line {number}: a problem of the kind {shown(words[1])} is not offered; sp is")
    sizes = header_numbers(words[2], number, "vertices and arcs")
    if len(sizes) != 2:
        raise InputError(f'line {number}: expected the line "p sp VERTICES ARCS", found {shown(line)}')
    vertices, arcs = sizes
    kind = request.kind(mark)
    layout = Layout(comments="c", tag="a", columns=3, num_vertices=vertices)
    src, dst, values = parse(
        text[at:], layout, kind, first_line=number + 1, max_bytes=request.budget.left, control=request.control
    )
    if src.size != arcs:
        raise InputError(f"line {number}: {arcs} arcs are announced, the file has {src.size}")
    return EdgeList(src, dst, num_vertices=vertices, directed=mark.directed, **as_values(values, kind))  # type: ignore[arg-type]
