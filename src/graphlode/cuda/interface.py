"""The interface of a device for the drivers of kernels, real or emulated, and arithmetic that both share.

A driver runs on the device's worker thread, which has the right GPU and stream current, or inside of `current()` on
another thread. It returns only when its work is done, so any other stream may use its arrays. A batch of a store is the
exception: it may still be written afterwards, and `finish` in store/shard.py waits for that.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.errors import InputError, KernelFaultError
from graphlode.types import AnyArray, Memory

P = ParamSpec("P")
R = TypeVar("R")

WARP = 32

# Values of the first status word; the second word is the index at fault. See include/status.cuh.
FAULTS = {
    1: "a neighbor is outside of the graph or breaks the order of the view",
    2: "a work queue is full",
}


class KernelModule(Protocol):
    """A compiled specialisation."""

    def launch(self, entry: str, grid: int, block: int, args: Sequence[Any], shared_bytes: int = 0) -> None:
        """Start a kernel. `args` are arrays of the device and numpy scalars with the widths of its parameters."""

    def prepare(self, entry: str, args: Sequence[Any], changing: Sequence[int] = ()) -> PreparedLaunch:
        """A launch to repeat, with all of its arguments. Those at the positions `changing` are replaced in each
        launch."""


class PreparedLaunch(Protocol):
    """A launch to repeat. It keeps the arrays among its arguments."""

    def launch(self, grid: int, block: int, *changed: Any, shared_bytes: int = 0) -> None:
        """Start it with new values for the changing arguments: arrays, or numbers of any type that fit."""


class PlainPreparedLaunch:
    """A prepared launch as a plain launch each time, for a device without faster ones."""

    def __init__(self, module: KernelModule, entry: str, args: Sequence[Any], changing: Sequence[int]) -> None:
        if not all(0 <= position < len(args) for position in changing):
            raise InputError(f"{entry} has {len(args)} arguments, not those at {tuple(changing)} to change")
        self._module = module
        self._entry = entry
        self._args = tuple(args)
        self._changing = tuple(changing)

    def launch(self, grid: int, block: int, *changed: Any, shared_bytes: int = 0) -> None:
        if len(changed) != len(self._changing):
            raise InputError(
                f"{self._entry} was prepared to change {len(self._changing)} arguments, got {len(changed)}"
            )
        args = list(self._args)
        for position, value in zip(self._changing, changed, strict=True):
            first = args[position]
            args[position] = _as_scalar(first, value) if isinstance(first, np.generic) else value
        self._module.launch(self._entry, grid, block, args, shared_bytes)


def _as_scalar(like: Any, value: Any) -> Any:
    if like.dtype.kind in "iu" and not np.iinfo(like.dtype).min <= value <= np.iinfo(like.dtype).max:
        raise InputError(f"{value} does not fit into {like.dtype}")
    return type(like)(value)


class KernelDevice(Protocol):
    """The part of a device that drivers use."""

    @property
    def name(self) -> str: ...
    @property
    def xp(self) -> Any: ...  # cupy or numpy: device-wide sort, scan and elementwise work
    @property
    def num_multiprocessors(self) -> int: ...
    @property
    def max_shared_bytes(self) -> int: ...
    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> Any: ...
    def empty(self, shape: int | tuple[int, ...], dtype: Any) -> Any: ...

    def allocate(self, nbytes: int) -> tuple[Any, int]:
        """Memory that exists as long as the returned object, and its address. Takes a quarter of the time of an array.
        Inside of `current()`."""

    def pooled_bytes(self) -> int:
        """Bytes that the pool has obtained from the device, used or not. An allocation that does not change it was
        fast. Inside of `current()`."""

    def unpooled_bytes(self) -> int:
        """Bytes that the pool can still obtain from the device. Inside of `current()`."""

    def words_in(self, memory: Any, count: int) -> Any:
        """The first `count` 64-bit words of allocated memory, as an array that keeps the memory."""

    def asarray(self, array: Any) -> Any: ...

    def ids(self, tails: AnyArray, heads: AnyArray) -> tuple[Any, Any]:
        """Copies of two host arrays, both int32 or both int64: int32 if no id is negative and all fit, else the same
        type."""

    def update(self, array: Any, start: int, values: Any) -> None: ...  # from the host, of the same type and contiguous
    def constant(self, key: Hashable, make: Callable[[], Any]) -> Any: ...  # uploaded once: never written to
    def get(self, array: Any) -> Any: ...
    def get_pinned(self, array: Any) -> Any: ...  # for large results with a short life
    def load(self, source: KernelSource, **defines: str) -> KernelModule: ...
    def status(self) -> Any: ...
    def raise_status(self, status: Any, operation: str) -> None: ...
    def synchronize(self) -> None: ...

    def wait_for_word(self, words: AnyArray, place: int, value: int) -> None:
        """Wait until a kernel has written the value there, in mapped memory of the host."""

    def read_report(self, words: AnyArray, value: int) -> list[int]:
        """Wait until kernels have written the value into the upper halves of all 64-bit words in such memory. Returns
        the lower halves."""

    def memory(self) -> Memory: ...
    def current(self) -> AbstractContextManager[None]: ...  # this GPU's stream, on the calling thread


class Constants:
    """The small tables that recent calls used, so each is uploaded only once."""

    _MOST = 64

    def __init__(self, upload: Callable[[Any], Any]) -> None:
        self._upload = upload
        self._held: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if key not in self._held:
            self._held[key] = self._upload(make())
            while len(self._held) > self._MOST:
                self._held.popitem(last=False)
        self._held.move_to_end(key)
        return self._held[key]


def on_stream(driver: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], R]:
    """A decorator for drivers that any thread calls: runs them inside of their device's `current()`."""

    @wraps(driver)
    def inside(device: Any, /, *args: P.args, **options: P.kwargs) -> R:
        with device.current():
            return driver(device, *args, **options)

    return inside


def launch_shape(
    device: KernelDevice,
    items: int,
    *,
    threads: int = 256,
    per_block: int | None = None,
    blocks_per_multiprocessor: int = 8,
) -> tuple[int, int]:
    """Grid and block for a grid-stride loop: no more blocks than are resident at once, and no block without work.

    `per_block` is the number of items that a block takes in one stride; by default one per thread.
    """
    needed = -(-items // (threads if per_block is None else per_block))
    return max(1, min(needed, device.num_multiprocessors * blocks_per_multiprocessor)), threads


def check_launch(device: KernelDevice, entry: str, grid: int, block: int, shared_bytes: int) -> None:
    """Raise InputError for a launch that no CUDA device accepts. Otherwise it would fail later and elsewhere."""
    if not 1 <= grid < 2**31:
        raise InputError(f"{entry}: the grid must have 1 to 2^31 - 1 blocks, got {grid}")
    if not 1 <= block <= 1024:
        raise InputError(f"{entry}: a block must have 1 to 1024 threads, got {block}")
    if not 0 <= shared_bytes <= device.max_shared_bytes:
        raise InputError(f"{entry}: {shared_bytes} bytes of shared memory asked, {device.max_shared_bytes} there")


def raise_fault(words: Any, operation: str, device: str) -> None:
    """Raise KernelFaultError if the two status words, already on the host, hold a fault."""
    code, index = int(words[0]), int(words[1])
    if code:
        meaning = FAULTS.get(code, "a fault without a name")
        raise KernelFaultError(f"{operation} on {device}: {meaning} (code {code}, index {index})")


def vertex_define(dtype: Any) -> str:
    """The value of the define VERTEX_T for arrays of this dtype."""
    return "int" if np.dtype(dtype).itemsize == 4 else "long long"
