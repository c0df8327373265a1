"""Waiting for workers, with Ctrl-C and reports of progress.

The calling thread sleeps. It wakes up in short steps at first, and regularly to report progress. On KeyboardInterrupt
it sets the control's stop word, waits until the kernels have seen it (they read it many times a second) and raises the
interrupt again. No work continues in the background.
"""

from __future__ import annotations

# The C module of `signal`. The functions of `signal` convert handlers to enums, which takes longer than a small batch.
from _signal import SIGINT, getsignal, signal  # type: ignore[import-not-found]
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from typing import Any, TypeVar

from graphlode.common.control import Control

Progress = Callable[[int, int], None]
T = TypeVar("T")

_STEP_SECONDS = 0.1
_SHORT_SECONDS, _SHORT_STEPS = 0.0005, 100


def wait_all(
    futures: Sequence[Future[Any]], control: Control, progress: Progress | None = None, total: int = 0
) -> list[Any]:
    """The results of all futures, in order. The first error stops the others and is raised."""
    try:
        if progress is None and len(futures) == 1:
            return [_result(futures[0])]  # as below, but faster, which matters for small operations
        pending = set(futures)
        while pending:
            step = None if progress is None else _STEP_SECONDS
            done, pending = wait(pending, timeout=step, return_when=FIRST_EXCEPTION)
            failed = next((f for f in done if f.exception() is not None), None)
            if failed is not None:
                failed.result()
            if progress is not None:
                progress(min(control.done, total) if pending else total, total)
    except BaseException:
        control.stop()
        wait([future for future in futures if not future.cancel()])  # work that has not begun is canceled
        raise
    return [future.result() for future in futures]


def _result(future: Future[T]) -> T:
    """The result of a single future. Waits in short steps at first: a core in deep sleep takes as long to wake up as a
    small operation takes on a GPU."""
    for _ in range(_SHORT_STEPS):
        try:
            return future.result(_SHORT_SECONDS)
        except TimeoutError:
            if future.done():  # then the work itself raised the error
                return future.result()
    return future.result()


class uninterrupted:
    """A context that Ctrl-C cannot interrupt: a Ctrl-C takes effect at its end. It must be short."""

    __slots__ = ("_handler", "_received")

    def __enter__(self) -> None:
        self._handler: Callable[..., Any] | None = None
        self._received: tuple[Any, ...] | None = None
        handler = getsignal(SIGINT)
        if callable(handler):
            try:
                signal(SIGINT, self._record)
                self._handler = handler
            except ValueError:  # not the main thread: nothing interrupts the others
                pass

    def _record(self, *signal_and_frame: Any) -> None:
        self._received = self._received or signal_and_frame

    def __exit__(self, *error: object) -> None:
        if self._handler is not None:
            signal(SIGINT, self._handler)
            if self._received is not None:
                self._handler(*self._received)
