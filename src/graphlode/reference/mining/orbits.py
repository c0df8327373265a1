"""The raw arrays of the orbit formulas, entry by entry, with sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from math import comb

import numpy as np

from graphlode.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray, Task


def launch(
    device: ReferenceDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    size: int,
    edges: bool,
) -> dict[str, AnyArray]:
    """Every array as it is defined in `graphlode.mining.orbits`, for the vertices and edges of the tasks."""
    local = Local(rows_of(view))
    found: dict[str, list[int]] = {name: [] for name in _names(size, edges)}
    for task in tasks:
        for u in range(task.begin, task.end):
            control.check()
            if not edges:
                _append(found, _at_vertex(local, u, size))
            for v in sorted(local.of[u]):
                if edges:
                    _append(found, {"fans": local.fan(u, v)})
                if v < u:
                    _append(found, {"e5": local.squares(u, v), "e11": local.cliques4(u, v)})
                    if edges:
                        _append(found, _at_edge(local, u, v, size))
            control.advance(1)
    return {name: np.array(values, np.int64) for name, values in found.items()}


def _names(size: int, edges: bool) -> list[str]:
    """The arrays there are: those of a graph of a single edge."""
    local = Local([{1}, {0}])
    more = ["fans", *_at_edge(local, 1, 0, size)] if edges else _at_vertex(local, 0, size)
    return ["e5", "e11", *more]


def _append(found: dict[str, list[int]], values: Mapping[str, int]) -> None:
    for name, value in values.items():
        found[name].append(value)


class Local:
    """Neighbours as sets, and the numbers of pairs, edges and triangles that the definitions are made of."""

    def __init__(self, rows: list[set[int]]) -> None:
        self.of = rows
        self.degree = [len(row) for row in rows]
        self.known: dict[tuple[str, int, int], int] = {}

    def common(self, *vertices: int) -> set[int]:
        return set.intersection(*(self.of[v] for v in vertices))

    def wedges(self, u: int, v: int) -> int:
        return self._once("wedges", u, v, lambda: len(self.common(u, v)))

    def triangles(self, v: int) -> int:
        return sum(self.wedges(v, w) for w in self.of[v]) // 2

    def inside(self, vertices: Iterable[int]) -> list[tuple[int, int]]:
        """The edges among the vertices."""
        return [(a, b) for a, b in combinations(sorted(vertices), 2) if b in self.of[a]]

    def joined(self, u: int, v: int) -> int:
        """D(u, v): the edges among the common neighbours."""
        return self._once("joined", u, v, lambda: len(self.inside(self.common(u, v))))

    def squares(self, u: int, v: int) -> int:
        """C4(uv)."""
        return self._once("squares", u, v, lambda: sum(1 for _ in self.cycles4(u, v)))

    def cycles4(self, u: int, v: int) -> Iterator[tuple[int, int]]:
        """c and d of every 4-cycle u-v-c-d."""
        return ((c, d) for c in self.of[v] - {u} for d in self.common(u, c) - {v})

    def cliques4(self, u: int, v: int) -> int:
        """K4(uv)."""
        return self.joined(u, v)

    def fan(self, u: int, v: int) -> int:
        return self._once("fan", u, v, lambda: sum(self.wedges(u, w) - 1 for w in self.common(u, v)))

    def tails(self, u: int, v: int) -> int:
        """e7: the tails of the triangles at uv that hang at their third vertex."""
        return self._once("tails", u, v, lambda: sum(self.degree[w] - 2 for w in self.common(u, v)))

    def second(self, v: int) -> list[int]:
        """All vertices that have a common neighbour with v."""
        return sorted({u for x in self.of[v] for u in self.of[x]} - {v})

    def cycles5(self, u: int, v: int) -> int:
        """5-cycles v-u-a-b-c through the edge uv."""
        others = {u, v}
        return sum(len(self.common(b, v) - others - {a}) for a in self.of[u] - others for b in self.of[a] - others)

    def _once(self, what: str, u: int, v: int, compute: Callable[[], int]) -> int:
        key = (what, u, v)
        if key not in self.known:
            self.known[key] = compute()
        return self.known[key]


def _at_vertex(local: Local, v: int, size: int) -> dict[str, int]:
    d, t = local.degree, local.wedges
    pairs = local.inside(local.of[v])  # the other two of every triangle at v
    raw = {"o12": sum(t(a, b) - 1 for a, b in pairs)}
    if size == 4:
        return raw
    inside = [(len(local.common(v, a, b)), a, b) for a, b in pairs]
    third = {(a, b): len(local.common(v, a, b)) for a, b in combinations(sorted(local.of[v]), 2)}
    second = {u: t(u, v) for u in local.second(v)}
    return raw | {
        "o25": sum((d[a] - 2) * (d[b] - 2) for a, b in pairs),
        "o34": sum(local.cycles5(v, w) for w in local.of[v]) // 2,
        "o36": sum(comb(w, 2) * (d[u] - 2) for u, w in second.items()),
        "o40": sum((t(a, b) - 1) * (d[a] + d[b] - 6) for a, b in pairs),
        "o46": sum(local.joined(u, v) * (d[u] - 2) for u in second),
        "o48": sum((t(v, a) - 1) * (d[b] - 2) + (t(v, b) - 1) * (d[a] - 2) for a, b in pairs),
        "o49": sum(comb(t(a, b) - 1, 2) for a, b in third),
        "o50": sum(comb(w, 3) for w in second.values()),
        "o51": sum(t(x, y) * (t(v, y) - 1) for x in local.of[v] for y in local.of[x] - {v}),
        "o52": sum(local.squares(a, b) for a, b in pairs),
        "o54": sum(comb(t(a, b) - 1, 2) for a, b in pairs),
        "o59": sum(local.fan(a, b) + local.fan(b, a) for a, b in pairs),
        "o60": sum((t(a, b) - 1) * (t(v, a) + t(v, b) - 2) for a, b in pairs),
        "o61": sum((t(v, a) - 1) * (t(v, b) - 1) for a, b in pairs),
        "o62": sum(local.joined(a, b) for a, b in third),
        "o63": sum(local.joined(u, v) * (w - 2) for u, w in second.items()),
        "o64": sum(count * (t(a, b) - 2) for (a, b), count in third.items()),
        "o65": sum(local.cliques4(a, b) for a, b in pairs),
        "o66": sum(count * (t(a, b) - 2) for count, a, b in inside),
        "o68": sum(comb(len(local.common(v, h, u)), 2) for h in local.of[v] for u in local.of[h] - {v}),
        "o69": sum(comb(count, 2) for count in third.values()),
        "o70": sum(len(local.common(a, b, c)) - 1 for a, b in pairs for c in local.common(v, a, b) if c > b),
        "o71": sum(comb(count, 2) for count, a, b in inside),
        "o72": sum(len(local.inside(c for c in local.common(v, a, b) if c > b)) for a, b in pairs),
    }


def _at_edge(local: Local, u: int, v: int, size: int) -> dict[str, int]:
    d, t = local.degree, local.wedges
    common = sorted(local.common(u, v))
    raw = {"e7": local.tails(u, v)}
    if size == 4:
        return raw
    fourth = [(w, len(local.common(u, v, w))) for w in common]
    pairs = local.inside(common)  # the other two of every 4-clique at uv
    squares = list(local.cycles4(u, v))
    return raw | {
        "e23": sum(d[x] - 1 for w in common for x in local.of[w]),
        "e26": sum(comb(d[w] - 2, 2) for w in common),
        "e28": local.cycles5(u, v),
        "e30": sum(d[a] + d[b] - 4 for a, b in squares),
        "e33": sum((t(u, w) + t(v, w) - 2) * (d[w] - 3) for w in common),
        "e36": sum(local.triangles(w) for w in common),
        "e39": sum(local.tails(u, w) + local.tails(v, w) for w in common),
        "e42": sum(comb(t(x, y) - 1, 2) for x, z in ((u, v), (v, u)) for y in local.of[z] - {x}),
        "e43": sum(t(a, b) for a, b in squares),
        "e44": sum(t(v, a) + t(u, b) for a, b in squares),
        "e45": sum(local.squares(u, w) + local.squares(v, w) for w in common),
        "e47": sum(comb(t(u, w) - 1, 2) + comb(t(v, w) - 1, 2) for w in common),
        "e50": sum(d[a] + d[b] - 6 for a, b in pairs),
        "e52": sum(local.fan(w, u) + local.fan(w, v) for w in common),
        "e53": sum(local.fan(u, w) + local.fan(v, w) for w in common),
        "e54": sum((t(u, w) - 1) * (t(v, w) - 1) for w in common),
        "e56": sum(local.joined(x, y) for x, z in ((u, v), (v, u)) for y in local.of[z] - {x}),
        "e57": sum(t(x, y) - 2 for x, z in ((u, v), (v, u)) for w in common for y in local.common(z, w) - {x}),
        "e58": sum(t(a, b) - 2 for a, b in combinations(common, 2)),
        "e59": sum(local.cliques4(u, w) + local.cliques4(v, w) for w in common),
        "e60": sum(t(a, b) - 2 for a, b in pairs),
        "e61": sum(count * (t(u, w) + t(v, w) - 4) for w, count in fourth),
        "e63": sum(len(local.common(h, u, y)) - 1 for h in common for y in local.common(h, v) - {u}),
        "e64": sum(comb(len(local.common(x, h, y)), 2) for x, h in ((u, v), (v, u)) for y in local.of[h] - {x}),
        "e65": sum(len(local.common(u, a, b)) + len(local.common(v, a, b)) - 2 for a, b in pairs),
        "e66": sum(comb(count, 2) for _, count in fourth),
        "e67": sum(c > b for a, b in pairs for c in local.common(u, v, a, b)),
    }


def memory(device: ReferenceDevice, shape: Mapping[str, int], *, size: int, edges: bool) -> int:
    return 0
