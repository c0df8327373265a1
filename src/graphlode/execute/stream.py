"""Results that are consumed while the kernels still run.

A `Stream` is an iterator of batches. The run behind it has its own threads, so the consumer may use the same devices
meanwhile. Kernels pass batches to a sink. The sink blocks when a few batches wait to be consumed, so memory is bounded
for any length of the stream. The run stops when the stream is closed, after an exception or Ctrl-C, when nothing refers
to the stream any more, and at the end of the program: the sink raises InterruptedError in the kernels, and the control
asks them to stop.
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
from graphlode.common.wait import Interrupts, Progress
from graphlode.errors import StateError
from graphlode.execute.device import Snapshot, kernel_module
from graphlode.execute.devices import Devices, resolve
from graphlode.execute.operation import Operation
from graphlode.execute.provenance import Provenance
from graphlode.execute.run import run
from graphlode.types import AnyArray

Sink = Callable[[AnyArray], None]

_MAX_WAITING = 8  # batches that may wait for the consumer before kernels block
_STEP_SECONDS = 0.1  # between two checks whether the consumer still exists


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
    """Run an operation whose kernels take a `sink`. Nothing runs before the first batch is requested."""
    for device in resolve(devices, operation.kernels):
        kernel_module(device, operation.name)  # a missing kernel raises now, not at the first batch

    def produce(sink: Sink, control: Control, report: Progress) -> Provenance:
        outcome = run(
            operation,
            snapshot,
            devices,
            progress=report,
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
    """An iterator of arrays that are computed while it is consumed. As a context manager it closes itself at the end.

    `provenance` is None until the last batch has been returned. Progress is reported on the consumer's thread.
    """

    def __init__(
        self, produce: Callable[[Sink, Control, Progress], Provenance], progress: Progress | None = None
    ) -> None:
        self.provenance: Provenance | None = None
        self._channel = _Channel()
        # The thread refers to the channel but not to the stream, so an unused stream can be collected, which stops it.
        self._thread = Thread(target=partial(_produce, self._channel, produce), name="graphlode-stream")
        self._process = os.getpid()
        self._progress = progress
        self._next_report = monotonic()

    def __next__(self) -> AnyArray:
        if self._process != os.getpid():
            raise StateError("this stream was begun in another process; begin a new one after the fork")
        try:
            with Interrupts(self._channel.close):
                return self._next()
        except BaseException:  # above all KeyboardInterrupt: nothing may keep running in the background
            self.close()
            raise

    def _next(self) -> AnyArray:
        if self._thread.ident is None and not self._channel.closed:
            self._thread.start()
        while (batch := self._channel.get(wait=_STEP_SECONDS if self._progress else None)) is None:
            if self._channel.drained:
                self._finish()
                raise StopIteration
            self._report()
        self._report()
        return batch

    def close(self) -> None:
        """Stop the run and wait for its end; the iterator then ends. In a forked child there is no run to stop."""
        if self._process != os.getpid():
            return
        with Interrupts():
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
        # Does not wait: the garbage collector may run on any thread, even on one of the stream's own. Does nothing in a
        # forked child, where the lock may be held by a thread that exists in the parent only.
        if getattr(self, "_process", None) == os.getpid():
            self._channel.close()

    def _report(self) -> None:
        if self._progress is not None and monotonic() >= self._next_report:
            self._next_report = monotonic() + _STEP_SECONDS
            if self._channel.done < self._channel.units:  # completion is reported by _finish
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
    """Passes batches from the kernels' threads to the consumer, and progress and stop requests between them."""

    def __init__(self) -> None:
        self.control = Control()
        self.closed = False  # the consumer wants no more batches
        self.ended = False  # the kernels produce no more batches
        self.drained = False  # the kernels have ended and the consumer has received all batches
        self.error: BaseException | None = None
        self.provenance: Provenance | None = None
        self.done = self.units = 0
        self._lock = RLock()  # reentrant: the garbage collector may call close() while this thread holds the lock
        self._not_full = Condition(self._lock)  # kernels wait here
        self._not_empty = Condition(self._lock)  # the consumer waits here
        self._batches: deque[AnyArray] = deque()

    def put(self, batch: AnyArray) -> None:
        """The sink: called on the kernels' threads."""
        with self._lock:
            while len(self._batches) >= _MAX_WAITING and not self._abandoned():
                self._not_full.wait(_STEP_SECONDS)
            if self._abandoned():
                raise InterruptedError("stopped by the caller")
            self._batches.append(batch)
            self._not_empty.notify()

    def report(self, done: int, units: int) -> None:
        """The run's progress: called from time to time on the thread that waits for the kernels."""
        self.done, self.units = done, units
        if self._abandoned():
            raise InterruptedError("stopped by the caller")

    def get(self, wait: float | None) -> AnyArray | None:
        """The next batch; None if none arrives within `wait` seconds (None: no limit) or if there are no more."""
        with self._lock:
            if not self._batches and not self.ended and not self.closed:
                self._not_empty.wait(wait)
            if self.closed or not self._batches:
                self.drained = self.closed or self.ended
                return None
            self._not_full.notify()
            return self._batches.popleft()

    def end(self, provenance: Provenance | None, error: BaseException | None) -> None:
        with self._lock:
            self.ended, self.provenance, self.error = True, provenance, error
            self._not_empty.notify_all()

    def close(self) -> None:
        self.control.stop()
        with self._lock:
            self.closed = True
            self._batches.clear()
            self._not_full.notify_all()
            self._not_empty.notify_all()

    def _abandoned(self) -> bool:
        """Whether the consumer is gone. The end of the program waits for these threads, so they must not block then."""
        return self.closed or not main_thread().is_alive()


def _produce(channel: _Channel, produce: Callable[[Sink, Control, Progress], Provenance]) -> None:
    try:
        channel.end(produce(channel.put, channel.control, channel.report), None)
    except BaseException as error:  # raised again in the consumer, unless the consumer has closed the stream
        channel.end(None, None if channel.closed else error)
