"""The emulated CUDA device: numpy replaces CuPy, g++ replaces NVRTC, fibers replace lanes.

It implements the same protocol as the real device, and runs the same drivers and kernel sources.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from graphlode.common.worker import Queued
from graphlode.cuda.compiler import KernelSource, Specialisation
from graphlode.cuda.emulation.build import build
from graphlode.cuda.emulation.module import EmulatedModule
from graphlode.cuda.interface import Constants, raise_fault
from graphlode.errors import DeviceMemoryError, KernelFaultError
from graphlode.types import AnyArray, Memory

_MOST_SHORT = np.iinfo(np.int32).max


class EmulatedDevice(Queued):
    """An emulated small GPU. Tests choose its limits, so that drivers take the path for a smaller or larger GPU."""

    backend = "cuda"
    speed = 0.02
    xp = np

    def __init__(self, ordinal: int = 0, *, num_multiprocessors: int = 2, max_shared_bytes: int = 99 * 1024) -> None:
        self.space = f"cuda-emulated:{ordinal}"
        super().__init__("cuda-emulated" if ordinal == 0 else self.space)
        self.num_multiprocessors = num_multiprocessors
        self.max_shared_bytes = max_shared_bytes
        self._modules: dict[Specialisation, EmulatedModule] = {}
        self._constants = Constants(self.asarray)
        self._pool = _PoolSize()

    def describe(self) -> Mapping[str, Any]:
        return {
            "name": self.name,
            "kind": "cuda-emulated",
            "multiprocessors": self.num_multiprocessors,
            "memory": self.memory().total,
        }

    def memory(self) -> Memory:
        page = os.sysconf("SC_PAGE_SIZE")
        return Memory(total=page * os.sysconf("SC_PHYS_PAGES"), free=page * os.sysconf("SC_AVPHYS_PAGES"))

    def put(self, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
        return {name: self.asarray(array) for name, array in arrays.items()}

    def get(self, array: AnyArray) -> AnyArray:
        return array

    def get_pinned(self, array: AnyArray) -> AnyArray:
        return array

    def synchronize(self) -> None:
        """A launch returns when it is done."""

    def wait_for_word(self, words: AnyArray, place: int, value: int) -> None:
        """Kernels have ended already, so a missing word never arrives."""
        if words[place] != value:
            raise self._missing_word()

    def read_report(self, words: AnyArray, value: int) -> list[int]:
        if (words >> np.uint64(32) != value).any():
            raise self._missing_word()
        found: list[int] = (words & np.uint64(2**32 - 1)).tolist()
        return found

    def _missing_word(self) -> KernelFaultError:
        return KernelFaultError(f"{self.name}: a kernel ended without the word that was waited for")

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> AnyArray:
        with self._memory_errors():
            return np.zeros(shape, dtype)

    def empty(self, shape: int | tuple[int, ...], dtype: Any) -> AnyArray:
        with self._memory_errors():
            return np.empty(shape, dtype)

    def allocate(self, nbytes: int) -> tuple[AnyArray, int]:
        memory = self.empty(nbytes, np.uint8)
        self._pool.count(memory)
        return memory, memory.ctypes.data

    def pooled_bytes(self) -> int:
        return self._pool.nbytes

    def unpooled_bytes(self) -> int:
        return self.memory().free

    def words_in(self, memory: AnyArray, count: int) -> AnyArray:
        return memory.view(np.uint64)[:count]

    def asarray(self, array: Any) -> AnyArray:
        with self._memory_errors():
            return np.ascontiguousarray(array)

    def ids(self, tails: AnyArray, heads: AnyArray) -> tuple[AnyArray, AnyArray]:
        fit = all(ids.min(initial=0) >= 0 and ids.max(initial=0) <= _MOST_SHORT for ids in (tails, heads))
        width = np.int32 if fit else tails.dtype
        with self._memory_errors():
            return tails.astype(width), heads.astype(width)

    def update(self, array: AnyArray, start: int, values: AnyArray) -> None:
        array[start : start + values.size] = values

    def constant(self, key: Hashable, make: Callable[[], Any]) -> Any:
        return self._constants.get(key, make)

    def load(self, source: KernelSource, **defines: str) -> EmulatedModule:
        kernel = source.specialise(**defines)
        if kernel not in self._modules:
            self._modules[kernel] = EmulatedModule(kernel, build(kernel), self)
        return self._modules[kernel]

    def status(self) -> AnyArray:
        return self.zeros(2, np.int64)

    def raise_status(self, status: AnyArray, operation: str) -> None:
        raise_fault(status, operation, self.name)

    @contextmanager
    def _memory_errors(self) -> Iterator[None]:
        try:
            yield
        except MemoryError as error:
            raise DeviceMemoryError(f"{self.name}: {error} ({self.memory().free} bytes free)") from error


class _PoolSize:
    """The size of a pool that never releases memory: the peak of the bytes in use."""

    def __init__(self) -> None:
        self.nbytes = 0
        self._used = 0

    def count(self, memory: AnyArray) -> None:
        self._used += memory.nbytes
        weakref.finalize(memory, self._forget, memory.nbytes).atexit = False
        self.nbytes = max(self.nbytes, self._used)

    def _forget(self, nbytes: int) -> None:
        self._used -= nbytes
