"""A batch: edges to insert and to delete, in the order of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from graphlode.cuda.others import wait_until_written
from graphlode.errors import InputError
from graphlode.execute.resident import ids_on_device
from graphlode.graph.arrays import as_ids, as_weights, columns_of_pairs
from graphlode.types import AnyArray, BoolArray, FloatArray


class Updates(NamedTuple):
    """Edges in the order of time, and what goes with them."""

    src: AnyArray
    dst: AnyArray
    weights: FloatArray | None
    gone: BoolArray | Literal[True] | None  # which are deleted; None: none
    size: int
    self_loops: int = 0  # that were taken out


class Batch:
    """Edges to insert and to delete. Where an edge is named more than once, the last time counts.

    Parameters
    ----------
    src, dst
        Original ids of the two ends of each edge, as `from_edges` takes them; without `dst`, `src` holds pairs.
    weights
        One finite number per edge, for a store with weights, kept as a 64-bit float, which must hold it exactly if it is an
        integer; those of deleted edges are not looked at.
    delete
        None: all edges are inserted. True: all are deleted. Else one boolean per edge.

    Arrays are checked and, where they have the right type, not copied: they must stay as they are until the batch is
    applied. Self-loops are dropped and counted; the vertex of one that is inserted arrives nevertheless.

    `src` and `dst` may lie on a CUDA device: arrays of int32 or int64, both the same, with the CUDA array interface. A
    store with `num_vertices` and one shard on that device then reads them there; self-loops are dropped when the batch is
    applied. Any other store copies them to the host. Weights and `delete` are of the host.

    >>> import graphlode as gl
    >>> batch = gl.Batch([1, 2, 3], [2, 3, 3], delete=[False, True, False])
    >>> len(batch), batch.self_loops
    (2, 1)
    """

    # Only what differs is written, past `__setattr__`: small batches are made in a microsecond.
    given: Updates  # self-loops among them: looking for those takes longer than a GPU takes for the batch
    resident: bool = False  # whether src and dst lie on a CUDA device, as they were given
    stream: int | None = None  # in which these may still be written

    def __init__(self, src: Any, dst: Any = None, weights: Any = None, delete: Any = None) -> None:
        if dst is None:
            src, dst = columns_of_pairs(src)
        elif type(src) is not np.ndarray and (there := ids_on_device(src, dst)) is not None:
            self._keep_resident(src, dst, weights, delete, *there)
            return
        tails, heads = as_ids(src, "src"), as_ids(dst, "dst")
        size = tails.size
        if size != heads.size:
            raise InputError(f"src and dst must have the same length, got {size} and {heads.size}")
        gone = None if delete is None else _gone(delete, size)
        values = None if weights is None else as_weights(weights, size, gone)
        self.__dict__["given"] = _read_only_updates(tails, heads, values, gone, size)

    @classmethod
    def _on_device(cls, src: Any, dst: Any, weights: Any = None, delete: Any = None) -> Batch:
        """A batch whose ids lie on the store's device, whatever that is; for tests of devices that are not there."""
        batch = cls.__new__(cls)
        batch._keep_resident(src, dst, weights, delete, int(src.size), None)
        return batch

    def _keep_resident(self, src: Any, dst: Any, weights: Any, delete: Any, size: int, stream: int | None) -> None:
        gone = None if delete is None else _gone(delete, size)
        values = None if weights is None else as_weights(weights, size, gone)
        keep = self.__dict__
        keep["given"], keep["resident"], keep["stream"] = Updates(src, dst, values, gone, size), True, stream

    @property
    def sifted(self) -> Updates:
        """Without self-loops, unless the ids lie on a device."""
        found: Updates | None = self.__dict__.get("_sifted")
        if found is None:
            found = self.__dict__["_sifted"] = self.given if self.resident else _without_loops(self.given)
        return found

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
        """How many were given; 0 if the ids lie on a device, where they are counted when the batch is applied."""
        return self.sifted.self_loops

    @property
    def delete(self) -> BoolArray | None:
        """Whether each edge is deleted; None: all are inserted."""
        gone = self.sifted.gone
        if gone is not True:
            return gone
        all_of_them: BoolArray | None = self.__dict__.get("_all_of_them")
        if all_of_them is None:
            all_of_them = self.__dict__["_all_of_them"] = _read_only(np.ones(len(self), bool))
        return all_of_them

    def on_host(self) -> Batch:
        """The same batch in host memory."""
        if not self.resident:
            return self
        src, dst, weights, gone, *_ = self.given
        for ids in (src, dst):
            wait_until_written(ids, self.stream)
        return Batch(as_ids(src, "src"), as_ids(dst, "dst"), weights, gone)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a batch does not change; make a new one instead of setting {name}")

    def __len__(self) -> int:
        """The number of updates; self-loops are not counted, unless the ids lie on a device."""
        return self.sifted.size

    def __repr__(self) -> str:
        deletes = 0 if self.delete is None else int(np.count_nonzero(self.delete))
        return f"<graphlode.Batch: {len(self) - deletes:,} insertions, {deletes:,} deletions>"

    def __reduce__(self) -> Any:
        return Batch, self.on_host().given[:4]


_NO_PATHS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, init=False)
class BatchResult:
    """What a batch did. Edges count, not their directions; `unchanged` were there, or absent, already, or named twice.

    `paths` says by shard how the batch was written; shards that it did not concern are left out.
    """

    version: int
    inserted: int = 0
    deleted: int = 0
    changed: int = 0
    unchanged: int = 0
    self_loops: int = 0
    paths: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def __init__(
        self,
        version: int,
        inserted: int = 0,
        deleted: int = 0,
        changed: int = 0,
        unchanged: int = 0,
        self_loops: int = 0,
        paths: Mapping[str, str] = _NO_PATHS,
        seconds: float = 0.0,
    ) -> None:
        # What a frozen dataclass does for itself takes ten times as long, an eighth of a small batch.
        keep = self.__dict__
        keep["version"], keep["inserted"], keep["deleted"] = version, inserted, deleted
        keep["changed"], keep["unchanged"], keep["self_loops"] = changed, unchanged, self_loops
        keep["paths"] = paths if type(paths) is MappingProxyType else MappingProxyType(dict(paths))
        keep["seconds"] = seconds

    def to_dict(self) -> dict[str, Any]:
        """Plain Python values, ready for JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"paths": dict(self.paths)}

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
