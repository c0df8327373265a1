"""Motif counts of graphs that are too large to count exactly: estimates from random trees, with guaranteed intervals.

Trees of each kind are drawn with known probabilities (`tree_samples`). For each draw, the pattern that the graph has on
the tree's vertices is looked up. Let a pattern j have M[t, j] spanning trees of kind t. Each of the n[t] draws of that
kind hits it with probability M[t, j] N[j] / Z[t], where Z[t] is the number of possible draws. Hence the number of hits
divided by the sum of n[t] M[t, j] / Z[t] is an unbiased estimate of its number N[j] of induced copies.

The number of hits is a sum of independent events, so the Chernoff bound applies. Let h be the fraction of all n draws
that hit the pattern, and p its expectation. The probability that h deviates from p at least as far as observed is at
most exp(-n KL(h || p)) on either side. All p that this does not rule out form the interval. This holds for any number
of samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import log
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphlode.common.numbers import one_of_sizes, real
from graphlode.errors import InputError
from graphlode.execute.provenance import Provenance
from graphlode.generate.arguments import integer, random_seed
from graphlode.graph.accept import as_undirected
from graphlode.graph.tables import table
from graphlode.mining.patterns import NUM_PATTERNS, SIZES, ByPattern, pattern_matrix, placements
from graphlode.mining.tree_samples import TREES, Rows, TreePattern
from graphlode.types import AnyArray, FloatArray, Int64Array

if TYPE_CHECKING:
    import pandas

_CHUNK = 1 << 17  # draws at a time
# How the draws of one size are divided among its trees: most patterns have more paths than stars.
_SHARES = {3: (1.0,), 4: (0.25, 0.75), 5: (0.15, 0.25, 0.6)}


@dataclass(frozen=True, eq=False, kw_only=True)
class MotifEstimates(ByPattern):
    """Estimated numbers of induced copies in the order of `patterns`, with intervals from `lower` to `upper`.

    Each interval covers the true number with at least the probability `confidence`. That all of them do is less likely.
    """

    size: int
    estimates: FloatArray
    lower: FloatArray
    upper: FloatArray
    confidence: float
    samples: int
    seed: int
    provenance: Provenance

    def __post_init__(self) -> None:
        for array in (self.estimates, self.lower, self.upper):
            array.flags.writeable = False

    def _columns(self) -> dict[str, FloatArray]:
        return {"estimate": self.estimates, "lower": self.lower, "upper": self.upper}

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "size": self.size,
            "order": list(self.ids),
            "names": list(self.names),
            **{name: column.tolist() for name, column in self._columns().items()},
            "confidence": self.confidence,
            "samples": self.samples,
            "seed": self.seed,
            "provenance": self.provenance.to_dict(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per pattern."""
        return table({"pattern": self.ids, "name": self.names, **self._columns()})

    def _repr_html_(self) -> str:
        from graphlode.mining.motif_drawings import html_table

        return html_table(self.patterns, {name: column.tolist() for name, column in self._columns().items()})


def estimate_motifs(
    graph: Any,
    size: Literal[3, 4, 5] = 5,
    *,
    samples: int = 100_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> MotifEstimates:
    """Estimated numbers of induced copies of every pattern of up to `size` vertices, with confidence intervals.

    Parameters
    ----------
    graph
        A Graph, scipy sparse matrix or networkx graph. A directed graph is used in its undirected form.
    size
        Patterns of up to 3, 4 or 5 vertices.
    samples
        Number of trees to draw for each number of vertices, at least 100. Four times as many halve the intervals.
    confidence
        The probability with which each interval covers the true number, above 0 and below 1.
    seed
        Equal seeds give equal answers.

    Raises InputError for a wrong argument. Cost: O(m) to prepare, then a few binary searches per sample, on one CPU
    core. Memory: a few arrays of the size of the edges.

    >>> import graphlode as gl
    >>> found = gl.estimate_motifs(gl.dataset("karate"), 3, samples=1000, seed=1)
    >>> bool(found.lower[1] <= 45 <= found.upper[1])
    True
    """
    started = perf_counter()
    one_of_sizes("size", size, SIZES)
    samples, seed = integer("samples", samples, least=100), random_seed(seed)
    if not 0 < real("confidence", confidence) < 1:
        raise InputError(f"confidence must be above 0 and below 1, got {confidence!r}")
    undirected, notes = as_undirected(graph)
    rows, rng = Rows.of(undirected), np.random.default_rng(seed)
    parts = [_estimate(rows, k, samples, confidence, rng) for k in SIZES if k <= size]
    estimates, lower, upper = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return MotifEstimates(
        size=size,
        estimates=estimates,
        lower=lower,
        upper=upper,
        confidence=confidence,
        samples=samples,
        seed=seed,
        provenance=Provenance(
            operation="mining.motif_estimates",
            version=undirected.version,
            devices=("cpu",),
            method=f"{samples} trees of each size",
            seconds=perf_counter() - started,
            threads=1,
            notes=notes,
        ),
    )


def _estimate(
    rows: Rows, k: int, samples: int, confidence: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Estimates and bounds for the patterns of exactly k vertices."""
    first, last = NUM_PATTERNS.get(k - 1, 0), NUM_PATTERNS[k]
    hits = np.zeros(last - first, np.int64)
    rate = np.zeros(last - first)  # expected number of hits per copy
    drawn = 0
    for tree, share in zip(TREES[k], _SHARES[k], strict=True):
        total, number = tree.total(rows), round(share * samples)
        if total:
            hits += _hits(rows, tree, k, number, rng)[first:last]
            rate += number * (pattern_matrix()[tree.pattern, first:last] / total)
            drawn += number
    # Without a draw there are no copies: the rate is 0, and so are the estimate and both bounds.
    scale = np.divide(1.0, rate, out=np.zeros_like(rate), where=rate > 0)
    bounds = np.array([interval(int(count), drawn, confidence) if drawn else (0.0, 0.0) for count in hits])
    return hits.astype(np.float64) * scale, bounds[:, 0] * scale, bounds[:, 1] * scale


def _hits(rows: Rows, tree: TreePattern, k: int, number: int, rng: np.random.Generator) -> Int64Array:
    """Number of draws of the tree whose vertices form each of the 29 patterns."""
    hits = np.zeros(NUM_PATTERNS[5] + 1, np.int64)
    for begin in range(0, number, _CHUNK):
        vertices = tree.sample(rows, rng, min(_CHUNK, number - begin))
        hits += np.bincount(_patterns_on(rows, vertices, tree, k), minlength=hits.size)
    return hits[:-1]


def _patterns_on(rows: Rows, vertices: AnyArray, tree: TreePattern, k: int) -> Int64Array:
    """The number of the pattern on each column of vertices; 29 if a vertex occurs twice."""
    code = np.zeros(vertices.shape[1], np.int64)
    distinct = np.ones(vertices.shape[1], bool)
    for bit, (i, j) in enumerate(combinations(range(k), 2)):
        if (i, j) in tree.edges:
            code |= 1 << bit
        else:
            distinct &= vertices[i] != vertices[j]
            code |= rows.adjacent(vertices[i], vertices[j]).astype(np.int64) << bit
    return np.where(distinct, _pattern_of_code(k)[code], NUM_PATTERNS[5])


@cache
def _pattern_of_code(k: int) -> Int64Array:
    """The number of the pattern for every set of edges on k vertices, one bit per pair; 29 if not connected."""
    pairs = list(combinations(range(k), 2))
    numbers = np.full(1 << len(pairs), NUM_PATTERNS[5], np.int64)
    for (n, edges), placed in placements().items():
        if n == k:
            numbers[sum(1 << pairs.index(edge) for edge in edges)] = placed.pattern
    return numbers


def interval(hits: int, draws: int, confidence: float) -> tuple[float, float]:
    """Chernoff bounds of the expected number of hits. Each side fails with probability at most (1 - confidence) / 2."""
    limit = log(2 / (1 - confidence)) / draws
    share = hits / draws
    return draws * _boundary(share, 0.0, limit), draws * _boundary(share, 1.0, limit)


def _boundary(share: float, end: float, limit: float) -> float:
    """The probability between `share` and `end` at which the divergence reaches the limit."""
    inside, outside = share, end
    for _ in range(100):
        middle = (inside + outside) / 2
        if _divergence(share, middle) <= limit:
            inside = middle
        else:
            outside = middle
    return outside


def _divergence(share: float, p: float) -> float:
    """KL(share || p) of two coins."""
    first = share * log(share / p) if share > 0 and p > 0 else 0.0 if share == 0 else float("inf")
    second = (1 - share) * log((1 - share) / (1 - p)) if share < 1 and p < 1 else 0.0 if share == 1 else float("inf")
    return first + second
