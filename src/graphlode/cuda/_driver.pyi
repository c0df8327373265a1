"""
Launches and arrays in the hands of NVIDIA's driver, which is opened when a queue is made; and what the host counts beside them.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Queue:
    """A stream of the context that is current, from any thread."""

    def __init__(self, device: str, stream: object, library: str = ...) -> None: ...

    def send(self, address: int, array: object, threads: int = ...) -> None:
        """
        Copy a contiguous array of the host; it may be changed as soon as this returns.
        """

    def send_narrow(self, address: int, tails: object, heads: object, threads: int = ...) -> bool:
        """
        Copy two arrays of int64, one behind the other as int32. False if a value is negative or does not fit: what was copied means nothing then.
        """

    def fetch(self, array: object, address: int, threads: int = ...) -> None:
        """Fill a contiguous array of the host, after all that was queued before."""

    def synchronize(self) -> None: ...

    def wait_for_word(self, words: object, place: int, value: int) -> None:
        """
        Until a kernel has written the value there, among words of 32 bits in memory of the host that the GPU sees.
        """

    def hear(self, words: object, value: int) -> list:
        """
        The lower halves of words of 64 bits in memory of the host that the GPU sees, when kernels have written the value into all upper ones.
        """

class Kernel:
    """A function of the driver, ready to be launched in a queue."""

    def __init__(self, queue: Queue, function: int, entry: str, array_type: type) -> None: ...

    def launch(self, grid: int, block: int, shared_bytes: int, args: object) -> None: ...

class PreparedLaunch:
    """A launch to repeat, in which the arguments `changing` are replaced."""

    def __init__(self, kernel: Kernel, args: tuple, changing: Sequence[int]) -> None: ...

    def launch(self, grid: int, block: int, shared_bytes: int, changed: tuple) -> None: ...

class LaunchSequence:
    """
    Launches that always follow each other, each a kernel, its arguments, which of them are replaced by which value, the values that are its grid and block, and its shared bytes.
    """

    def __init__(self, queue: Queue, steps: Sequence[tuple[Kernel, tuple, Sequence[tuple[int, int]], int, int, int]]) -> None: ...

    def run(self, values: tuple, after: int | None = ...) -> None:
        """Start all of them, after another stream has done what it has to do."""

    def bind(self, values: tuple, changing: Sequence[int], told: object) -> BoundSequence:
        """
        The sequence with values of which only those with these numbers will change; its kernels tell the host what they did, in words as `Queue.hear` hears them.
        """

class BoundSequence:
    """A sequence of which most values are known."""

    def run(self, changed: tuple, awaited: int, after: int | None = ...) -> list:
        """
        Start all launches, as a sequence does, and return what they tell with this number as soon as they do; they may not be over.
        """

class PagePool:
    """
    Which pages of a shard are taken, by how many versions, and where the memory of segments is.
    """

    def __init__(self, segment_pages: int) -> None: ...

    def copy(self) -> PagePool: ...

    def add(self, addresses: Sequence[int], segments: Sequence[int], segment_bytes: int) -> tuple: ...

    def segments_with(self, more: int) -> int: ...

    def drop_unused(self) -> list[int]: ...

    def keep_only(self, pages: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], most_free: int) -> list[int]: ...

    def forget_tail(self) -> None: ...

    @property
    def segments_with_tail_forgotten(self) -> int: ...

    def take(self, into: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

    def hold(self, pages: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def release(self, pages: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def num_free(self) -> int: ...

    @property
    def num_used(self) -> int: ...

    @property
    def num_pages(self) -> int: ...

    @property
    def free(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def references(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None,))]: ...

    def addresses_of(self, begin: int, end: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    @property
    def addresses(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

def replace_pages(pages: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ranges: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], fresh: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], result: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], replaced: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None: ...
