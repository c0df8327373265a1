"""A CUDA GPU as a device: CuPy's arrays, memory pool and run-time compiler; one stream and one worker thread.

CuPy is imported when a device is made, never before: importing graphlode must not need it. Device objects of the same
GPU share what they hold, each on its own stream; drivers return only when their work is done, so what one has made is
complete before another can see it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from importlib.util import find_spec
from threading import local
from typing import Any

import numpy as np

from graphlode.cuda.compiler import NVRTC_OPTIONS, KernelSource, Specialisation
from graphlode.cuda.interface import Constants, check_launch, raise_fault
from graphlode.errors import DeviceMemoryError, DeviceUnavailableError, InputError, KernelFaultError
from graphlode.types import AnyArray, Memory
from graphlode.worker import Worker

# Above this, dynamic shared memory must be asked for per kernel.
_PLAIN_SHARED_BYTES = 48 * 1024


def available_cuda_devices() -> list[str]:
    """The names of the CUDA devices that can be used here; empty without CuPy, without a driver or without a GPU."""
    count, _ = _count_devices()
    return [f"cuda:{ordinal}" for ordinal in range(count)]


def _count_devices() -> tuple[int, str]:
    """How many GPUs can be used, and what was found. Asks the driver itself: importing CuPy takes far longer."""
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


class CudaDevice:
    """One GPU, one stream."""

    backend = "cuda"

    def __init__(self, ordinal: int = 0) -> None:
        self.xp = _import_cupy(ordinal)
        self.name = self.space = f"cuda:{ordinal}"
        self._device = self.xp.cuda.Device(ordinal)
        with self._device:
            self._stream = self.xp.cuda.Stream(non_blocking=True)
            attributes = self._device.attributes
        self.num_multiprocessors = int(attributes["MultiProcessorCount"])
        self.max_shared_bytes = int(attributes.get("MaxSharedMemoryPerBlockOptin", _PLAIN_SHARED_BYTES))
        self._worker = Worker(self.name)
        self._inside = local()
        self._modules: dict[Specialisation, CudaModule] = {}
        self._constants = Constants(self.asarray)

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
        """What CuPy's pool keeps for later is free to us."""
        with self.current():
            free, total = self._device.mem_info
            return Memory(total=int(total), free=int(free) + int(self.xp.get_default_memory_pool().free_bytes()))

    def put(self, arrays: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.asarray(array) for name, array in arrays.items()}

    def get(self, array: Any) -> AnyArray:
        with self.current():
            found: AnyArray = self.xp.asnumpy(array, stream=self._stream)
            return found

    def get_pinned(self, array: Any) -> AnyArray:
        """As `get`, at the full speed of the bus, into page-locked memory that goes back to CuPy's pool with the array."""
        with self.current():
            memory = self.xp.cuda.alloc_pinned_memory(array.nbytes)
            found: AnyArray = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
            self.xp.asnumpy(array, stream=self._stream, out=found)
            self._stream.synchronize()
            return found

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        def on_device() -> Any:
            with self.current():
                return work()

        return self._worker.submit(on_device)

    def nearby(self) -> None:
        """Streams and memory belong to the worker."""

    def synchronize(self) -> None:
        with self.current():
            self._stream.synchronize()

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> Any:
        with self.current():
            return self.xp.zeros(shape, dtype)

    def empty(self, shape: int | tuple[int, ...], dtype: Any) -> Any:
        with self.current():
            return self.xp.empty(shape, dtype)

    def asarray(self, array: Any) -> Any:
        with self.current():
            return self.xp.ascontiguousarray(self.xp.asarray(array))

    def constant(self, key: Hashable, make: Callable[[], Any]) -> Any:
        return self._constants.get(key, make)

    def load(self, source: KernelSource, **defines: str) -> CudaModule:
        kernel = source.specialise(**defines)
        if kernel not in self._modules:
            with self.current():
                self._modules[kernel] = CudaModule(kernel, self)
        return self._modules[kernel]

    def status(self) -> Any:
        return self.zeros(2, np.int64)

    def raise_status(self, status: Any, operation: str) -> None:
        raise_fault(self.get(status), operation, self.name)

    @contextmanager
    def current(self) -> Iterator[None]:
        """Makes this GPU and stream current, and turns CuPy's errors into graphlode's."""
        if getattr(self._inside, "already", False):  # a driver on the worker, many times per operation
            yield
            return
        cuda = self.xp.cuda
        try:
            with self._device, self._stream:
                self._inside.already = True
                try:
                    yield
                finally:
                    self._inside.already = False
        except cuda.memory.OutOfMemoryError as error:
            free, total = self._device.mem_info
            raise DeviceMemoryError(
                f"{self.name}: {error} {free} of {total} bytes are free; more devices or devices='cpu' would need less here"
            ) from error
        except (cuda.runtime.CUDARuntimeError, cuda.driver.CUDADriverError) as error:
            raise KernelFaultError(f"{self.name}: {error}") from error


class CudaModule:
    """A specialisation compiled by NVRTC through CuPy, which keeps what it built on disk."""

    def __init__(self, kernel: Specialisation, device: CudaDevice) -> None:
        self.device = device
        self._stem = kernel.stem
        module = device.xp.RawModule(code=kernel.text, options=NVRTC_OPTIONS, backend="nvrtc")
        try:
            self._functions = {entry: module.get_function(entry) for entry in kernel.entries}
        except device.xp.cuda.compiler.CompileException as error:
            raise kernel.build_error(device.architecture, str(error)) from None

    def launch(self, entry: str, grid: int, block: int, args: Sequence[Any], shared_bytes: int = 0) -> None:
        check_launch(self.device, entry, grid, block, shared_bytes)
        if entry not in self._functions:
            raise InputError(f"{self._stem} has the kernels {', '.join(self._functions)}, not {entry}")
        function = self._functions[entry]
        if shared_bytes > _PLAIN_SHARED_BYTES and function.max_dynamic_shared_size_bytes < shared_bytes:
            function.max_dynamic_shared_size_bytes = shared_bytes
        for position, value in enumerate(args):
            if not isinstance(value, (self.device.xp.ndarray, np.generic)):
                raise InputError(
                    f"{entry}, argument {position}: expected an array of the device or a numpy scalar, "
                    f"got {type(value).__name__}"
                )
        function((grid,), (block,), tuple(args), shared_mem=shared_bytes)
