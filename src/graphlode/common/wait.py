"""Starting work on other threads and waiting for it, so that Ctrl-C takes effect and progress is reported.

Python runs a signal handler on the main thread between any two byte codes, and the handler of Ctrl-C raises. So while the
main thread starts work, waits for it or changes what others rely on, `Interrupts` stands in for the handler. It records
what the handler raises, asks the work to stop, and raises when everything is in order again. However many signals come,
no lock stays held and no work goes on behind the caller.
"""

from __future__ import annotations

# The C module of `signal`. The functions of `signal` convert handlers to enums, which takes longer than a small batch.
from _signal import SIGINT, getsignal, signal  # type: ignore[import-not-found]
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from threading import get_ident
from types import TracebackType
from typing import Any, Protocol, TypeVar

from graphlode.common.control import Control
from graphlode.common.fork import after_fork

Progress = Callable[[int, int], None]
T = TypeVar("T")

_STEP_SECONDS = 0.1
_SHORT_SECONDS, _SHORT_STEPS = 0.0005, 100


class Interrupts:
    """While the block runs, the handler of Ctrl-C cannot interrupt it. What the handler raises is raised at its end.

    `stop` is called as soon as the handler has raised, to end the block early. Without it, the block must be short.
    Handlers that do not raise have their effect at once. Only the main thread has anything to do: signals interrupt no
    other thread.
    """

    __slots__ = ("_error", "_handler", "_stop", "_thread")

    def __init__(self, stop: Callable[[], None] | None = None) -> None:
        self._stop = stop
        self._thread = get_ident()
        self._handler: Callable[..., Any] | None = None
        self._error: BaseException | None = None

    def __enter__(self) -> Interrupts:
        handler = getsignal(SIGINT)
        if callable(handler):
            try:
                self._handler = handler  # first: a signal may come as soon as the next line is done
                signal(SIGINT, self._receive)
            except ValueError:  # not the main thread
                self._handler = None
        return self

    def _receive(self, *signal_and_frame: Any) -> None:
        assert self._handler is not None
        try:
            self._handler(*signal_and_frame)
        except BaseException as error:
            self._error = self._error or error
            if self._stop is not None:
                self._stop()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handler is not None:
            if getsignal(SIGINT) == self._receive:  # else the block has set another one
                signal(SIGINT, self._handler)
            if self._error is not None:
                raise self._error from error


@after_fork
def _forget_blocks_of_other_threads() -> None:
    """In a child that another thread than the main one has forked, the block of the main thread never ends."""
    present = handler = getsignal(SIGINT)
    while isinstance(block := getattr(handler, "__self__", None), Interrupts) and block._thread != get_ident():
        handler = block._handler
    if handler is not present:
        signal(SIGINT, handler)


class Queue(Protocol):
    """Something that runs work in order, on a thread of its own."""

    def submit(self, work: Callable[[], Any], /) -> Future[Any]: ...


def run_all(
    work: Sequence[tuple[Queue, Callable[[], Any]]],
    control: Control,
    progress: Progress | None = None,
    total: int = 0,
) -> list[Any]:
    """Run each piece of work in its queue; returns the results in order.

    The first error stops the others and is raised. Ctrl-C stops all and is raised. In either case no work runs any more
    when this returns: kernels look at the control many times a second.
    """
    futures: list[Future[Any]] = []

    def stop() -> None:
        control.stop()
        for future in futures:
            future.cancel()  # what has not begun is dropped: the work before it may be another caller's

    with Interrupts(stop):
        try:
            for queue, one in work:
                futures.append(queue.submit(one))
            if progress is None and len(futures) == 1:
                return [_result(futures[0])]  # as below, at a fraction of the cost: small operations notice
            _wait(futures, control, progress, total)
        except BaseException:
            stop()
            wait([future for future in futures if not future.cancelled()])
            raise
        return [future.result() for future in futures]


def _wait(futures: Sequence[Future[Any]], control: Control, progress: Progress | None, total: int) -> None:
    pending = set(futures)
    while pending:
        # In steps: `wait` sees that work was canceled only when its turn comes.
        done, pending = wait(pending, timeout=_STEP_SECONDS, return_when=FIRST_EXCEPTION)
        failed = next((future for future in futures if future.cancelled()), None)
        failed = failed or next((future for future in done if future.exception() is not None), None)
        if failed is not None:
            failed.result()
        if progress is not None:
            progress(min(control.done, total) if pending else total, total)


def _result(future: Future[T]) -> T:
    """The result of a single future.

    The first waits are short: a core that sleeps deeply takes as long to wake up as a small operation takes on a GPU.
    """
    for _ in range(_SHORT_STEPS):
        try:
            return future.result(_SHORT_SECONDS)
        except TimeoutError:
            if future.done():  # then it is the work that says so
                return future.result()
    return future.result()
