"""Which motifs a graph has more of, or fewer, than random graphs with the same degrees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphlode.common.control import Control
from graphlode.common.numbers import real
from graphlode.common.wait import Progress
from graphlode.config import settings
from graphlode.cpu.mining import rewire as kernel
from graphlode.errors import InputError, UnsupportedError
from graphlode.execute import call
from graphlode.execute.devices import Devices
from graphlode.execute.provenance import Provenance
from graphlode.generate.arguments import integer, random_seed
from graphlode.graph.accept import as_undirected
from graphlode.graph.build import from_edges
from graphlode.graph.graph import Graph
from graphlode.graph.tables import table
from graphlode.mining.motif_counts import Counted, as_column
from graphlode.mining.motifs import count_motifs
from graphlode.mining.patterns import ByPattern
from graphlode.types import MAX_NARROW_VERTICES, AnyArray, FloatArray

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

_BATCH_BYTES = 64 * 2**20  # rewired edges held at the same time, unless one graph per thread takes more
_MOST_SWAPS = 1_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class MotifProfile(ByPattern):
    """Motif counts of a graph, compared with random graphs of the same degrees.

    All arrays are in the order of `patterns`. `counts` are those of the graph; `null_mean` and `null_std` those of the
    samples. `z_scores` are distances from the mean in standard deviations; if all samples are equal, they are nan where
    the graph is equal, too, and infinite otherwise. `p_more` and `p_fewer` are the fractions of graphs, counting the
    given one as a sample, with at least or at most as many copies. `null_counts[i, j]` is the count of pattern j in
    sample i.
    """

    size: int
    counted: Counted
    counts: tuple[int, ...]
    null_counts: FloatArray
    seed: int
    provenance: Provenance

    @property
    def samples(self) -> int:
        """Number of random graphs."""
        return len(self.null_counts)

    @property
    def null_mean(self) -> FloatArray:
        """The mean of each pattern over the random graphs."""
        mean: FloatArray = self.null_counts.mean(axis=0)
        return mean

    @property
    def null_std(self) -> FloatArray:
        """The standard deviation of each pattern over the random graphs."""
        std: FloatArray = self.null_counts.std(axis=0, ddof=1)
        return std

    @property
    def z_scores(self) -> FloatArray:
        """Distance from the mean in standard deviations."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scores: FloatArray = (np.array(self.counts, np.float64) - self.null_mean) / self.null_std
        return scores

    @property
    def p_more(self) -> FloatArray:
        """The fraction of graphs with at least as many copies."""
        return self._share(self.null_counts >= np.array(self.counts, np.float64))

    @property
    def p_fewer(self) -> FloatArray:
        """The fraction of graphs with at most as many copies."""
        return self._share(self.null_counts <= np.array(self.counts, np.float64))

    def _share(self, hits: Any) -> FloatArray:
        share: FloatArray = (1 + hits.sum(axis=0)) / (1 + self.samples)
        return share

    def _columns(self) -> dict[str, Any]:
        return {
            "null_mean": self.null_mean,
            "null_std": self.null_std,
            "z_score": self.z_scores,
            "p_more": self.p_more,
            "p_fewer": self.p_fewer,
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON; nan and infinity become None."""
        plain = {name: [x if np.isfinite(x) else None for x in c.tolist()] for name, c in self._columns().items()}
        return {
            "size": self.size,
            "counted": self.counted,
            "samples": self.samples,
            "seed": self.seed,
            "order": list(self.ids),
            "names": list(self.names),
            "counts": list(self.counts),
            **plain,
            "provenance": self.provenance.to_dict(),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A table with a row per pattern."""
        return table({"pattern": self.ids, "name": self.names, "count": as_column(self.counts), **self._columns()})

    def plot(self) -> Figure:
        """A figure of the z-scores with drawings of the patterns. Needs matplotlib."""
        from graphlode.mining.motif_drawings import draw_scores

        return draw_scores(self.patterns, np.nan_to_num(self.z_scores, posinf=0.0, neginf=0.0).tolist())

    def _repr_html_(self) -> str:
        from graphlode.mining.motif_drawings import html_table

        shown = {name: column.tolist() for name, column in self._columns().items()}
        return html_table(self.patterns, {"count": self.counts, **shown})


def motif_profile(
    graph: Any,
    size: Literal[3, 4, 5] = 4,
    *,
    null: Literal["configuration"] = "configuration",
    samples: int = 100,
    swaps: float = 20.0,
    seed: int = 0,
    induced: bool = True,
    devices: Devices = "auto",
    progress: Progress | None = None,
) -> MotifProfile:
    """Motif counts compared with those of random graphs in which every vertex keeps its degree.

    Parameters
    ----------
    graph
        A Graph, scipy sparse matrix or networkx graph. A directed graph is used in its undirected form.
    size
        Patterns of up to 3, 4 or 5 vertices.
    null
        "configuration": simple graphs with the same degrees, all equally likely after many swaps.
    samples
        Number of random graphs, at least 2.
    swaps
        Attempted swaps per edge, 0 to 1,000,000. A swap exchanges the ends of two edges. Too few leave the random graph
        similar to the given one.
    seed
        Sample i depends on the graph, the seed and i alone.
    induced
        Whether to count induced copies or all of them.
    devices, progress
        Where to count. progress(done, samples) is called after each sample.

    Raises InputError for a wrong argument. Rewiring uses all CPU threads, one sample per thread; each count uses the
    whole device. Cost: `samples` times that of `count_motifs` plus `swaps` steps per edge.

    >>> import graphlode as gl
    >>> profile = gl.motif_profile(gl.dataset("karate"), 3, samples=20, seed=1)
    >>> profile.counts[1], profile.samples
    (45, 20)
    """
    started = perf_counter()
    if null != "configuration":
        raise InputError(f'null must be "configuration", got {null!r}')
    samples, seed = integer("samples", samples, least=2), random_seed(seed)
    if not 0 <= real("swaps", swaps) < _MOST_SWAPS:
        raise InputError(f"swaps must be at least 0 and below {_MOST_SWAPS:,}, got {swaps!r}")
    undirected, notes = as_undirected(graph)
    found = count_motifs(undirected, size, induced=induced, devices=devices)
    null_counts = []
    for sample in rewired(undirected, samples=samples, swaps=swaps, seed=seed):
        null_counts.append(count_motifs(sample, size, induced=induced, devices=devices).counts)
        if progress is not None:
            progress(len(null_counts), samples)
    provenance = Provenance(
        operation="mining.motif_profile",
        version=found.provenance.version,
        devices=found.provenance.devices,
        method=f"{samples} graphs by {swaps:g} attempted swaps per edge",
        seconds=perf_counter() - started,
        threads=found.provenance.threads,
        notes=notes,
    )
    return MotifProfile(
        size=size,
        counted=found.counted,
        counts=found.counts,
        null_counts=np.array(null_counts, np.float64),
        seed=seed,
        provenance=provenance,
    )


def rewired(graph: Graph, *, samples: int, swaps: float, seed: int) -> Iterator[Graph]:
    """Random graphs with the degrees of an undirected graph, generated in small groups."""
    if graph.num_vertices > MAX_NARROW_VERTICES:
        raise UnsupportedError(
            f"rewiring takes graphs of up to {MAX_NARROW_VERTICES} vertices, got {graph.num_vertices}"
        )
    src, dst = (np.ascontiguousarray(ends, np.int32) for ends in graph.edges(indices=True).T)
    attempts = round(swaps * graph.num_edges)
    batch = max(settings().threads, _BATCH_BYTES // (8 * max(1, graph.num_edges)))
    for first in range(0, samples, batch):
        count = min(batch, samples - first)

        def make(control: Control, first: int = first, count: int = count) -> tuple[AnyArray, AnyArray]:
            threads = settings().threads
            return kernel.rewire(
                src, dst, attempts=attempts, seed=seed, first=first, samples=count, threads=threads, control=control
            )

        made = call(make)
        for own_src, own_dst in zip(*made, strict=True):
            yield from_edges(own_src, own_dst, num_vertices=graph.num_vertices, source="rewired")
