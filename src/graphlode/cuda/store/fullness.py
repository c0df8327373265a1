"""How full a shard on a GPU is, which a batch should know before: too full, too empty, or short of memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.common.store import Pairs
from graphlode.cuda.interface import KernelDevice, on_stream
from graphlode.cuda.store.state import State
from graphlode.types import AnyArray


def lacks_memory(state: State) -> bool:
    """Whether `provide` should be called before the next batch, when the device has written this one."""
    return state.is_short and state.may_provide


@on_stream
def provide(device: KernelDevice, state: State) -> None:
    """A part of the memory that batches to come will need, if there is some, so that none of them has to ask for it.

    Runs on any thread while no batch does. Takes about as long as a small batch, and longer if the device itself must be
    asked: what is asked for is not used yet.
    """
    state.provide()


def overflows(state: State, batch: AnyArray | Pairs, deletes: Any) -> bool:
    """Whether nearly all pages would be too full if the batch were written in place: it is merged then."""
    return deletes is None and state.num_entries + batch.size > state.most_in_place


def is_sparse(state: State) -> bool:
    """Whether there are so many gaps that the next batch should be merged, however small it is."""
    return state.num_entries < state.sparse_below


def thins(state: State, batch: AnyArray | Pairs, deletes: Any) -> bool:
    """Whether a batch would leave so many gaps that it should be merged if that takes little longer."""
    if deletes is None or state.num_entries - batch.size >= state.thin_below:
        return False
    fewer = batch.size
    if deletes is not True:
        fewer = batch.size * (2 * np.count_nonzero(deletes) - deletes.size) // deletes.size
    return fewer > 0 and state.num_entries - fewer < state.thin_below
