"""Maximal cliques, those to which no vertex can be added: all of them as a stream, or one of the largest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, cast

import numpy as np

from graphlode.common.wait import Progress
from graphlode.execute.devices import Devices
from graphlode.execute.operation import Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import run
from graphlode.execute.stream import Stream, stream
from graphlode.graph.accept import as_undirected
from graphlode.graph.views import Oriented
from graphlode.mining.cliques import check_size
from graphlode.types import AnyArray, Int64Array

BATCH_SIZE = 1 << 13
"""Default for the largest number of cliques per batch."""

_LARGEST_BATCH = 1 << 20  # kernels hand over a batch at this number of members, so it never has more cliques


def _combine(partials: Sequence[Mapping[str, Any]]) -> Any:
    """The largest of the devices' largest cliques; of several, the one of the first device."""
    return max((partial["largest"] for partial in partials), key=lambda clique: -1 if clique is None else len(clique))


def _work(view: Mapping[str, AnyArray]) -> Int64Array:
    """Cumulative work per root, estimated before the search: the square of the number of its later neighbors."""
    lengths = np.diff(view["offsets"])
    return np.concatenate([[0], np.cumsum(lengths * lengths + 1)])


MAXIMAL_CLIQUES = Operation(
    name="mining.maximal_cliques",
    view=Oriented(by="degeneracy"),
    unit="vertex",
    combine=_combine,
    work=_work,
    kernels=("reference", "cpu"),
)


@dataclass(frozen=True, eq=False)
class CliqueBatch:
    """Cliques of different sizes, end to end: clique i is `members[offsets[i] : offsets[i + 1]]`.

    It is also a sequence of cliques: `len(batch)`, `batch[i]`, `for clique in batch`.
    """

    offsets: Int64Array
    members: Int64Array

    @property
    def sizes(self) -> Int64Array:
        """The number of vertices of each clique."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return int(self.offsets.size) - 1

    def __getitem__(self, i: int) -> Int64Array:
        position = range(len(self))[i]
        return self.members[self.offsets[position] : self.offsets[position + 1]]

    def __iter__(self) -> Iterator[Int64Array]:
        ends = self.offsets.tolist()
        return map(self.members.__getitem__, map(slice, ends[:-1], ends[1:]))  # no Python code per clique


class MaximalCliqueStream(Iterator[Int64Array]):
    """An iterator over cliques, found while it is consumed. As a context manager it closes itself at the end."""

    def __init__(self, found: Stream) -> None:
        self._found = found
        self._batch: Iterator[Int64Array] = iter(())

    def __next__(self) -> Int64Array:
        while True:
            for clique in self._batch:
                return clique
            self._batch = iter(self._next_batch())

    def batches(self) -> Iterator[CliqueBatch]:
        """The remaining batches, from the next one on: many cliques at a time, for streams of many millions."""
        while True:
            try:
                batch = self._next_batch()
            except StopIteration:
                return
            yield batch

    def _next_batch(self) -> CliqueBatch:
        return CliqueBatch(*cast("tuple[Int64Array, Int64Array]", next(self._found)))

    @property
    def provenance(self) -> Provenance | None:
        """How the cliques were found; None until the last one has been returned."""
        return self._found.provenance

    def close(self) -> None:
        """Stop the search and wait until it has stopped; the iterator then ends."""
        self._batch = iter(())
        self._found.close()

    def __enter__(self) -> MaximalCliqueStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, eq=False)
class MaxClique:
    """One largest clique. `size` is the clique number of the graph; `members` are ascending."""

    size: int
    members: Int64Array
    provenance: Provenance

    def __post_init__(self) -> None:
        self.members.flags.writeable = False

    def __int__(self) -> int:
        return self.size

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[int]:
        return iter(self.members.tolist())

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {"size": self.size, "members": self.members.tolist(), "provenance": self.provenance.to_dict()}


def list_maximal_cliques(
    graph: Any,
    *,
    min_size: int = 1,
    batch_size: int = BATCH_SIZE,
    indices: bool = False,
    devices: Devices = "auto",
    progress: Progress | None = None,
) -> MaximalCliqueStream:
    """Every clique that is not part of a larger one, as a stream of arrays.

    Parameters
    ----------
    graph
        A Graph, scipy sparse matrix or networkx graph. A directed graph is used in its undirected form.
    min_size
        Smaller cliques are left out; branches that can only lead to such are skipped. A vertex without edges is a
        maximal clique of one vertex.
    batch_size
        Largest number of cliques that are handed over at once. Memory is bounded by a few batches per thread.
    indices
        Whether members are positions in `Graph.ids` instead of original ids.
    devices
        Where to search: "auto", "cpu", or ["cpu", "cpu"]. There is no CUDA kernel.
    progress
        Called as progress(done, total) from time to time, in vertices, while cliques are requested.

    Members are ascending; the order of the cliques is not specified. The search starts with the first request. It stops
    when the stream is closed, when its `with` block ends, or when nothing refers to it any more. `batches()` of the
    stream returns many cliques at a time. After the last one `provenance` says how they were found.

    Raises InputError for a wrong argument. Cost: at most n * d * 3^(d/3) steps for a degeneracy d, which is also the
    largest possible number of maximal cliques. On most real graphs it is a fraction of a microsecond per clique.

    >>> import graphlode as gl
    >>> square_with_diagonal = gl.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2])
    >>> sorted(clique.tolist() for clique in gl.list_maximal_cliques(square_with_diagonal))
    [[0, 1, 2], [0, 2, 3]]
    """
    smallest, cliques = check_size("min_size", min_size), check_size("batch_size", batch_size)
    undirected, notes = as_undirected(graph)
    found = stream(
        MAXIMAL_CLIQUES,
        undirected,
        devices,
        progress=progress,
        notes=notes,
        label="pivot",
        want="all",
        min_size=min(smallest, undirected.num_vertices + 1),
        batch_size=min(cliques, _LARGEST_BATCH),
        ids=None if indices else undirected.ids,
    )
    return MaximalCliqueStream(found)


def max_clique(
    graph: Any, *, indices: bool = False, devices: Devices = "auto", progress: Progress | None = None
) -> MaxClique:
    """One clique with the most vertices, exactly.

    Parameters
    ----------
    graph
        A Graph, scipy sparse matrix or networkx graph. A directed graph is used in its undirected form.
    indices
        Whether members are positions in `Graph.ids` instead of original ids.
    devices
        Where to search: "auto", "cpu", or ["cpu", "cpu"]. There is no CUDA kernel.
    progress
        Called as progress(done, total) from time to time, in vertices.

    The size is the same in every run. If there are several largest cliques, any one may be returned: with one thread
    always the same, with more threads the first one found. A graph without vertices has the empty clique.

    Cost: exponential in the degeneracy at worst; on most real graphs less than computing the degeneracy order.

    >>> import graphlode as gl
    >>> gl.max_clique(gl.from_edges([0, 1, 2, 3], [1, 2, 0, 0])).members.tolist()
    [0, 1, 2]
    """
    undirected, notes = as_undirected(graph)
    outcome = run(
        MAXIMAL_CLIQUES,
        undirected,
        devices,
        progress=progress,
        notes=notes,
        label="branch and bound",
        want="largest",
        min_size=1,
        batch_size=1,
        ids=None if indices else undirected.ids,
        sink=None,
    )
    members: Int64Array = outcome.value
    return MaxClique(size=int(members.size), members=members, provenance=outcome.provenance)
