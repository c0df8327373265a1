"""Streams: batches in order, bounded memory; errors, ends and stops arrive."""

from __future__ import annotations

import multiprocessing
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest

from graphlode.common.control import Control
from graphlode.common.wait import Progress
from graphlode.execute.provenance import Provenance
from graphlode.execute.stream import Sink, Stream

PROVENANCE = Provenance("made", 0, ("nowhere",), "by hand", 0.0)


def counting(last: int, seen: list[int] | None = None, error: Exception | None = None) -> Any:
    def produce(sink: Sink, control: Control, report: Progress) -> Provenance:
        for number in range(last):
            if seen is not None:
                seen.append(number)
            sink(np.array([number]))
            report(number, last)
        if error is not None:
            raise error
        return PROVENANCE

    return produce


def test_batches_come_in_order_and_provenance_after_them() -> None:
    stream = Stream(counting(100))
    for expected, batch in enumerate(stream):
        assert batch.tolist() == [expected]
        assert stream.provenance is None
    assert expected == 99 and stream.provenance is PROVENANCE


def test_a_caller_who_is_slow_is_not_run_away_from() -> None:
    seen: list[int] = []
    with Stream(counting(1000, seen)) as stream:
        next(stream)
        time.sleep(0.2)
        assert len(seen) < 20
    assert len(seen) < 20


def test_what_was_made_before_an_error_is_given_before_it() -> None:
    stream = Stream(counting(3, error=KeyError("inside")))
    assert [next(stream).item() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="inside"):
        next(stream)
    with pytest.raises(StopIteration):
        next(stream)
    assert stream.provenance is None


def test_closing_stops_the_sink_and_the_control() -> None:
    ended: list[str] = []

    def produce(sink: Sink, control: Control, report: Progress) -> Provenance:
        try:
            while True:
                sink(np.zeros(1))
        except InterruptedError:
            ended.append("sink")
        with pytest.raises(InterruptedError):
            control.check()
        with pytest.raises(InterruptedError):
            report(0, 1)
        ended.append("control")
        return PROVENANCE

    stream = Stream(produce)
    next(stream)
    stream.close()
    assert ended == ["sink", "control"]
    assert stream.provenance is None and list(stream) == []
    stream.close()


def test_sinks_of_many_threads_lose_nothing() -> None:
    def produce(sink: Sink, control: Control, report: Progress) -> Provenance:
        def work(first: int) -> None:
            for number in range(first, first + 200):
                sink(np.array([number]))

        threads = [threading.Thread(target=work, args=(1000 * i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return PROVENANCE

    found = sorted(batch.item() for batch in Stream(produce))
    assert found == [1000 * i + number for i in range(8) for number in range(200)]


def test_progress_ends_with_everything() -> None:
    reports: list[tuple[int, int]] = []

    def produce(sink: Sink, control: Control, progress: Progress) -> Provenance:
        for done in range(4):
            progress(done, 4)
            time.sleep(0.12)
            sink(np.zeros(1))
        progress(4, 4)
        return PROVENANCE

    assert len(list(Stream(produce, lambda done, total: reports.append((done, total))))) == 4
    assert reports[-1] == (4, 4) and reports.count((4, 4)) == 1
    assert len(reports) >= 3


def test_a_forked_child_releases_a_stream_whose_lock_was_held_at_the_fork() -> None:
    """The thread that held it is not in the child: so waiting for the lock there would never end."""
    stream = Stream(counting(1000))
    next(stream)
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with stream._channel._lock:
            held.set()
            let_go.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(30)
    context = multiprocessing.get_context("fork")
    child = context.Process(target=release, args=(stream,))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of any fork of a process with threads
        child.start()
    child.join(20)
    let_go.set()
    holder.join()
    ended = child.exitcode
    child.kill()
    assert ended == 0
    assert next(stream).tolist() == [1]  # the parent's goes on
    stream.close()


def release(stream: Stream) -> None:
    stream.close()
    stream.__del__()
