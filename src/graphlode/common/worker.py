"""Threads that run a device's work: in order on a thread of its own, or at once on the caller's if the work is brief.

Kernels run off the calling thread so that Ctrl-C reaches Python at once. The thread is kept between calls, because
starting one takes longer than a small operation. A forked child starts a new one: threads do not survive a fork.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from copy import copy
from functools import partial
from threading import Lock, Thread
from typing import Any, Self, TypeVar

from graphlode.common.control import Control
from graphlode.common.fork import after_fork, renew_after_fork
from graphlode.common.wait import Interrupts, run_all
from graphlode.errors import DeviceError

T = TypeVar("T")

_REFUSED = "can't start new thread"  # as Python says it
_lending = Lock()  # of lanes, by any device


@after_fork
def _renew() -> None:
    global _lending
    _lending = Lock()


class Worker:
    """One thread that runs pieces of work in order; it starts with the first one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pool: ThreadPoolExecutor | None = None
        self._starting = Lock()
        self.turn = Lock()  # held while work runs
        renew_after_fork(self, Worker.forget_thread)

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        with self._starting:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"graphlode-{self._name}")
            try:
                return self._pool.submit(self._in_turn, work)
            except RuntimeError as error:
                if _REFUSED not in str(error):
                    raise
                self._pool.shutdown(wait=False, cancel_futures=True)  # it keeps the work, and would do it later
                self._pool = None
                raise _refusal(self._name) from error

    def _in_turn(self, work: Callable[[], Any]) -> Any:
        with self.turn:
            return work()

    def forget_thread(self) -> None:
        self._pool = None
        self._starting = Lock()  # the parent may have held the old ones
        self.turn = Lock()


class _NewThreads:
    """Gives every piece of work a new thread, which ends with it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.turn: AbstractContextManager[Any] = nullcontext()  # each has a thread of its own

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        place: Future[Any] = Future()

        def run() -> None:
            if not place.set_running_or_notify_cancel():
                return
            try:
                place.set_result(work())
            except BaseException as error:
                place.set_exception(error)

        try:
            Thread(target=run, name=f"graphlode-{self._name}", daemon=False).start()
        except RuntimeError as error:
            if _REFUSED not in str(error):
                raise
            raise _refusal(self._name) from error
        return place


def _refusal(name: str) -> DeviceError:
    return DeviceError(
        f"the system refused a thread for the device {name}: too many threads or too little memory for this user or "
        "process; the work was not begun"
    )


class Queued:
    """The part of a device that decides on which thread its work runs.

    A device is one queue, and so is each of its lanes. A lane is the same device, with the same memory and loaded
    kernels, but with a queue of its own: its work does not wait for other work.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._worker: Worker | _NewThreads = Worker(name)
        self._idle_lanes: list[Any] = []  # shared with all lanes
        self._shared_lanes: dict[str, Any] = {}

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        """Run the work on the worker thread, after all that was submitted before."""
        return self._worker.submit(partial(self._inside, work))

    def run(self, work: Callable[[Self], T], *, brief: bool, control: Control | None = None) -> T:
        """The result of the work, which gets the device that it may use.

        Brief work runs on the calling thread, between pieces of work of the worker: to hand it over would take longer.
        Ctrl-C waits for its end. All other work runs on the worker thread, and Ctrl-C asks the control to stop it.
        """
        if brief:
            with Interrupts(), self._worker.turn:
                device = self.for_brief_work()
                return device._inside(partial(work, device))
        result: T = run_all([(self, partial(work, self))], control or Control())[0]
        return result

    def lane(self, borrower: object) -> Self:
        """The same device with a queue of its own, as long as the borrower lives.

        Lanes are lent again and again: a GPU gives back no memory that was once used in a queue that is gone.
        """
        with _lending:
            lane: Self = self._idle_lanes.pop() if self._idle_lanes else self._new_lane("lane")
        weakref.finalize(borrower, self._idle_lanes.append, lane).atexit = False
        return lane

    def shared_lane(self, purpose: str) -> Self:
        """The same device with a queue for all work of one purpose."""
        with _lending:
            if purpose not in self._shared_lanes:
                self._shared_lanes[purpose] = self._new_lane(purpose)
            lane: Self = self._shared_lanes[purpose]
            return lane

    def _new_lane(self, purpose: str) -> Self:
        other = copy(self)
        other._worker = Worker(f"{self.name}-{purpose}")
        other._open_queue()
        return other

    def aside(self) -> Self:
        """The same device for work that must not keep its worker busy: every piece of work gets a new thread.

        The program waits for these threads when it ends, but only after its main thread has ended. Work that waits for
        the main thread can see that.
        """
        other = copy(self)
        other._worker = _NewThreads(self.name)
        return other

    def current(self) -> AbstractContextManager[None]:
        """The context to enter before another thread than the worker uses the device."""
        return _nothing_to_enter

    def for_brief_work(self) -> Self:
        """The device as brief work on the calling thread may use it."""
        return self

    def synchronize(self) -> None:
        """Wait until the device has done all that was started in its queue."""

    def _inside(self, work: Callable[[], T]) -> T:
        with self.current():
            try:
                return work()
            except BaseException:
                # What the work has started may still read memory that goes with it, and that other queues may get.
                with suppress(Exception):  # a device that is broken says so with the next piece of work
                    self.synchronize()
                raise

    def _open_queue(self) -> None:
        """Give a copy of a device what it must not share with the original."""


class _Nothing(AbstractContextManager[None]):
    def __exit__(self, *error: object) -> None:
        return None


_nothing_to_enter = _Nothing()
