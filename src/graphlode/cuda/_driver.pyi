"""
Kernel launches and array copies by NVIDIA's driver, which is opened when a queue is made, and a store's page pool.
"""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class Queue:
    """A stream of the current context, usable from any thread."""

    def __init__(self, device: str, stream: object, library: str = ...) -> None: ...

    def send(self, address: int, array: object, threads: int = ...) -> None:
        """
        Copy a contiguous host array. It may be changed as soon as this returns.
        """

    def send_narrow(self, address: int, tails: object, heads: object, threads: int = ...) -> bool:
        """
        Copy two int64 arrays, one after the other, as int32. False if a value is negative or does not fit: the copy is then undefined.
        """

    def fetch(self, array: object, address: int, threads: int = ...) -> None:
        """Fill a contiguous host array, after everything queued before."""

    def synchronize(self) -> None: ...

    def wait_for_word(self, words: object, place: int, value: int) -> None:
        """
        Wait until a kernel has written the value to a 32-bit word in host memory that the GPU sees.
        """

    def read_report(self, words: object, value: int) -> list:
        """
        Wait until kernels have written the value to the upper halves of 64-bit words in host memory that the GPU sees. Returns the lower halves.
        """

class Kernel:
    """A kernel that can be launched in a queue."""

    def __init__(self, queue: Queue, function: int, entry: str, array_type: type) -> None: ...

    def launch(self, grid: int, block: int, shared_bytes: int, args: object) -> None: ...

class PreparedLaunch:
    """
    A launch to repeat, in which the arguments at the positions `changing` are replaced.
    """

    def __init__(self, kernel: Kernel, args: tuple, changing: Sequence[int]) -> None: ...

    def launch(self, grid: int, block: int, shared_bytes: int, changed: tuple) -> None: ...

class LaunchSequence:
    """
    Launches that always follow each other. A step is a kernel, its arguments, pairs (position of an argument, number of the value that replaces it), the numbers of the values for grid and block, and its shared bytes.
    """

    def __init__(self, queue: Queue, steps: Sequence[tuple[Kernel, tuple, Sequence[tuple[int, int]], int, int, int]]) -> None: ...

    def run(self, values: tuple, after: int | None = ...) -> None:
        """Start all launches, after another stream has finished its work."""

    def bind(self, values: tuple, changing: Sequence[int], reported: object) -> BoundSequence:
        """
        Bind the values; only those with the numbers `changing` can change later. The kernels report to the host in the words `reported`, as for `Queue.read_report`.
        """

class BoundSequence:
    """A sequence with most values bound."""

    def run(self, changed: tuple, awaited: int, after: int | None = ...) -> list:
        """
        Start all launches and return their report with the number `awaited` as soon as it arrives. They may still be running.
        """

class PagePool:
    """
    The pages of a shard: which are in use, by how many versions, and where each segment is stored.
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
