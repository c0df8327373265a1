"""What a device holds of a graph: a view that is there, or one that is being built."""

from __future__ import annotations

from threading import Event
from typing import Any


class Held:
    """One view on one device.

    A view that is there is read without a lock. Not a Future: those are read under a lock, and a forked child would wait
    for it without end if a thread of the parent was reading at the fork.
    """

    __slots__ = ("_done", "_error", "_finished", "_value")

    def __init__(self) -> None:
        self._value: Any = None
        self._error: BaseException | None = None
        self._done = False
        self._finished = Event()

    @classmethod
    def of(cls, value: Any) -> Held:
        """One that is there."""
        held = cls()
        held.set_result(value)
        return held

    def done(self) -> bool:
        return self._done

    def result(self) -> Any:
        """The view; waits while it is being built. Raises the error that ended the building."""
        if not self._done:
            self._finished.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def exception(self) -> BaseException | None:
        """The error that ended the building, None if there was none or if the view is still being built."""
        return self._error

    def set_result(self, value: Any) -> None:
        self._value = value
        self._end()

    def set_exception(self, error: BaseException) -> None:
        self._error = error
        self._end()

    def _end(self) -> None:
        self._done = True
        self._finished.set()
