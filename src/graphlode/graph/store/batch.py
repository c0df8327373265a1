"""A batch: edges to insert and to delete, in the order of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from graphlode.common.resident import ids_on_device, wait_until_written
from graphlode.errors import InputError
from graphlode.graph.arrays import as_ids, as_weights, columns_of_pairs
from graphlode.types import AnyArray, BoolArray, FloatArray


class Updates(NamedTuple):
    """Edges in the order of time, with their weights and delete flags."""

    src: AnyArray
    dst: AnyArray
    weights: FloatArray | None
    gone: BoolArray | Literal[True] | None  # which are deleted; None: none
    size: int
    self_loops: int = 0  # that were removed


class Batch:
    """Edges to insert and to delete. Where an edge is named more than once, the last time counts.

    Parameters
    ----------
    src, dst
        Original ids of the two ends of each edge, as `from_edges` takes them; without `dst`, `src` holds pairs.
    weights
        One finite number per edge, for a store with weights. It is stored as a 64-bit float, which must hold an integer
        exactly. The weights of deleted edges are ignored.
    delete
        None: all edges are inserted. True: all are deleted. Else one boolean per edge.

    Arrays are checked, and not copied if they have the right type. Do not change them until the batch is applied.
    Self-loops are dropped and counted, but the vertex of an inserted self-loop is added.

    `src` and `dst` may lie on a CUDA device: arrays of int32 or int64, both the same, with the CUDA array interface. A
    store with `num_vertices` and one shard on that device then reads them there; self-loops are dropped when the batch
    is applied. Any other store copies them to the host. Weights and `delete` are of the host.

    >>> import graphlode as gl
    >>> batch = gl.Batch([1, 2, 3], [2, 3, 3], delete=[False, True, False])
    >>> len(batch), batch.self_loops
    (2, 1)
    """

    __slots__ = ("_all_gone", "_given", "_resident", "_sifted", "_stream")

    def __init__(self, src: Any, dst: Any = None, weights: Any = None, delete: Any = None) -> None:
        self._resident, self._stream = False, None
        self._sifted: Updates | None = None
        self._all_gone: BoolArray | None = None
        if dst is None:
            src, dst = columns_of_pairs(src)
        elif type(src) is not np.ndarray and (there := ids_on_device(src, dst)) is not None:
            size, self._stream = there
            self._keep_resident(src, dst, weights, delete, size)
            return
        tails, heads = as_ids(src, "src"), as_ids(dst, "dst")
        size = tails.size
        if size != heads.size:
            raise InputError(f"src and dst must have the same length, got {size} and {heads.size}")
        gone = None if delete is None else _gone(delete, size)
        values = None if weights is None else as_weights(weights, size, gone)
        self._given = _read_only_updates(tails, heads, values, gone, size)

    @classmethod
    def _on_device(cls, src: Any, dst: Any, weights: Any = None, delete: Any = None) -> Batch:
        """A batch whose ids lie on the device of the store; for tests with an emulated device."""
        batch = cls((), ())
        batch._keep_resident(src, dst, weights, delete, int(src.size))
        return batch

    def _keep_resident(self, src: Any, dst: Any, weights: Any, delete: Any, size: int) -> None:
        gone = None if delete is None else _gone(delete, size)
        values = None if weights is None else as_weights(weights, size, gone)
        self._resident, self._given = True, Updates(src, dst, values, gone, size)

    @property
    def resident(self) -> bool:
        """Whether src and dst lie on a device."""
        return self._resident

    @property
    def stream(self) -> int | None:
        """The stream in which they may still be being written, as the CUDA array interface names it."""
        return self._stream

    @property
    def given(self) -> Updates:
        """The updates with their self-loops. To remove these would take longer than a GPU takes for the batch."""
        return self._given

    @property
    def sifted(self) -> Updates:
        """The updates without self-loops, unless the ids lie on a device."""
        if self._sifted is None:
            self._sifted = self._given if self.resident else _without_loops(self._given)
        return self._sifted

    @property
    def src(self) -> AnyArray:
        """One end of each edge, or where it begins; self-loops are left out."""
        return self.sifted.src

    @property
    def dst(self) -> AnyArray:
        """The other end of each edge, or where it ends."""
        return self.sifted.dst

    @property
    def weights(self) -> FloatArray | None:
        """The weight of each edge; None: there are none, or all are 1."""
        return self.sifted.weights

    @property
    def self_loops(self) -> int:
        """The number of self-loops in the input; 0 if the ids lie on a device, which counts them when the batch is
        applied."""
        return self.sifted.self_loops

    @property
    def delete(self) -> BoolArray | None:
        """Whether each edge is deleted; None: all are inserted."""
        gone = self.sifted.gone
        if gone is not True:
            return gone
        if self._all_gone is None:
            self._all_gone = _read_only(np.ones(len(self), bool))
        return self._all_gone

    def on_host(self) -> Batch:
        """The same batch in host memory."""
        if not self.resident:
            return self
        src, dst, weights, gone, *_ = self.given
        for ids in (src, dst):
            wait_until_written(ids, self.stream)
        return Batch(as_ids(src, "src"), as_ids(dst, "dst"), weights, gone)

    def __len__(self) -> int:
        """The number of updates; self-loops are not counted, unless the ids lie on a device."""
        return self.sifted.size

    def __repr__(self) -> str:
        deletes = 0 if self.delete is None else int(np.count_nonzero(self.delete))
        return f"<graphlode.Batch: {len(self) - deletes:,} insertions, {deletes:,} deletions>"

    def __reduce__(self) -> Any:
        return Batch, self.on_host().given[:4]


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The effect of a batch, in edges: both directions of an edge count once.

    `unchanged` edges were inserted but existed, were deleted but did not exist, or were named more than once. `paths`
    is the path of each shard that the batch changed.
    """

    version: int
    inserted: int = 0
    deleted: int = 0
    changed: int = 0
    unchanged: int = 0
    self_loops: int = 0
    paths: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "paths", MappingProxyType(dict(self.paths)))

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {
            "version": self.version,
            "inserted": self.inserted,
            "deleted": self.deleted,
            "changed": self.changed,
            "unchanged": self.unchanged,
            "self_loops": self.self_loops,
            "paths": dict(self.paths),
            "seconds": self.seconds,
        }

    def __reduce__(self) -> Any:
        return _restore, (self.to_dict(),)


def _restore(plain: dict[str, Any]) -> BatchResult:
    return BatchResult(**plain)


def _gone(delete: Any, size: int) -> BoolArray | Literal[True] | None:
    if delete is None or delete is False:
        return None
    if delete is True:
        return True
    array = np.asarray(delete)
    if array.shape != (size,) or (array.dtype != np.bool_ and size):
        raise InputError(f"delete must have one boolean per edge ({size}), got {array.dtype} of shape {array.shape}")
    return array.astype(bool, copy=False)


def _without_loops(given: Updates) -> Updates:
    src, dst, weights, gone, *_ = given
    loops = src == dst
    self_loops = int(np.count_nonzero(loops))
    if not self_loops:
        return given
    kept = ~loops
    src, dst = src[kept], dst[kept]
    weights = None if weights is None else weights[kept]
    gone = gone if gone is None or gone is True else gone[kept]
    return _read_only_updates(src, dst, weights, gone, src.size, self_loops)


def _read_only_updates(src: AnyArray, dst: AnyArray, weights: Any, gone: Any, *rest: Any) -> Updates:
    weights = None if weights is None else _read_only(weights)
    gone = gone if gone is None or gone is True else _read_only(gone)
    return Updates(_read_only(src), _read_only(dst), weights, gone, *rest)


def _read_only(array: AnyArray) -> AnyArray:
    view = array.view()
    view.flags.writeable = False
    return view
