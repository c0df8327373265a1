"""SNAP-style text (`u v [value ...]`, separated by blanks) and CSV."""

from __future__ import annotations

import numpy as np

from graphlode.cpu.io.text import Layout, parse
from graphlode.io.edge_list import EdgeList
from graphlode.io.mark import Mark, parse_mark
from graphlode.io.request import Request, as_values, head_lines, trusted_size
from graphlode.io.source import Text


def read_text(text: Text, request: Request) -> EdgeList:
    return _read(text, request, Layout(comments=request.comments))


def read_csv(text: Text, request: Request) -> EdgeList:
    return _read(text, request, Layout(separator=",", comments=request.comments, header=True))


def _read(text: Text, request: Request, layout: Layout) -> EdgeList:
    mark = _find_mark(text, request.comments)
    kind = request.kind(mark)
    src, dst, values = parse(text, layout, kind, max_bytes=request.budget.left, control=request.control)
    if mark.kind and kind and not src.size:
        # A file without edges has no line that shows the third column.
        values = np.empty(0, np.float64) if kind == "weights" else np.empty(0, np.int64)
    size = trusted_size(mark.num_vertices, src, dst)
    return EdgeList(src, dst, num_vertices=size, directed=mark.directed, **as_values(values, kind))  # type: ignore[arg-type]


def _find_mark(text: Text, comments: str) -> Mark:
    head = text[:8].tobytes().removeprefix(b"\xef\xbb\xbf")
    if head[:1] not in [c.encode() for c in comments]:
        return Mark()
    for _, line, _ in head_lines(text[:512]):
        return parse_mark(line[1:])
    return Mark()
