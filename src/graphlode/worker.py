"""One thread per device that runs its kernels in order.

Kernels run off the calling thread so that Ctrl-C reaches Python at once; the thread is kept because OpenMP keeps its
team of threads per calling thread. A forked child starts a new one: threads do not survive a fork.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

_workers: weakref.WeakSet[Worker] = weakref.WeakSet()


class Worker:
    def __init__(self, name: str) -> None:
        self._name = name
        self._pool: ThreadPoolExecutor | None = None
        self._starting = Lock()
        _workers.add(self)

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        with self._starting:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"graphlode-{self._name}")
            return self._pool.submit(work)

    def forget_thread(self) -> None:
        self._pool = None
        self._starting = Lock()  # the parent may have held the old one


def _after_fork() -> None:
    for worker in _workers:
        worker.forget_thread()


os.register_at_fork(after_in_child=_after_fork)
