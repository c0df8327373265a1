"""The sums of motif kernels, in the layout of motifs/sums.cuh: 128 bits each, some of them multiplied by a constant."""

from __future__ import annotations

from typing import Any

import numpy as np

# Name, smallest size of patterns that needs it, and the constant factor of the kernels' sum; in the order of motif_sum.
SUMS = (
    ("wedges", 3, 1),
    ("triangles", 3, 1),
    ("stars3", 4, 3),
    ("paths3", 4, 1),
    ("tailed", 4, 1),
    ("diamonds", 4, 1),
    ("squares", 4, 2),
    ("cliques4", 4, 1),
    ("stars4", 5, 6),
    ("prongs", 5, 1),
    ("paths4", 5, 2),
    ("forks", 5, 1),
    ("longtails", 5, 1),
    ("bulls", 5, 1),
    ("tailed_squares", 5, 2),
    ("five_cycles", 5, 1),
    ("five_cycle_corrections", 5, 1),
    ("hourglasses", 5, 2),
    ("cobras", 5, 1),
    ("stingrays", 5, 1),
    ("houses", 5, 1),
    ("k23", 5, 6),
    ("books3", 5, 3),
    ("gems", 5, 1),
    ("tailed_cliques", 5, 1),
    ("wedge_diamonds", 5, 2),
    ("wheels", 5, 2),
    ("hatted", 5, 1),
    ("almost_cliques", 5, 1),
)
STATUS_WORDS = 2
NUM_WORDS = STATUS_WORDS + 2 * len(SUMS)


def names_of(size: int) -> list[str]:
    """The sums for patterns of up to `size` vertices, without 5-cliques."""
    return [name for name, smallest, _ in SUMS if smallest <= size]


def read_sums(words: Any) -> dict[str, int]:
    """Exact sums from the words of a motif_work on the host."""
    halves = np.asarray(words)[STATUS_WORDS:].view(np.uint64).tolist()
    return {name: (halves[2 * i] + (halves[2 * i + 1] << 64)) // multiple for i, (name, _, multiple) in enumerate(SUMS)}
