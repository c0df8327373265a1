"""Results that are consumed while the kernels still run.

A `Stream` is an iterator of batches. The run behind it goes on by itself, on threads of its own: whoever consumes may
use the same devices meanwhile. Kernels hand batches to a sink that blocks when a few wait to be consumed, so memory is
bounded whatever there is to come. When the caller stops (close, an exception, Ctrl-C, a stream that nobody refers to any
more, the end of the program), the sink raises InterruptedError in the kernels and the control asks them to stop.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from threading import Condition, RLock, Thread, main_thread
from time import monotonic
from types import TracebackType
from typing import Any

from graphlode.common.control import Control
from graphlode.common.wait import Progress
from graphlode.errors import StateError
from graphlode.execute.device import Snapshot, kernel_module
from graphlode.execute.devices import Devices, resolve
from graphlode.execute.operation import Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import run
from graphlode.types import AnyArray

Sink = Callable[[AnyArray], None]

_AHEAD = 8  # batches that wait for the caller before kernels have to
_STEP_SECONDS = 0.1  # between two looks at whether there is still somebody to wait for


def stream(
    operation: Operation,
    snapshot: Snapshot,
    devices: Devices = "auto",
    *,
    progress: Progress | None = None,
    notes: tuple[str, ...] = (),
    label: str = "",
    **parameters: Any,
) -> Stream:
    """Run an operation whose kernels take a `sink`; nothing runs before the first batch is asked for."""
    for device in resolve(devices, operation.kernels):
        kernel_module(device, operation.name)  # what is not there is told now, not at the first batch

    def produce(sink: Sink, control: Control, told: Progress) -> Provenance:
        outcome = run(
            operation,
            snapshot,
            devices,
            progress=told,
            notes=notes,
            label=label,
            control=control,
            aside=True,
            sink=sink,
            **parameters,
        )
        return outcome.provenance

    return Stream(produce, progress)


class Stream(Iterator[AnyArray]):
    """An iterator of arrays that are made while it is consumed. It is also a context manager that closes it.

    `provenance` is None until the last batch is there. Progress is told on the thread that consumes.
    """

    def __init__(
        self, produce: Callable[[Sink, Control, Progress], Provenance], progress: Progress | None = None
    ) -> None:
        self.provenance: Provenance | None = None
        self._channel = _Channel()
        # The thread knows the channel but not the stream: a stream that nobody refers to is found and stopped.
        self._thread = Thread(target=partial(_produce, self._channel, produce), name="graphlode-stream")
        self._process = os.getpid()
        self._progress = progress
        self._next_telling = monotonic()

    def __next__(self) -> AnyArray:
        if self._process != os.getpid():
            raise StateError("this stream was begun in another process; begin a new one after the fork")
        try:
            if self._thread.ident is None and not self._channel.closed:
                self._thread.start()
            while (batch := self._channel.get(wait=_STEP_SECONDS if self._progress else None)) is None:
                if self._channel.drained:
                    self._finish()
                    raise StopIteration
                self._tell()
            self._tell()
        except BaseException:  # above all KeyboardInterrupt: nothing keeps running behind the caller
            self.close()
            raise
        return batch

    def close(self) -> None:
        """Stop what runs and wait until it has; the iterator then ends. In a forked child nothing runs to be stopped."""
        if self._process != os.getpid():
            return
        self._channel.close()
        if self._thread.ident is not None:
            self._thread.join()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # No waiting: the collector may come by on any thread, even on one of ours. And not in a forked child, where the
        # lock may be held for ever by a thread that exists in the parent only.
        if getattr(self, "_process", None) == os.getpid():
            self._channel.close()

    def _tell(self) -> None:
        if self._progress is not None and monotonic() >= self._next_telling:
            self._next_telling = monotonic() + _STEP_SECONDS
            if self._channel.done < self._channel.units:  # that all is done is told at the end
                self._progress(self._channel.done, self._channel.units)

    def _finish(self) -> None:
        channel = self._channel
        error, channel.error = channel.error, None
        if error is not None and not channel.closed:
            raise error
        if channel.provenance is not None and self.provenance is None:
            self.provenance = channel.provenance
            if self._progress is not None:
                self._progress(channel.units, channel.units)


class _Channel:
    """Batches on their way from the kernels' threads to the caller's, and what both sides tell each other."""

    def __init__(self) -> None:
        self.control = Control()
        self.closed = False  # the caller wants no more
        self.ended = False  # the kernels make no more
        self.drained = False  # and the caller has it all
        self.error: BaseException | None = None
        self.provenance: Provenance | None = None
        self.done = self.units = 0
        self._lock = RLock()  # the thread that has it may take it again: the collector may close us at any point
        self._room = Condition(self._lock)  # for the kernels' threads
        self._filled = Condition(self._lock)  # for the caller's
        self._batches: deque[AnyArray] = deque()

    def put(self, batch: AnyArray) -> None:
        """The sink: called on the kernels' threads."""
        with self._lock:
            while len(self._batches) >= _AHEAD and not self._abandoned():
                self._room.wait(_STEP_SECONDS)
            if self._abandoned():
                raise InterruptedError("stopped by the caller")
            self._batches.append(batch)
            self._filled.notify()

    def tell(self, done: int, units: int) -> None:
        """The run's progress: called now and then on the thread that waits for the kernels."""
        self.done, self.units = done, units
        if self._abandoned():
            raise InterruptedError("stopped by the caller")

    def get(self, wait: float | None) -> AnyArray | None:
        """The next batch; None if there is none yet after so many seconds (None: no limit), or will be none."""
        with self._lock:
            if not self._batches and not self.ended and not self.closed:
                self._filled.wait(wait)
            if self.closed or not self._batches:
                self.drained = self.closed or self.ended
                return None
            self._room.notify()
            return self._batches.popleft()

    def end(self, provenance: Provenance | None, error: BaseException | None) -> None:
        with self._lock:
            self.ended, self.provenance, self.error = True, provenance, error
            self._filled.notify_all()

    def close(self) -> None:
        self.control.stop()
        with self._lock:
            self.closed = True
            self._batches.clear()
            self._room.notify_all()
            self._filled.notify_all()

    def _abandoned(self) -> bool:
        """Whether nobody will consume any more: the program's end waits for our threads and must not wait for ever."""
        return self.closed or not main_thread().is_alive()


def _produce(channel: _Channel, produce: Callable[[Sink, Control, Progress], Provenance]) -> None:
    try:
        channel.end(produce(channel.put, channel.control, channel.tell), None)
    except BaseException as error:  # the caller's to see, whatever it is; who has stopped wants to see nothing
        channel.end(None, None if channel.closed else error)
