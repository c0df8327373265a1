"""Waiting for one worker: short steps first; results and errors of the work are passed on."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from time import sleep
from typing import Any

import pytest

from graphlode.common.control import Control
from graphlode.common.wait import wait_all


@pytest.mark.parametrize("seconds", [0.0, 0.003, 0.08])
def test_a_result_arrives_after_any_time(seconds: float) -> None:
    def work() -> int:
        sleep(seconds)
        return 7

    with ThreadPoolExecutor(1) as pool:
        assert wait_all([pool.submit(work)], Control()) == [7]


@pytest.mark.parametrize("error", [TimeoutError("the work's own"), ValueError("wrong")])
def test_an_error_of_the_work_is_raised_as_it_is(error: Exception) -> None:
    def work() -> Any:
        sleep(0.002)
        raise error

    control = Control()
    with ThreadPoolExecutor(1) as pool, pytest.raises(type(error), match=str(error)):
        wait_all([pool.submit(work)], control)
    with pytest.raises(InterruptedError):
        control.check()  # the others that share the work have been stopped


def test_a_future_that_failed_with_a_timeout_before_is_not_waited_for_again() -> None:
    future: Future[int] = Future()
    future.set_exception(TimeoutError("long ago"))
    with pytest.raises(TimeoutError, match="long ago"):
        wait_all([future], Control())
