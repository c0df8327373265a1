"""From raw arrays to orbits: how often a vertex or edge takes each place in all copies of the patterns, induced or not.

A main term extends a vertex, an edge or a triangle in ways that are multiplied or summed up; where the extensions can
coincide, smaller orbits of the same vertex or edge are taken off again. Which and how often was found by fitting on random
graphs, and holds on every graph that was tried. Everything is in the order of the view: ranks and edge ids.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graphlode.errors import CountOverflowError
from graphlode.mining.exact import choose, narrowed, product, row_sums
from graphlode.mining.orbit_layout import Layout
from graphlode.types import AnyArray

# What the main terms count too much or too little, as multiples of the orbits of 3 and 4 vertices.
VERTEX_CORRECTIONS: dict[int, dict[int, int]] = {
    4: {2: -2, 3: -2}, 5: {3: -2},
    15: {5: -1, 8: -2, 11: -2}, 16: {8: -2, 10: -1}, 17: {3: -1, 8: -1, 10: -1}, 18: {7: -3, 10: -1},
    19: {9: -2, 10: -1}, 20: {10: -1}, 21: {11: -2}, 24: {10: -1, 11: -2, 12: -2}, 25: {12: -1}, 26: {13: -2},
    27: {11: -1, 13: -2}, 28: {3: -2, 11: -2, 12: -2}, 29: {3: -2, 10: -1, 12: -2, 13: -2},
    30: {3: -2, 10: -1, 13: -2}, 31: {3: 2, 10: -1}, 35: {8: -2, 13: -1}, 36: {13: -1}, 37: {12: -2}, 38: {13: -1},
    39: {12: -2, 13: -1}, 43: {3: -2, 12: -2, 13: -2}, 44: {13: -1}, 45: {13: -2, 14: -3}, 46: {14: -3},
    47: {14: -3}, 48: {14: -6}, 51: {12: -2, 13: -2}, 52: {13: -2}, 53: {12: -2, 13: -2}, 56: {14: -3},
    59: {13: -2, 14: -6}, 60: {14: -6}, 61: {14: -3}, 62: {13: -1}, 65: {14: -3},
}  # fmt: skip
EDGE_CORRECTIONS: dict[int, dict[int, int]] = {
    2: {0: -1, 1: -2}, 3: {1: -1}, 6: {1: -2},
    12: {2: -1, 5: -2, 8: -1}, 13: {1: -2, 5: -2, 7: -2, 8: -1}, 14: {4: -1, 7: -2}, 15: {6: -2, 8: -1}, 16: {8: -1},
    18: {7: -2, 8: -1, 9: -1}, 19: {9: -1}, 20: {10: -2}, 21: {6: -1, 9: -1}, 22: {9: -1}, 23: {1: -2, 8: -1, 9: -1},
    24: {1: -4, 7: -2, 8: -1, 9: -1, 10: -4}, 29: {5: -2, 10: -2}, 30: {9: -1}, 31: {9: -1}, 32: {9: -1, 10: -2},
    36: {1: -1, 9: -1}, 37: {1: -2, 9: -1, 10: -4}, 38: {9: -1, 11: -2}, 39: {8: -1, 11: -4}, 40: {11: -4},
    41: {11: -2}, 43: {9: -1}, 44: {9: -2}, 45: {9: -1, 10: -4}, 46: {9: -1}, 49: {11: -2}, 52: {9: -1, 11: -4},
    53: {10: -4, 11: -4}, 54: {11: -2}, 55: {11: -4}, 56: {9: -1}, 59: {11: -4},
}  # fmt: skip

Columns = dict[int, AnyArray]

_RAW_VERTEX_ORBITS = (
    *(25, 34, 36, 40, 46, 48, 49, 50, 51, 52, 54, 59, 60, 61, 62, 63, 64, 65, 66, 68, 69, 70, 71, 72),
)
_RAW_EDGE_ORBITS = (
    *(23, 26, 28, 30, 33, 36, 39, 42, 43, 44, 45, 47, 50, 52, 53, 54, 56, 57, 58, 59, 60, 61, 63, 64, 65, 66, 67),
)


def vertex_orbits(raw: Mapping[str, AnyArray], layout: Layout, size: int) -> list[AnyArray]:
    """The columns of the 15 or 73 vertex orbits."""
    columns = _small_vertex_orbits(raw["e5"], raw["e11"], raw["o12"], layout)
    if size == 5:
        require_raw_fits(columns, layout)
        columns |= _large_vertex_orbits(raw, columns, layout)
    return _corrected(columns, VERTEX_CORRECTIONS, least=15)


def _small_vertex_orbits(squares: AnyArray, cliques4: AnyArray, o12: AnyArray, layout: Layout) -> Columns:
    d, t = layout.degrees, layout.triangles
    one = np.ones_like(d)
    o1, o6 = layout.sums(None, d - 1, choose(d - 1, 2))
    twice_t, o10 = layout.sums(t, one, d - 2)
    o2, o3 = choose(d, 2), twice_t // 2
    paths, around = layout.sums(None, o1, o3)
    (o13,) = layout.sums(choose(t, 2), one)
    (twice_squares,) = layout.sums(squares, one)
    (thrice_cliques,) = layout.sums(cliques4, one)
    return {
        0: d,
        1: o1,
        2: o2,
        3: o3,
        4: paths - 2 * o2 - 2 * o3,
        5: product(o1, d - 1) - 2 * o3,
        6: o6,
        7: choose(d, 3),
        8: twice_squares // 2,
        9: around - 2 * o3,
        10: o10,
        11: product(o3, d - 2),
        12: o12,
        13: o13,
        14: thrice_cliques // 3,
    }


def _large_vertex_orbits(raw: Mapping[str, AnyArray], o: Columns, layout: Layout) -> Columns:
    d, t, squares, cliques4 = layout.degrees, layout.triangles, raw["e5"], raw["e11"]
    one = np.ones_like(d)
    ahead, further, o22 = layout.sums(None, product(d - 1, d - 1), product(d - 2, o[1]), choose(d - 1, 3))
    around = layout.sums(None, o[3], product(o[3], d - 3), *(o[i] for i in (4, 6, 8, 9, 10, 12, 13, 14)))
    triangles, o31, o15, o18, o35, o27, o24, o45, o39, o56 = around
    along, o43, o32 = layout.sums(t, o[1], o[3], choose(d - 2, 2))
    (o37,) = layout.sums(squares, d - 2)
    (o41,) = layout.sums(choose(t, 2), d - 3)
    (o53,) = layout.sums(product(t, squares), one)
    (o55,) = layout.sums(choose(t, 3), one)
    (o57,) = layout.sums(cliques4, d - 3)
    (o67,) = layout.sums(product(cliques4, t - 2), one)
    given = {number: raw[f"o{number}"] for number in _RAW_VERTEX_ORBITS}
    return given | {
        15: o15,
        16: product(d - 1, o[4]),
        17: (product(o[1], o[1]) - ahead) // 2,
        18: o18,
        19: further - product(d - 1, o[1] - d),
        20: product(d - 1, o[6]),
        21: product(o[1], choose(d - 1, 2)),
        22: o22,
        23: choose(d, 4),
        24: o24,
        26: product(d - 2, o[10]),
        27: o27,
        28: product(d - 1, triangles),
        29: along - product(d - 1, 2 * o[3]),
        30: product(o[3], o[1]),
        31: o31,
        32: o32,
        33: product(o[3], choose(d - 2, 2)),
        35: o35,
        37: o37,
        38: product(o[8], d - 2),
        39: o39,
        41: o41,
        42: product(o[13], d - 3),
        43: o43,
        44: choose(o[3], 2),
        45: o45,
        47: product(o[12], d - 2),
        53: o53,
        55: o55,
        56: o56,
        57: o57,
        58: product(o[14], d - 3),
        67: o67,
        69: given[69] // 2,
    }


class EdgeOrbits:
    """The 12 or 68 orbits of the edges asked for; what vertices contribute is worked out once."""

    def __init__(self, raw: Mapping[str, AnyArray], layout: Layout, size: int) -> None:
        self.raw, self.layout, self.size = raw, layout, size
        # f(u, v) of `fans` at the higher and at the lower end of each edge.
        self.above, self.below = raw["fans"][layout.downward], np.empty_like(layout.triangles)
        self.below[layout.edges[~layout.downward]] = raw["fans"][~layout.downward]
        opposite = np.where(layout.downward, self.below[layout.edges], self.above[layout.edges])
        diamond_ends = row_sums(opposite, layout.offsets) // 2
        self.at_vertices = _small_vertex_orbits(raw["e5"], raw["e11"], diamond_ends, layout)
        if size == 5:
            require_raw_fits(self.at_vertices, layout)

    def columns(self, edges: AnyArray) -> list[AnyArray]:
        """The columns of some edges, given by their ids."""
        terms = _EdgeTerms(self, edges)
        columns = dict(enumerate(_corrected(terms.small(), EDGE_CORRECTIONS, least=0)))
        if self.size == 5:
            columns |= terms.large(columns)
        return _corrected(columns, EDGE_CORRECTIONS, least=12)


class _EdgeTerms:
    """Main terms of some edges, from u, the higher of their ends, and v."""

    def __init__(self, orbits: EdgeOrbits, edges: AnyArray) -> None:
        self.raw, self.edges, self.o = orbits.raw, edges, orbits.at_vertices
        self.u, self.v = (ends[edges] for ends in orbits.layout.ends)
        self.t = orbits.layout.triangles[edges]
        self.above, self.below = orbits.above[edges], orbits.below[edges]

    def given(self, number: int) -> AnyArray:
        array: AnyArray = self.raw[f"e{number}"][self.edges]
        return array

    def both(self, number: int) -> AnyArray:
        """A vertex orbit of both ends."""
        ends: AnyArray = self.o[number][self.u] + self.o[number][self.v]
        return ends

    def small(self) -> Columns:
        t, du, dv = self.t, self.o[0][self.u], self.o[0][self.v]
        return {
            0: du + dv - 2,
            1: t,
            2: self.both(1),
            3: product(du - 1, dv - 1),
            4: choose(du - 1, 2) + choose(dv - 1, 2),
            5: self.given(5),
            6: self.both(3),
            7: self.given(7),
            8: product(t, du + dv - 4),
            9: self.above + self.below,
            10: choose(t, 2),
            11: self.given(11),
        }

    def large(self, e: Columns) -> Columns:
        """`e` are the orbits of 3 and 4 vertices."""
        t, above, below, both = self.t, self.above, self.below, self.both
        (du, dv), (tu, tv), (pu, pv) = ((self.o[i][self.u], self.o[i][self.v]) for i in (0, 3, 1))
        return {number: self.given(number) for number in _RAW_EDGE_ORBITS} | {
            12: both(4),
            13: product(du - 1, pv - du + 1) + product(dv - 1, pu - dv + 1),
            14: both(6),
            15: product(du - 2, pu - dv + 1) + product(dv - 2, pv - du + 1),
            16: product(choose(du - 1, 2), dv - 1) + product(choose(dv - 1, 2), du - 1),
            17: choose(du - 1, 3) + choose(dv - 1, 3),
            18: both(10),
            19: product(du + dv - 4, e[7]),
            20: product(t, du - 2, dv - 2),
            21: both(9),
            22: product(tu - t, dv - 1) + product(tv - t, du - 1),
            24: product(t, pu + pv),
            25: product(tu - t, du - 3) + product(tv - t, dv - 3),
            27: product(t, choose(du - 2, 2) + choose(dv - 2, 2)),
            29: both(8),
            31: product(e[5], du + dv - 4),
            32: both(13),
            34: product(du - 3, above) + product(dv - 3, below),
            35: product(e[10], du + dv - 6),
            37: product(t, tu + tv),
            38: both(12),
            40: product(dv - 2, above) + product(du - 2, below),
            41: product(e[7], t - 1),
            46: product(t, e[5]),
            48: choose(t, 3),
            49: both(14),
            51: product(e[11], du + dv - 6),
            55: product(t - 1, e[9]),
            62: product(e[11], t - 2),
        }


def _corrected(mains: Columns, corrections: Mapping[int, Mapping[int, int]], least: int) -> list[AnyArray]:
    """The columns in order, those from `least` on with their corrections, which are of columns before them."""
    done: list[AnyArray] = []
    for number in range(len(mains)):
        column = mains[number]
        for lower, times in corrections.get(number, {}).items() if number >= least else ():
            column = column + times * done[lower]
        done.append(narrowed(column))
    return done


def require_raw_fits(o: Columns, layout: Layout) -> None:
    """Raise CountOverflowError if raw arrays, which hold 64 bits, might have overflowed.

    A vertex is in at most as many copies of any pattern that has a path along all its vertices as it is in paths of four
    edges, and so it is with the edges; main terms have less than that again too much. What has no such path is not raw.
    """
    d, paths3, paths2 = (column.astype(np.float64) for column in (o[0], o[4], o[1]))
    bound = 2 * (row_sums(paths3[layout.neighbors], layout.offsets) + (d - 1) * paths3 + paths2 * paths2 / 2)
    largest = float(bound.max(initial=0.0))
    if largest >= 2.0**63:
        raise CountOverflowError(
            f"a vertex has up to {largest:.3g} copies of a pattern, and raw orbits hold 63 bits; count_motifs has no limit"
        )
