"""A CUDA GPU as a device: CuPy's arrays, memory pool and run-time compiler; one stream and one worker thread.

CuPy is imported when a device is made, never before: importing graphlode must not need it. Device objects of the same
GPU share the views that they hold, but each has its own stream. The arrays of a driver are complete before another
device object can see them.

Launches and copies between host and GPU use the extension `_driver` instead of CuPy, because it takes only
microseconds. Any thread may use a device: its stream puts their work in order. Its lanes have streams of their own. What
one of them writes or gives back must be complete before another one may read or reuse it: the side that hands it over waits.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Mapping
from importlib.util import find_spec
from threading import RLock, get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from graphlode.common.fork import renew_after_fork
from graphlode.common.worker import Queued
from graphlode.config import settings
from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.interface import Constants, raise_fault
from graphlode.errors import DeviceMemoryError, DeviceUnavailableError, InputError, KernelFaultError
from graphlode.types import AnyArray, Memory

if TYPE_CHECKING:
    from graphlode.cuda.launcher import CudaModule

_LARGE_BYTES = 4 << 20  # from here on, several threads copy an array
_MOST_MOVERS = 12  # threads: these fill memory about as fast as the bus transfers it
_IDS_PER_MOVER = 1 << 15  # pairs of ids
_PLAIN_KINDS = "biuf"  # of dtypes with the same bytes in CuPy


def available_cuda_devices() -> list[str]:
    """The names of the CUDA devices that can be used here; empty without CuPy, without a driver or without a GPU."""
    count, _ = _count_devices()
    return [f"cuda:{ordinal}" for ordinal in range(count)]


def _count_devices() -> tuple[int, str]:
    """The number of usable GPUs, and a description. Asks the driver directly: importing CuPy takes far longer."""
    if find_spec("cupy") is None:
        return 0, "CuPy is not installed (install graphlode[cuda12] or graphlode[cuda13])"
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0, "CuPy is installed, but there is no NVIDIA driver (libcuda.so.1)"
    count = ctypes.c_int()
    code = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if code != 0:
        return 0, f"CuPy and the NVIDIA driver are there, but the driver answers with error {code}"
    return count.value, f"the NVIDIA driver shows {count.value} device(s)"


def _import_cupy(ordinal: int) -> Any:
    count, found = _count_devices()
    if not 0 <= ordinal < count:
        raise DeviceUnavailableError(f"looked for the device cuda:{ordinal}; {found}")
    try:
        import cupy
    except ImportError as error:
        raise DeviceUnavailableError(
            f"looked for the device cuda:{ordinal}; CuPy cannot be imported: {error}"
        ) from error
    return cupy


class CudaDevice(Queued):
    """One GPU, one stream. A lane is another stream of the same GPU."""

    backend = "cuda"

    def __init__(self, ordinal: int = 0) -> None:
        self.xp = _import_cupy(ordinal)
        self.space = f"cuda:{ordinal}"
        super().__init__(self.space)
        self._device = self.xp.cuda.Device(ordinal)
        with self._device:
            attributes = self._device.attributes
        self.num_multiprocessors = int(attributes["MultiProcessorCount"])
        self.max_shared_bytes = int(attributes.get("MaxSharedMemoryPerBlockOptin", 48 * 1024))
        self._open_queue()

    def _open_queue(self) -> None:
        """Make a stream and everything bound to it: kernels start in the stream of the device that loaded them."""
        from graphlode.cuda import _driver

        with self._device:
            self.stream = self.xp.cuda.Stream(non_blocking=True)
            self.queue = _driver.Queue(self.name, self.stream)
        self._current = _Current(self)
        self._modules: dict[Hashable, CudaModule] = {}
        self._constants = Constants(self.asarray)
        self._renew()
        renew_after_fork(self, CudaDevice._renew)

    def _renew(self) -> None:
        self._sharing = RLock()

    @property
    def speed(self) -> float:
        return float(self.num_multiprocessors)

    @property
    def architecture(self) -> str:
        return f"sm_{self._device.compute_capability}"

    def describe(self) -> Mapping[str, Any]:
        runtime = self.xp.cuda.runtime
        return {
            "name": self.name,
            "kind": "cuda",
            "model": runtime.getDeviceProperties(self._device.id)["name"].decode(),
            "architecture": self.architecture,
            "multiprocessors": self.num_multiprocessors,
            "memory": self.memory().total,
            "driver": runtime.driverGetVersion(),
            "cuda": runtime.runtimeGetVersion(),
            "cupy": self.xp.__version__,
        }

    def memory(self) -> Memory:
        """Unused memory in CuPy's pool counts as free."""
        with self._current:
            free, total = self._device.mem_info
            return Memory(total=int(total), free=int(free) + int(self.xp.get_default_memory_pool().free_bytes()))

    def put(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.asarray(array) for name, array in arrays.items()}

    def get(self, array: Any) -> AnyArray:
        if isinstance(array, np.ndarray):  # some parts of views stay on the host
            return array
        if type(array) is not self.xp.ndarray or not array.flags.c_contiguous:
            with self._current:
                array = self.xp.ascontiguousarray(array)
        found: AnyArray = np.empty(array.shape, array.dtype)
        if array.nbytes:
            self.queue.fetch(found, array.data.ptr, _movers(array.nbytes))
        return found

    def get_pinned(self, array: Any) -> AnyArray:
        """As `get`, at the full speed of the bus, into page-locked memory. It returns to CuPy's pool with the array."""
        with self._current:
            memory = self.xp.cuda.alloc_pinned_memory(array.nbytes)
            found: AnyArray = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
            self.xp.asnumpy(array, stream=self.stream, out=found)
            self.stream.synchronize()
            return found

    def synchronize(self) -> None:
        self.queue.synchronize()

    def wait_for_word(self, words: AnyArray, place: int, value: int) -> None:
        self.queue.wait_for_word(words, place, value)

    def read_report(self, words: AnyArray, value: int) -> list[int]:
        return self.queue.read_report(words, value)

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> Any:
        with self._current:
            return self.xp.zeros(shape, dtype)

    def empty(self, shape: int | tuple[int, ...], dtype: Any) -> Any:
        with self._current:
            return self.xp.empty(shape, dtype)

    def allocate(self, nbytes: int) -> tuple[Any, int]:
        memory = self.xp.cuda.alloc(nbytes)
        return memory, memory.ptr

    def pooled_bytes(self) -> int:
        return int(self.xp.get_default_memory_pool().total_bytes())

    def unpooled_bytes(self) -> int:
        pool, free = self.xp.get_default_memory_pool(), int(self._device.mem_info[0])
        limit = int(pool.get_limit())  # 0: there is none
        return free if not limit else min(free, limit - int(pool.total_bytes()))

    def words_in(self, memory: Any, count: int) -> Any:
        return self.xp.ndarray((count,), np.uint64, memory)

    def asarray(self, array: Any) -> Any:
        if type(array) is not np.ndarray or array.ndim == 0 or not _is_plain(array.dtype):
            with self._current:
                return self.xp.ascontiguousarray(self.xp.asarray(array))
        array = np.ascontiguousarray(array)
        with self._current:
            made = self.xp.ndarray(array.shape, array.dtype)
        if array.nbytes:
            self.queue.send(made.data.ptr, array, _movers(array.nbytes))
        return made

    def ids(self, tails: AnyArray, heads: AnyArray) -> tuple[Any, Any]:
        size, width = tails.size, np.dtype(np.int32)
        if tails.dtype != heads.dtype or size != heads.size:
            raise InputError(f"ids are two arrays alike, got {size} of {tails.dtype} and {heads.size} of {heads.dtype}")
        with self._current:
            both = self.xp.ndarray(2 * size, width)
        movers = _movers_of_ids(size)
        if tails.dtype == width:
            self.queue.send(both.data.ptr, tails, movers)
            self.queue.send(both.data.ptr + tails.nbytes, heads, movers)
        elif not self.queue.send_narrow(both.data.ptr, tails, heads, movers):
            return self.asarray(tails), self.asarray(heads)
        return both[:size], both[size:]

    def update(self, array: Any, start: int, values: AnyArray) -> None:
        self.queue.send(array.data.ptr + start * array.itemsize, values)

    def constant(self, key: Hashable, make: Callable[[], Any]) -> Any:
        with self._sharing:
            return self._constants.get(key, make)

    def load(self, source: KernelSource, **defines: str) -> CudaModule:
        key = (id(source), *defines.items())  # the source lives as long as the module, and hashing it takes longer
        found = self._modules.get(key)
        if found is None:
            from graphlode.cuda.launcher import CudaModule

            with self._current:
                found = self._modules[key] = CudaModule(source.specialise(**defines), self)
        return found

    def status(self) -> Any:
        return self.zeros(2, np.int64)

    def raise_status(self, status: Any, operation: str) -> None:
        raise_fault(self.get(status), operation, self.name)

    def current(self) -> _Current:
        """Makes this GPU and stream current on the calling thread, and turns CuPy's errors into graphlode's."""
        return self._current


def _movers(nbytes: int) -> int:
    return 1 if nbytes < _LARGE_BYTES else min(settings().threads, _MOST_MOVERS)


def _movers_of_ids(count: int) -> int:
    return max(1, min(count // _IDS_PER_MOVER, settings().threads, _MOST_MOVERS))


def _is_plain(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in _PLAIN_KINDS and dtype.isnative


class _Current:
    """A context that many threads enter, each of them many times. Only the first entry of a thread has an effect."""

    def __init__(self, device: CudaDevice) -> None:
        self._name = device.name
        self._gpu = device._device
        self._stream = device.stream
        self._cuda = device.xp.cuda
        self._depths: dict[int, int] = {}  # by thread: faster than a threading.local

    def __enter__(self) -> None:
        thread = get_ident()
        depth = self._depths.get(thread, 0)
        if depth == 0:
            self._gpu.__enter__()
            self._stream.__enter__()
        self._depths[thread] = depth + 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        thread = get_ident()
        depth = self._depths[thread] - 1
        if depth:
            self._depths[thread] = depth
        else:
            del self._depths[thread]
            self._stream.__exit__(kind, error, trace)
            self._gpu.__exit__(kind, error, trace)
        if error is not None:
            self._translate(error)

    def _translate(self, error: BaseException) -> None:
        cuda = self._cuda
        if isinstance(error, cuda.memory.OutOfMemoryError):
            free, total = self._gpu.mem_info
            raise DeviceMemoryError(
                f"{self._name}: {error} {free} of {total} bytes are free; "
                "more devices or devices='cpu' would need less here"
            ) from error
        if isinstance(error, (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError)):
            raise KernelFaultError(f"{self._name}: {error}") from error
