"""Native drawing of recursive matrix edges."""

from __future__ import annotations

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.types import VertexArray


def draw_edges(
    scale: int,
    begin: int,
    end: int,
    *,
    a: float,
    b: float,
    c: float,
    seed: int,
    relabel: bool,
    threads: int,
    control: Control,
) -> tuple[VertexArray, VertexArray]:
    src, dst = _native.rmat(scale, begin, end, a, b, c, seed, relabel, threads, control.words)
    return src, dst
