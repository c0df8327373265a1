"""Matrix Market files: a banner, a line with the sizes, then one entry per line. Vertices start at 1."""

from __future__ import annotations

from graphlode.cpu.io.text import Layout, parse
from graphlode.errors import InputError, UnsupportedError
from graphlode.io.edge_list import EdgeList
from graphlode.io.mark import Mark, parse_mark
from graphlode.io.request import Request, as_values, head_lines, header_numbers, shown
from graphlode.io.source import Text

_COLUMNS = {"pattern": 2, "integer": 3, "real": 3}


def read_mtx(text: Text, request: Request) -> EdgeList:
    lines = head_lines(text)
    number, banner, at = next(lines, (1, b"", 0))
    field, symmetry = _parse_banner(banner)
    mark = Mark()
    for number, line, at in lines:  # noqa: B007  (used below)
        if line.startswith(b"%"):
            mark = parse_mark(line[1:]) if mark == Mark() else mark
        elif line.strip():
            break
    else:
        raise InputError(f"line {number}: the file ends before the line with the sizes")
    sizes = header_numbers(line, number, "rows, columns and entries")
    if len(sizes) != 3:
        raise InputError(f"line {number}: expected rows, columns and entries, found {shown(line)}")
    rows, columns, entries = sizes
    if rows != columns:
        raise InputError(f"line {number}: an adjacency matrix is square, this one is {rows} x {columns}")
    kind = request.kind(mark) if field != "pattern" else None
    layout = Layout(comments="%", columns=_COLUMNS[field], num_vertices=rows, lower_triangle=symmetry == "symmetric")
    src, dst, values = parse(
        text[at:], layout, kind, first_line=number + 1, max_bytes=request.budget.left, control=request.control
    )
    if src.size != entries:
        raise InputError(f"line {number}: {entries} entries are announced, the file has {src.size}")
    directed = False if symmetry == "symmetric" else mark.directed
    return EdgeList(src, dst, num_vertices=rows, directed=directed, **as_values(values, kind))  # type: ignore[arg-type]


def _parse_banner(banner: bytes) -> tuple[str, str]:
    words = banner.decode("ascii", "replace").lower().split()
    if len(words) != 5 or words[0] != "%%matrixmarket":
        raise InputError(f'line 1: expected the banner "%%MatrixMarket matrix coordinate ...", found {shown(banner)}')
    field, symmetry = words[3:]
    offered = words[1:3] == ["matrix", "coordinate"] and field in _COLUMNS and symmetry in ("general", "symmetric")
    if not offered:
        raise UnsupportedError(
            f'line 1: "{" ".join(words[1:])}" is not offered; matrix coordinate, pattern | integer | real, '
            "general | symmetric are"
        )
    return field, symmetry
