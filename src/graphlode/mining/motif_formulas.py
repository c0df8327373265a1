"""Turns the raw sums of the motif passes into the number of copies of every pattern.

Each pattern is cut at a vertex, edge, pair or triangle, and the numbers of ways to extend the cut are multiplied. Where
extensions can share a vertex, the patterns that then arise are subtracted. The copies counted here need not be induced.
"""

from __future__ import annotations

from collections.abc import Mapping

# The raw sums that kernels return for patterns of up to 3, 4 or 5 vertices, each in addition to those of smaller sizes.
# `motifs` defines them.
RAW_SUMS = {
    3: ("wedges", "triangles"),
    4: ("stars3", "paths3", "tailed", "diamonds", "squares", "cliques4"),
    5: (
        *("stars4", "prongs", "paths4", "forks", "longtails", "bulls", "tailed_squares", "five_cycles"),
        *("five_cycle_corrections", "hourglasses", "cobras", "stingrays", "houses", "k23", "books3", "gems"),
        *("tailed_cliques", "wedge_diamonds", "wheels", "hatted", "almost_cliques", "cliques5"),
    ),
}


def raw_names(size: int) -> list[str]:
    """The raw sums that patterns of up to `size` vertices need."""
    return [name for least, names in RAW_SUMS.items() if least <= size for name in names]


def counts_from_sums(sums: Mapping[str, int], size: int) -> list[int]:
    """Copies of H1 to H2, H8 or H29, not necessarily induced."""
    triangles = sums["triangles"] // 3
    counts = [sums["wedges"], triangles]
    if size == 3:
        return counts
    tailed, diamonds = sums["tailed"], sums["diamonds"]
    squares, cliques4 = sums["squares"] // 2, sums["cliques4"] // 4
    counts += [sums["stars3"], sums["paths3"] - 3 * triangles, tailed, squares, diamonds, cliques4]
    if size == 4:
        return counts
    return [
        *counts,
        sums["stars4"],
        sums["prongs"] - 2 * tailed,
        sums["paths4"] - 4 * squares - 2 * tailed - 3 * triangles,
        sums["forks"],
        sums["longtails"] - 4 * diamonds,
        sums["bulls"] - 2 * diamonds,
        sums["tailed_squares"] - 2 * diamonds,
        sums["five_cycles"] - sums["five_cycle_corrections"],
        sums["hourglasses"] - 2 * diamonds,
        sums["cobras"] - 12 * cliques4,
        sums["stingrays"],
        sums["houses"] // 2 - 4 * diamonds,
        sums["k23"],
        sums["books3"],
        sums["tailed_cliques"] // 3,
        sums["gems"] - 12 * cliques4,
        sums["wedge_diamonds"],
        sums["wheels"] // 2,
        sums["hatted"] // 2,
        sums["almost_cliques"],
        sums["cliques5"],
    ]
