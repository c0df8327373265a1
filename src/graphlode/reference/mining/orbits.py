"""The raw arrays of the orbit formulas, row by row and entry by entry, with sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from math import comb

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray, Task

_AT_VERTICES = (
    *(12, 25, 34, 36, 40, 46, 48, 49, 50, 51, 54, 60, 61, 62, 63, 64, 66, 68, 69, 70, 71, 72),
)  # fmt: skip
_AT_EDGES = (
    *(7, 23, 26, 28, 30, 33, 36, 42, 43, 44, 47, 50, 54, 56, 57, 58, 60, 61, 63, 64, 65, 66, 67),
)  # fmt: skip


def launch(
    device: ReferenceDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    size: int,
    edges: bool,
) -> dict[str, AnyArray]:
    """What the rows of the tasks add to the arrays of `graphlode.mining.orbits`; none are sums over others of them."""
    local = Local(rows_of(view))
    found = Found(local, view["edges"], size, edges)
    for task in tasks:
        for u in range(task.begin, task.end):
            control.check()
            _add_small(found, local, u, edges)
            if size == 5:
                _add_cycles(found, local, u)
                _take_off_triangles(found, local, u)
                _add_cliques(found, local, u)
                (_add_at_edges if edges else _add_at_vertices)(found, local, u)
            control.advance(1)
    for name in found.arrays.keys() & {"e28", "o34"}:  # every cycle was gone round in both directions
        found.arrays[name] //= 2
    return found.arrays


class Local:
    """Neighbors as sets, and the numbers of pairs, edges and triangles that the definitions are made of."""

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
        """D(u, v): the edges among the common neighbors; of an edge, K4(uv)."""
        return self._once("joined", u, v, lambda: len(self.inside(self.common(u, v))))

    def fan(self, u: int, v: int) -> int:
        return self._once("fan", u, v, lambda: sum(self.wedges(u, w) - 1 for w in self.common(u, v)))

    def second(self, v: int) -> list[int]:
        """All vertices that have a common neighbor with v."""
        return sorted({u for x in self.of[v] for u in self.of[x]} - {v})

    def _once(self, what: str, u: int, v: int, compute: Callable[[], int]) -> int:
        key = (what, u, v)
        if key not in self.known:
            self.known[key] = compute()
        return self.known[key]


class Found:
    """The arrays, and where a vertex or an edge has its number in them."""

    def __init__(self, local: Local, edges: AnyArray, size: int, of_edges: bool) -> None:
        places = [(u, v) for u, row in enumerate(local.of) for v in sorted(row)]
        self.entries = {entry: i for i, entry in enumerate(places)}
        self.edges = {entry: int(edge) for entry, edge in zip(places, edges, strict=True)}
        lengths = {"e5": len(edges) // 2, "e11": len(edges) // 2}
        if of_edges:
            lengths |= {"fans": len(edges)} | {f"e{i}": len(edges) // 2 for i in _AT_EDGES if size == 5 or i == 7}
        else:
            lengths |= {f"o{i}": len(local.of) for i in _AT_VERTICES if size == 5 or i == 12}
        self.arrays = {name: np.zeros(length, np.int64) for name, length in lengths.items()}

    def at_vertex(self, v: int, **values: int) -> None:
        for name, value in values.items():
            if name in self.arrays:
                self.arrays[name][v] += value

    def add_cycles(self, u: int, v: int, halves: int) -> None:
        """Half cycles through an edge, of which each end has two edges."""
        if "e28" in self.arrays:
            self.at_edge(u, v, e28=halves)
        else:
            self.at_vertex(u, o34=halves)
            self.at_vertex(v, o34=halves)

    def at_edge(self, u: int, v: int, **values: int) -> None:
        for name, value in values.items():
            if name in self.arrays:
                self.arrays[name][self.edges[u, v]] += value


def _add_small(found: Found, local: Local, u: int, edges: bool) -> None:
    d, t = local.degree, local.wedges
    for x in local.of[u]:
        found.at_vertex(x, o12=local.fan(u, x))
        if edges:
            found.arrays["fans"][found.entries[u, x]] = local.fan(u, x)
        if x < u:
            squares = sum(t(u, v) - 1 for v in local.of[x] - {u})
            tails = sum(d[w] - 2 for w in local.common(u, x))
            found.at_edge(u, x, e5=squares, e11=local.joined(u, x), e7=tails)


def _add_cycles(found: Found, local: Local, i: int) -> None:
    """5-cycles i-x-j-k-y with highest vertex i, each in both directions; also where x = y and xjk is a triangle."""
    below = [{w for w in row if w < i} for row in local.of]
    for x in below[i]:
        for j in below[x]:
            for k in below[j] - {x}:
                for _ in (below[k] & below[i]) - {j}:
                    # In the other direction, ix is iy, xj is ky and jk is kj: so every edge hears of every cycle.
                    found.add_cycles(i, x, 2)
                    found.add_cycles(x, j, 2)
                    found.add_cycles(j, k, 1)


def _take_off_triangles(found: Found, local: Local, r: int) -> None:
    """What was no cycle: what the triangle's edges heard, in the row of its highest vertex, and ix, in the row of x."""
    for a, b in local.inside(w for w in local.of[r] if w < r):
        walks = sum(sum(i > r for i in local.of[v]) for v in (a, b, r))
        for one, other in ((a, b), (b, r), (r, a)):
            found.add_cycles(one, other, -2 * walks)
    for i in local.of[r]:
        if i > r:
            found.add_cycles(r, i, -4 * sum(max(a, b, r) < i for a, b in local.inside(local.of[r])))


def _add_cliques(found: Found, local: Local, u: int) -> None:
    """5-cliques with lowest vertex u."""
    for a, b in local.inside(w for w in local.of[u] if w > u):
        for c, d in local.inside(w for w in local.common(u, a, b) if w > b):
            clique = (u, a, b, c, d)
            for v in clique:
                found.at_vertex(v, o72=1)
            for one, other in combinations(clique, 2):
                if "e67" in found.arrays:
                    found.at_edge(one, other, e67=1)


def _add_at_vertices(found: Found, local: Local, u: int) -> None:
    d, t = local.degree, local.wedges
    triangles = local.inside(local.of[u])
    second = {v: t(u, v) for v in local.second(u)}
    third = {(x, v): len(local.common(u, x, v)) for x in local.of[u] for v in local.of[x] - {u}}
    found.at_vertex(
        u,
        o25=sum((d[a] - 2) * (d[b] - 2) for a, b in triangles),
        o36=sum(comb(w, 2) * (d[v] - 2) for v, w in second.items()),
        o46=sum(local.joined(u, v) * (d[v] - 2) for v in second),
        o48=sum((t(u, a) - 1) * (d[b] - 2) + (t(u, b) - 1) * (d[a] - 2) for a, b in triangles),
        o50=sum(comb(w, 3) for w in second.values()),
        o51=sum(t(x, v) * (second[v] - 1) for x, v in third),
        o61=sum((t(u, a) - 1) * (t(u, b) - 1) for a, b in triangles),
        o63=sum(local.joined(u, v) * (w - 2) for v, w in second.items()),
        o68=sum(comb(count, 2) for count in third.values()),
        o71=sum(comb(len(local.common(u, a, b)), 2) for a, b in triangles),
    )
    for x in local.of[u]:
        beyond, common = local.of[x] - {u}, local.common(u, x)
        found.at_vertex(
            x,
            o40=local.fan(u, x) * (d[u] - 3),
            o49=sum(comb(t(u, v) - 1, 2) for v in beyond),
            o54=sum(comb(t(u, w) - 1, 2) for w in common),
            o60=local.fan(u, x) * (t(u, x) - 1),
            o62=sum(local.joined(u, v) for v in beyond),
            o64=sum(third[x, v] * (t(u, v) - 2) for v in beyond),
            o66=sum(third[x, w] * (t(u, w) - 2) for w in common),
            o69=sum(comb(third[x, v], 2) for v in beyond),
        )
    for a, b in local.inside(w for w in local.of[u] if w < u):
        fourth = local.common(u, a, b)
        for v in fourth:
            found.at_vertex(v, o70=len(fourth) - 1)


def _add_at_edges(found: Found, local: Local, u: int) -> None:
    d, t = local.degree, local.wedges
    for x in local.of[u]:
        beyond, common = local.of[x] - {u}, local.common(u, x)
        third = {v: len(local.common(u, x, v)) for v in beyond}
        pairs = local.inside(common)  # the other two of every 4-clique at ux
        found.at_edge(
            u,
            x,
            e30=sum((t(u, v) - 1) * (d[v] - 2) for v in beyond),
            e33=sum((t(u, w) - 1) * (d[w] - 3) for w in common),
            e42=sum(comb(t(u, v) - 1, 2) for v in beyond),
            e44=sum((t(u, v) - 1) * t(x, v) for v in beyond),
            e47=sum(comb(t(u, w) - 1, 2) for w in common),
            e56=sum(local.joined(u, v) for v in beyond),
            e57=sum(count * (t(u, v) - 2) for v, count in third.items()),
            e61=sum(third[w] * (t(u, w) - 2) for w in common),
            e64=sum(comb(count, 2) for count in third.values()),
            e65=sum(len(local.common(u, a, b)) - 1 for a, b in pairs),
        )
        if x < u:
            found.at_edge(
                u,
                x,
                e23=sum(d[y] - 1 for w in common for y in local.of[w]),
                e26=sum(comb(d[w] - 2, 2) for w in common),
                e36=sum(local.triangles(w) for w in common),
                e43=sum(t(c, v) for v in beyond for c in local.common(u, v) - {x}),
                e50=sum(d[a] + d[b] - 6 for a, b in pairs),
                e54=sum((t(u, w) - 1) * (t(x, w) - 1) for w in common),
                e60=sum(t(a, b) - 2 for a, b in pairs),
                e63=sum(len(local.common(h, u, y)) - 1 for h in common for y in local.common(h, x) - {u}),
                e66=sum(comb(third[w], 2) for w in common),
            )
        for v in common:
            if v < x:
                found.at_edge(x, v, e58=sum(t(u, y) - 2 for y in local.common(x, v) - {u}))


def memory(device: ReferenceDevice, shape: Mapping[str, int], *, size: int, edges: bool) -> int:
    return 0
