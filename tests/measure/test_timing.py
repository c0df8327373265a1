"""Samples: all kept, verified outside the clock, taken in turn."""

from __future__ import annotations

import gc
import time

import pytest

from graphlode.errors import InputError
from graphlode.measure import Timer, Work, sample, sample_in_turn


def test_a_timer_measures_its_block():
    with Timer() as timer:
        time.sleep(0.02)
    assert 0.02 <= timer.seconds < 2


def test_every_repeat_is_kept_and_warmup_is_not():
    calls = []
    samples = sample(lambda: calls.append(len(calls)) or len(calls), repeats=4, warmup=2)
    assert len(calls) == 6
    assert len(samples.seconds) == 4
    assert samples.answer == 6
    assert samples.warmup == 2
    assert samples.fastest <= samples.median <= samples.slowest


def test_setup_and_check_are_outside_the_clock_and_see_every_call():
    log = []
    samples = sample(
        lambda: log.append("run") or len(log),
        repeats=2,
        warmup=1,
        setup=lambda: (log.append("setup"), time.sleep(0.05)),
        check=lambda answer: (log.append("check"), time.sleep(0.05)),
    )
    assert log == ["setup", "run", "check"] * 3
    assert samples.slowest < 0.05


def test_a_failed_check_ends_the_measurement():
    def check(answer: int) -> None:
        raise AssertionError(f"wrong answer {answer}")

    with pytest.raises(AssertionError, match="wrong answer 5"):
        sample(lambda: 5, check=check)


def test_works_are_called_in_turn():
    log = []
    taken = sample_in_turn({n: Work(lambda n=n: log.append(n)) for n in "abc"}, repeats=2, warmup=1)
    assert "".join(log) == "abc" * 3
    assert {name: len(samples.seconds) for name, samples in taken.items()} == {"a": 2, "b": 2, "c": 2}


@pytest.mark.parametrize(("repeats", "warmup"), [(0, 1), (1, -1)])
def test_no_repeats_are_refused(repeats, warmup):
    with pytest.raises(InputError, match="repeats"):
        sample(lambda: 0, repeats=repeats, warmup=warmup)


@pytest.mark.parametrize("enabled", [True, False])
def test_python_collects_no_garbage_while_the_clock_runs(enabled):
    seen = []
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        sample(lambda: seen.append(gc.isenabled()), setup=lambda: seen.append(gc.isenabled()), repeats=2, warmup=0)
        assert seen == [enabled, False, enabled, False] and gc.isenabled() is enabled
        with pytest.raises(ZeroDivisionError):
            sample(lambda: 1 / 0)
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
