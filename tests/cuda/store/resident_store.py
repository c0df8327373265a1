"""A store whose batches lie on its device, which may be emulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.execute.devices import resolve
from graphlode.types import AnyArray

N = 3000

Edges = set[tuple[int, int]]


class ResidentStore:
    """`loaded` is the number of random edges in the store; it has fewer if some are drawn twice."""

    def __init__(self, device: str, loaded: int = 60_000, *, shares: Mapping[str, float] | None = None, **how: Any):
        self.device: Any = resolve(device)[0]
        devices = [device] if shares is None else list(shares)
        how = {"directed": True} | how | ({} if shares is None else {"shares": shares})
        self.store = gl.DynamicGraph(devices=devices, num_vertices=N, **how)
        self.shard = next(iter(self.store._shards))
        self.store.insert(*np.random.default_rng(5).integers(0, N, (2, loaded)))

    def batch(self, src: AnyArray, dst: AnyArray, weights: Any = None, delete: Any = None) -> gl.Batch:
        if self.device.xp is np:
            return gl.Batch._on_device(src, dst, weights, delete)
        there = self.device.put({"src": src, "dst": dst})
        self.device.synchronize()  # the device writes them in its own stream, not in that of the batch
        return gl.Batch(**there, weights=weights, delete=delete)

    def apply(self, src: AnyArray, dst: AnyArray, delete: Any = None) -> gl.BatchResult:
        return self.store.apply(self.batch(src, dst, None, delete))

    def settle(self) -> None:
        """Apply batches twice, so that buffers exist. Afterwards no version is held."""
        ids = np.arange(50, dtype=np.int32)
        for _ in range(3):
            self.apply(ids, ids + 1)

    @property
    def edges(self) -> Edges:
        found = self.store.snapshot().edges(indices=True)
        return set(zip(*found.T.tolist(), strict=True))

    @property
    def pages(self) -> int:
        return int(self.shard.state.pages.size)


def pairs_of(src: AnyArray, dst: AnyArray, *, directed: bool = True) -> Edges:
    """The edges that a batch names."""
    pairs = zip(src.tolist(), dst.tolist(), strict=True)
    return {(u, v) if directed or u < v else (v, u) for u, v in pairs if u != v}


@contextmanager
def counted_requests(of: ResidentStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The number of allocations by each batch before it is certain."""
    kind, kernels, asked = type(of.device), of.shard.kernels, 0
    counts: list[int] = []
    apply: Any = kernels.apply

    def apply_and_count(*given: Any, **how: Any) -> Any:
        before = asked
        change = apply(*given, **how)
        counts.append(asked - before)
        return change

    with monkeypatch.context() as patch:
        for name in ("empty", "allocate", "zeros", "asarray"):
            plain = getattr(kind, name)

            def request(*given: Any, plain: Any = plain) -> Any:
                nonlocal asked
                asked += 1
                return plain(*given)

            patch.setattr(kind, name, request)
        patch.setattr(kernels, "apply", apply_and_count)
        yield counts
