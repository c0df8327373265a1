"""Native preferential attachment."""

from __future__ import annotations

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.types import VertexArray


def attach(n: int, m: int, *, seed: int, control: Control) -> tuple[VertexArray, VertexArray]:
    src, dst = _native.barabasi_albert(n, m, seed, control.words)
    return src, dst
