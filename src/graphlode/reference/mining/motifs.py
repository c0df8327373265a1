"""The raw sums of the motif formulas, term by term, with sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from math import comb

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.graph.rows import rows_of
from graphlode.types import AnyArray, Task

Sums = dict[str, int]


def launch(
    device: ReferenceDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    size: int,
    method: str,
) -> Sums:
    """The method makes no difference here: every sum is written as it is defined in `graphlode.mining.motifs`."""
    rows = Rows(rows_of(view))
    sums: Counter[str] = Counter()
    for task in tasks:
        for u in range(task.begin, task.end):
            control.check()
            for part in (_at_vertex, _at_edges, _at_triangles, _at_pairs, _at_cycles, _at_cliques):
                for name, value in part(rows, u, size).items():
                    sums[name] += value
            control.advance(1)
    return dict(sums)


class Rows:
    """Neighbors as sets, and what is asked for again and again: degrees, triangles at edges and vertices."""

    def __init__(self, rows: list[set[int]]) -> None:
        self.of = rows
        self.degree = [len(row) for row in rows]
        self.edge = {(u, v): len(rows[u] & rows[v]) for u in range(len(rows)) for v in rows[u]}
        self.triangles = [sum(self.edge[u, v] for v in rows[u]) // 2 for u in range(len(rows))]

    def adjacent(self, a: int, b: int, c: int) -> bool:
        return b in self.of[a] and c in self.of[a] and c in self.of[b]


def _at_vertex(rows: Rows, u: int, size: int) -> Sums:
    d, t = rows.degree[u], rows.triangles[u]
    ahead = [rows.degree[v] - 1 for v in rows.of[u]]
    sums = {"wedges": comb(d, 2)}
    if size >= 4:
        sums |= {"stars3": comb(d, 3), "tailed": t * (d - 2)}
    if size >= 5:
        sums |= {
            "stars4": comb(d, 4),
            "paths4": (sum(ahead) ** 2 - sum(a * a for a in ahead)) // 2,
            "forks": t * comb(max(d - 2, 0), 2),
            "hourglasses": comb(t, 2),
        }
    return sums


def _at_edges(rows: Rows, u: int, size: int) -> Sums:
    sums: Counter[str] = Counter(triangles=0)
    for v in (v for v in rows.of[u] if v < u):
        d, e, t = rows.degree[u], rows.degree[v], rows.edge[u, v]
        sums["triangles"] += t
        if size >= 4:
            sums["paths3"] += (d - 1) * (e - 1)
            sums["diamonds"] += comb(t, 2)
        if size >= 5:
            sums["prongs"] += comb(d - 1, 2) * (e - 1) + comb(e - 1, 2) * (d - 1)
            sums["longtails"] += (rows.triangles[u] - t) * (e - 1) + (rows.triangles[v] - t) * (d - 1)
            sums["bulls"] += t * (d - 2) * (e - 2)
            sums["stingrays"] += comb(t, 2) * (d + e - 6)
            sums["books3"] += comb(t, 3)
    return sums


def _at_triangles(rows: Rows, c: int, size: int) -> Sums:
    """Triangles a < b < c, at their highest vertex."""
    sums: Counter[str] = Counter()
    if size < 4:
        return sums
    for a, b in combinations(sorted(v for v in rows.of[c] if v < c), 2):
        if b not in rows.of[a]:
            continue
        fourth = len(rows.of[a] & rows.of[b] & rows.of[c])
        sums["cliques4"] += fourth
        if size >= 5:
            da, db, dc = (rows.degree[v] for v in (a, b, c))
            ab, ac, bc = rows.edge[a, b], rows.edge[a, c], rows.edge[b, c]
            sums["cobras"] += (bc - 1) * (da - 2) + (ac - 1) * (db - 2) + (ab - 1) * (dc - 2)
            sums["gems"] += (ab - 1) * (ac - 1) + (ab - 1) * (bc - 1) + (ac - 1) * (bc - 1)
            sums["five_cycle_corrections"] += sum(i > c for x in (a, b, c) for i in rows.of[x])
            sums["tailed_cliques"] += fourth * (da + db + dc - 9)
            sums["hatted"] += fourth * (ab + ac + bc - 6)
            sums["almost_cliques"] += comb(fourth, 2)
    return sums


def _at_pairs(rows: Rows, u: int, size: int) -> Sums:
    """Pairs v < u with common neighbors, adjacent or not."""
    sums: Counter[str] = Counter()
    if size < 4:
        return sums
    for v in {v for x in rows.of[u] for v in rows.of[x] if v < u}:
        common = rows.of[u] & rows.of[v]
        w = len(common)
        sums["squares"] += comb(w, 2)
        if size >= 5:
            third = {h: len(common & rows.of[h]) for h in common}  # common neighbors of h, u and v
            sums["tailed_squares"] += comb(w, 2) * (rows.degree[u] + rows.degree[v] - 4)
            sums["houses"] += (w - 1) * sum(rows.edge[u, x] + rows.edge[x, v] for x in common)
            sums["k23"] += comb(w, 3)
            sums["wedge_diamonds"] += sum(third.values()) // 2 * (w - 2)
            sums["wheels"] += sum(comb(count, 2) for count in third.values())
    return sums


def _at_cycles(rows: Rows, i: int, size: int) -> Sums:
    """Closed walks i-x-j-k-y below i that do not go back on themselves at x or y; x = y is corrected elsewhere."""
    if size < 5:
        return {}
    low = {x for x in rows.of[i] if x < i}
    ways = Counter(j for x in low for j in rows.of[x] if j < i)
    return {
        "five_cycles": sum(
            (ways[j] - (k in low)) * (ways[k] - (j in low)) for j in ways for k in rows.of[j] if j < k < i and k in ways
        )
    }


def _at_cliques(rows: Rows, u: int, size: int) -> Sums:
    """5-cliques at their lowest vertex."""
    if size < 5:
        return {}
    found = 0
    for a in (v for v in rows.of[u] if v > u):
        beyond = {v for v in rows.of[u] & rows.of[a] if v > a}
        found += sum(rows.adjacent(b, c, e) for b, c, e in combinations(sorted(beyond), 3))
    return {"cliques5": found}


def memory(device: ReferenceDevice, shape: Mapping[str, int], *, size: int, method: str) -> int:
    return 0
