"""A batch as kernels read it: in order of time, on the device or in mapped memory of the host.

Keys carry their delete bits. Pairs of positions are passed unchanged; the kernel that reads them first checks them and
makes keys of them (store/input.cuh). Small batches of the host are copied into page-locked memory that kernels read
directly: a copy to the device would take longer than the batch. Several threads send larger ones, as 32-bit positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphlode.common.resident import wait_until_written
from graphlode.common.store import Pairs
from graphlode.cuda.interface import KernelDevice
from graphlode.cuda.store.pool import address
from graphlode.cuda.store.sort import COUNTED_WORDS
from graphlode.errors import DeviceMemoryError
from graphlode.types import AnyArray, FloatArray

MOST_SMALL = 2048  # as in store/block_sort.cuh
MOST_MAPPED = 1 << 14  # updates that kernels read from memory of the host. They read them once, over the bus
INFO_WORDS = 16  # room for packed_info of store/store.cuh

# The form of a batch, as in store/input.cuh.
PAIRS, LONG, BOTH, DELETES, ALL_GONE, WEIGHTS = 1, 2, 4, 8, 16, 32

_DELETE_BIT = np.uint64(63)
_ALL_NEIGHBORS = 32  # bits


@dataclass(slots=True)
class Input:
    """Arrays of the device. Kernels read only those that `how` names."""

    tails: Any
    heads: Any
    deletes: Any
    weights: Any
    how: int
    count: int  # updates
    neighbor_bits: int
    stream: int | None = None  # that may still be writing the arrays


def mapped(device: KernelDevice, nbytes: int) -> tuple[AnyArray, Any]:
    """Bytes in page-locked memory: as an array of the host, and as one of the device."""
    if device.xp is np:
        memory = device.zeros(nbytes, np.uint8)
        return memory, memory
    with device.current():
        cuda = device.xp.cuda
        try:
            pinned = cuda.alloc_pinned_memory(nbytes)
        except cuda.runtime.CUDARuntimeError as error:
            raise DeviceMemoryError(f"no page-locked memory of {nbytes} bytes on the host: {error}") from error
        host = np.frombuffer(pinned, np.uint8, nbytes)
        host[:] = 0
        there = cuda.MemoryPointer(cuda.UnownedMemory(pinned.ptr, nbytes, pinned), 0)
        return host, device.xp.ndarray(nbytes, np.uint8, there)


class Staging:
    """Memory for small batches of the host while they are applied, for the device's report on a batch, and for the
    counters of sorting."""

    def __init__(self, device: KernelDevice) -> None:
        widths = {"reported": 8 * INFO_WORDS, "tails": 8 * MOST_MAPPED, "heads": 8 * MOST_MAPPED}
        widths |= {"deletes": MOST_MAPPED, "weights": 8 * MOST_MAPPED}
        host, there = mapped(device, sum(widths.values()))
        self.device_number = None if device.xp is np else there.data.device_id
        own, self.on_device, at = {}, {}, 0
        for name, width in widths.items():
            own[name], self.on_device[name] = host[at : at + width], there[at : at + width]
            at += width
        self.on_device["weights"] = self.on_device["weights"].view(np.float64)
        self.reported_at = address(self.on_device["reported"])
        self._device, self._counted = device, device.zeros(COUNTED_WORDS, np.uint32)
        self.counted_at = address(self._counted)
        self.reported = own["reported"].view(np.uint64)
        self._tails = {size: own["tails"].view(f"i{size}") for size in (4, 8)}
        self._heads = {size: own["heads"].view(f"i{size}") for size in (4, 8)}
        self._keys = own["tails"].view(np.uint64)
        self._deletes = own["deletes"].view(np.bool_)
        self._weights = own["weights"].view(np.float64)

    def forget_counted(self) -> None:
        """Clear the counters of a batch whose sort did not finish."""
        self._device.update(self._counted, 0, np.zeros(COUNTED_WORDS, np.uint32))

    def forget_reported(self) -> None:
        """Clear the report of the device after all of it was read."""
        self.reported[:] = 0

    def take_pairs(self, pairs: Pairs, deletes: Any, weights: Any) -> Input:
        """A copy of a small batch of the host."""
        rows = pairs.rows
        size, width = rows.size, rows.itemsize
        how = PAIRS | (LONG if width == 8 else 0) | (BOTH if pairs.both else 0)
        self._tails[width][:size] = rows
        self._heads[width][:size] = pairs.neighbors
        if deletes is True:
            how |= ALL_GONE
        elif deletes is not None:
            how |= DELETES
            self._deletes[:size] = deletes
        return self._given(how, size, 2 * size if pairs.both else size, weights, pairs.bits)

    def take_keys(self, keys: AnyArray, weights: FloatArray | None) -> Input:
        self._keys[: keys.size] = keys
        return self._given(0, keys.size, keys.size, weights, _ALL_NEIGHBORS)

    def _given(self, how: int, size: int, count: int, weights: Any, bits: int) -> Input:
        if weights is not None:
            how |= WEIGHTS
            self._weights[:size] = weights
        on = self.on_device
        return Input(on["tails"], on["heads"], on["deletes"], on["weights"], how, count, bits)


def take(device: KernelDevice, staging: Staging, batch: Any, deletes: Any, weights: Any) -> Input:
    """The input for a batch of keys or of pairs, on the host or on the device."""
    if isinstance(batch, Pairs):
        if not batch.resident and batch.size <= MOST_MAPPED:
            return staging.take_pairs(batch, deletes, weights)
        return _pairs_on_device(device, staging, batch, deletes, weights)
    if deletes is not None:
        deletes = deletes if isinstance(batch, np.ndarray) else device.asarray(deletes)
        batch = batch | deletes.astype(np.uint64) << _DELETE_BIT
    if batch.size <= MOST_MAPPED and isinstance(batch, np.ndarray):
        return staging.take_keys(batch, weights)
    keys = device.asarray(batch)
    how, values = (0, staging.on_device["weights"]) if weights is None else (WEIGHTS, device.asarray(weights))
    return Input(keys, keys, staging.on_device["deletes"], values, how, int(keys.size), _ALL_NEIGHBORS)


def _pairs_on_device(device: KernelDevice, staging: Staging, pairs: Pairs, deletes: Any, weights: Any) -> Input:
    tails, heads, stream, number = pairs.rows, pairs.neighbors, pairs.stream, staging.device_number
    kind = device.xp.ndarray
    if not pairs.resident:
        tails, heads = device.ids(tails, heads)
    elif not (type(tails) is kind and type(heads) is kind) or (
        number is not None and not (tails.data.device_id == number and heads.data.device_id == number)
    ):
        for ids in (tails, heads):
            wait_until_written(ids, stream, device.xp)
        with device.current():
            tails, heads, stream = device.asarray(tails), device.asarray(heads), None
    how = PAIRS | (LONG if tails.dtype.itemsize == 8 else 0) | (BOTH if pairs.both else 0)
    gone, values = staging.on_device["deletes"], staging.on_device["weights"]
    if deletes is True:
        how |= ALL_GONE
    elif deletes is not None:
        how, gone = how | DELETES, device.asarray(deletes)
    if weights is not None:
        how, values = how | WEIGHTS, device.asarray(weights)
    return Input(tails, heads, gone, values, how, pairs.size, pairs.bits, stream)
