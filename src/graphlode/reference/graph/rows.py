"""Rows as Python sets."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from graphlode.types import AnyArray


def rows_of(view: Mapping[str, AnyArray]) -> list[set[int]]:
    neighbors = view["neighbors"].tolist()
    return [set(neighbors[begin:end]) for begin, end in pairwise(view["offsets"].tolist())]
