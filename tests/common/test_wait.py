"""Running work on other threads: results and errors are passed on, and Ctrl-C leaves nothing running."""

from __future__ import annotations

import os
import signal
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Timer
from time import sleep
from typing import Any

import pytest

from graphlode.common.control import Control
from graphlode.common.wait import Interrupts, run_all


@pytest.mark.parametrize("seconds", [0.0, 0.003, 0.08])
def test_a_result_arrives_after_any_time(seconds: float) -> None:
    def work() -> int:
        sleep(seconds)
        return 7

    with ThreadPoolExecutor(1) as pool:
        assert run_all([(pool, work)], Control()) == [7]


@pytest.mark.parametrize("error", [TimeoutError("the work's own"), ValueError("wrong")])
def test_an_error_of_the_work_is_raised_as_it_is(error: Exception) -> None:
    def work() -> Any:
        sleep(0.002)
        raise error

    control = Control()
    with ThreadPoolExecutor(1) as pool, pytest.raises(type(error), match=str(error)):
        run_all([(pool, work)], control)
    with pytest.raises(InterruptedError):
        control.check()  # the others that share the work have been stopped


def test_a_future_that_failed_with_a_timeout_before_is_not_waited_for_again() -> None:
    class Done:
        def submit(self, work: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(TimeoutError("long ago"))
            return future

    with pytest.raises(TimeoutError, match="long ago"):
        run_all([(Done(), lambda: 1)], Control())


def test_results_come_in_order_and_progress_is_reported() -> None:
    reports: list[tuple[int, int]] = []
    control = Control()

    def work(number: int) -> int:
        sleep(0.15 - number / 20)
        control.advance(5)
        return number

    with ThreadPoolExecutor(2) as pool:
        found = run_all(
            [(pool, lambda: work(0)), (pool, lambda: work(1))], control, lambda *report: reports.append(report), 10
        )
    assert found == [0, 1] and reports[-1] == (10, 10)


def test_many_interrupts_wait_until_the_work_has_ended() -> None:
    """However many come, the work has ended when the first of them is raised."""
    control, ended = Control(), Event()

    def work() -> None:
        while not control.words[0]:
            sleep(0.01)
        sleep(0.2)  # a kernel that takes its time
        ended.set()

    timers = [Timer(0.05 + 0.02 * number, lambda: os.kill(os.getpid(), signal.SIGINT)) for number in range(6)]
    for timer in timers:
        timer.start()
    with ThreadPoolExecutor(1) as pool, pytest.raises(KeyboardInterrupt):
        run_all([(pool, work)], control)
    assert ended.is_set()
    for timer in timers:
        timer.join()


def test_work_that_waits_behind_the_work_of_others_is_dropped_at_once() -> None:
    release, begun = Event(), []
    with ThreadPoolExecutor(1) as pool:
        pool.submit(release.wait)
        Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            run_all([(pool, lambda: begun.append(1))], Control())
        release.set()
    assert not begun


def test_a_handler_that_does_not_raise_has_its_effect_at_once() -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with Interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            sleep(0.01)
            assert seen == [1]
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_that_is_set_inside_stays() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        with Interrupts():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
