"""
Launches and arrays in the hands of NVIDIA's driver, which is opened when a queue is made.
"""

from collections.abc import Sequence


class Queue:
    """A stream of the context that is current, from any thread."""

    def __init__(self, device: str, stream: object, library: str = ...) -> None: ...

    def send(self, address: int, array: object, threads: int = ...) -> None:
        """
        Copy a contiguous array of the host; it may be changed as soon as this returns.
        """

    def fetch(self, array: object, address: int, threads: int = ...) -> None:
        """Fill a contiguous array of the host, after all that was queued before."""

    def synchronize(self) -> None: ...

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

    def run(self, values: tuple, wait: bool, after: int | None = ...) -> None:
        """
        Start all of them, after another stream has done what it has to do, and wait for them if that is wanted.
        """
