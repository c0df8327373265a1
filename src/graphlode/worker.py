"""One thread per device that runs its kernels in order.

Kernels run off the calling thread so that Ctrl-C reaches Python at once; the thread is kept because to start one takes
longer than many kernels do. A forked child starts a new one: threads do not survive a fork.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from threading import Lock, Thread
from typing import Any, TypeVar

D = TypeVar("D")

_workers: weakref.WeakSet[Worker] = weakref.WeakSet()


class Worker:
    def __init__(self, name: str) -> None:
        self._name = name
        self._pool: ThreadPoolExecutor | None = None
        self._starting = Lock()
        self.turn = Lock()  # held while something runs; whoever gets hold of it otherwise has the worker wait
        _workers.add(self)

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        with self._starting:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"graphlode-{self._name}")
            return self._pool.submit(self._in_turn, work)

    def _in_turn(self, work: Callable[[], Any]) -> Any:
        with self.turn:
            return work()

    def forget_thread(self) -> None:
        self._pool = None
        self._starting = Lock()  # the parent may have held the old one
        self.turn = Lock()


class _NewThreads:
    """A worker that gives every piece of work a new thread, which ends with it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        place: Future[Any] = Future()

        def run() -> None:
            if not place.set_running_or_notify_cancel():
                return
            try:
                place.set_result(work())
            except BaseException as error:
                place.set_exception(error)

        Thread(target=run, name=f"graphlode-{self._name}-aside").start()
        return place


def with_own_threads(device: D) -> D:
    """The same device, with its memory and all it has loaded, for work that must not keep the device's worker busy.

    Its threads are waited for when the program ends, but not before the main thread has ended: work that waits for the
    main thread can see that.
    """
    other = copy(device)
    other._worker = _NewThreads(device.name)  # type: ignore[attr-defined]
    return other


def _after_fork() -> None:
    for worker in _workers:
        worker.forget_thread()


os.register_at_fork(after_in_child=_after_fork)
