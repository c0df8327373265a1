"""Native edge swaps; see native/src/mining/rewire.cpp."""

from __future__ import annotations

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.types import AnyArray


def rewire(
    src: AnyArray, dst: AnyArray, *, attempts: int, seed: int, first: int, samples: int, threads: int, control: Control
) -> tuple[AnyArray, AnyArray]:
    """Edges of the samples `first` .. `first + samples - 1`, one row per sample; ends are 32-bit."""
    made = _native.mining_rewire(src, dst, attempts, seed, first, samples, threads, control.words)
    rewired_src, rewired_dst = (ends.reshape(samples, src.size) for ends in made)
    return rewired_src, rewired_dst
