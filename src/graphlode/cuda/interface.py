"""What a driver beside a kernel may ask of its device, real or emulated, and the arithmetic both share.

A driver runs on the device's worker thread, which has the right GPU and stream current, or inside of `current()` on
another thread. It returns only when its work is done: what it leaves behind may then be used from any other stream.
(Batches of a store may still be written, which then waits itself: see `wait_until_written` in reference/store/shard.py.)
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

# What kernels may write into the first status word; the second holds the index at fault. See include/status.cuh.
FAULTS = {
    1: "a neighbor is outside of the graph or breaks the order of the view",
    2: "a work queue is full",
}


class KernelModule(Protocol):
    """A compiled specialisation."""

    def launch(self, entry: str, grid: int, block: int, args: Sequence[Any], shared_bytes: int = 0) -> None:
        """Start a kernel; `args` are arrays of the device and numpy scalars of the kernel's own widths."""

    def prepare(self, entry: str, args: Sequence[Any], changing: Sequence[int] = ()) -> PreparedLaunch:
        """A launch that is repeated often, with all of its arguments; those at the positions `changing` are replaced."""


class PreparedLaunch(Protocol):
    """A launch to repeat. The arrays among its arguments are kept."""

    def launch(self, grid: int, block: int, *changed: Any, shared_bytes: int = 0) -> None:
        """Start it with new values for the arguments that change: arrays, or numbers, of any type, that fit."""


class PlainPreparedLaunch:
    """A prepared launch as a plain launch each time, on a device that has nothing better."""

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
        """Memory that is there as long as the object is, and where it begins: what is an array only to kernels is had in a
        quarter of the time. Inside of `current()`."""

    def pooled_bytes(self) -> int:
        """What the device was asked for so far, in use or not: an allocation that does not change it was a quick one. Inside
        of `current()`."""

    def unpooled_bytes(self) -> int:
        """What the device can still be asked for. Inside of `current()`."""

    def words_in(self, memory: Any, count: int) -> Any:
        """So many words of 64 bits at the beginning of what was allocated, as an array that keeps it."""

    def asarray(self, array: Any) -> Any: ...

    def ids(self, tails: AnyArray, heads: AnyArray) -> tuple[Any, Any]:
        """Two arrays of the host, both int32 or both int64: as int32 if none is negative and all fit, else as they are."""

    def update(self, array: Any, start: int, values: Any) -> None: ...  # from the host, of the same type and contiguous
    def constant(self, key: Hashable, make: Callable[[], Any]) -> Any: ...  # uploaded once: never written to
    def get(self, array: Any) -> Any: ...
    def get_pinned(self, array: Any) -> Any: ...  # for large results that are soon let go
    def load(self, source: KernelSource, **defines: str) -> KernelModule: ...
    def status(self) -> Any: ...
    def raise_status(self, status: Any, operation: str) -> None: ...
    def synchronize(self) -> None: ...

    def wait_for_word(self, words: AnyArray, place: int, value: int) -> None:
        """Until a kernel has written the value there, in memory of the host that the device sees."""

    def read_report(self, words: AnyArray, value: int) -> list[int]:
        """The lower halves of words of 64 bits in such memory, when kernels have written the value into all upper ones."""

    def memory(self) -> Memory: ...
    def current(self) -> AbstractContextManager[None]: ...  # this GPU's stream, on the calling thread


class Constants:
    """Arrays that calls have in common, the latest ones: small tables, each of which would be uploaded by every call."""

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
    """For drivers that are called from any thread: runs them inside of their device's `current()`."""

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
    """Grid and block for a grid-stride loop: no more blocks than are resident at once, nor than there is work for.

    `per_block` is how many items a block takes in one stride; by default one per thread.
    """
    needed = -(-items // (threads if per_block is None else per_block))
    return max(1, min(needed, device.num_multiprocessors * blocks_per_multiprocessor)), threads


def check_launch(device: KernelDevice, entry: str, grid: int, block: int, shared_bytes: int) -> None:
    """Raise InputError for a launch that no CUDA device accepts, rather than let it fail later and elsewhere."""
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
