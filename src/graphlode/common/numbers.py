"""Checks of numbers that users give: each returns a plain Python number or raises an InputError that names it."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from graphlode.errors import InputError

MOST_INTEGER = 2**63 - 1
"""Native code takes integers of 64 bits."""


def integer(name: str, value: Any, *, least: int = 0, most: int = MOST_INTEGER) -> int:
    """`value` as an int within [least, most]."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least or isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be an integer of at least {least}, got {_shown(value)}")
    if number > most:
        raise InputError(f"{name} must be an integer of at least {least} and at most {most}, got {_shown(value)}")
    return number


def real(name: str, value: Any) -> float:
    """`value` as a float, for the caller to compare: NaN lies in no range. A number beyond the floats is an infinity."""
    if not isinstance(value, int | float | np.integer | np.floating | np.bool_):
        raise InputError(f"{name} must be a number, got {_shown(value)}")
    try:
        with np.errstate(over="ignore"):
            number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    return number


def one_of_sizes(name: str, value: Any, sizes: tuple[int, ...]) -> int:
    """`value` as one of a few integers."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number not in sizes or isinstance(value, bool | np.bool_):
        names = ", ".join(map(str, sizes[:-1])) + f" or {sizes[-1]}"
        raise InputError(f"{name} must be {names}, got {_shown(value)}")
    assert number is not None
    return number


def _shown(value: Any) -> str:
    """As in code, but short: Python refuses to print integers of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)
