"""The control: stop and progress words, and dependent controls."""

from __future__ import annotations

import pytest

from graphlode.common.control import Control


def test_a_stop_takes_effect_at_the_next_check() -> None:
    control = Control()
    control.check()
    control.stop()
    with pytest.raises(InterruptedError, match="stopped by the caller"):
        control.check()


def test_units_add_up() -> None:
    control = Control()
    control.advance(3)
    control.advance(4)
    assert control.done == 7


def test_a_control_beside_stops_too_and_counts_for_itself() -> None:
    control = Control()
    before = control.beside()
    before.advance(5)
    assert control.done == 0 and before.done == 5
    control.stop()
    after = control.beside()
    for other in (before, after):
        with pytest.raises(InterruptedError):
            other.check()


def test_a_control_beside_does_not_stop_the_first() -> None:
    control = Control()
    control.beside().stop()
    control.check()
