"""Checks of the generators' arguments: each returns a plain Python number or raises InputError."""

from __future__ import annotations

import math
import operator
from typing import Any

from graphlode.common.numbers import MOST_INTEGER, real
from graphlode.errors import InputError
from graphlode.types import MAX_NARROW_VERTICES

_SEEDS = 2**64


def integer(name: str, value: Any, *, least: int = 0, most: int | None = None, reason: str = "") -> int:
    """`value` as an int within [least, most]. `reason` is added to the message if the value exceeds `most`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be an integer, got {value!r}") from None
    if number < least:
        raise InputError(f"{name} must be at least {least}, got {number}")
    most = MOST_INTEGER if most is None else most
    if number > most:
        raise InputError(f"{name} must be at most {most}{f' ({reason})' if reason else ''}, got {number}")
    return number


def vertices(name: str, value: Any, *, least: int = 0) -> int:
    return integer(name, value, least=least, most=MAX_NARROW_VERTICES, reason="vertex ids have 32 bits here")


def random_seed(value: Any) -> int:
    return integer("seed", value, most=_SEEDS - 1)


def probability(name: str, value: Any) -> float:
    number = real(name, value)
    if not 0 <= number <= 1:
        raise InputError(f"{name} must be between 0 and 1, got {value!r}")
    return number


def quadrants(a: Any, b: Any, c: Any) -> tuple[float, float, float]:
    """The probabilities of three quadrants; the fourth has the rest."""
    given = probability("a", a), probability("b", b), probability("c", c)
    if math.fsum(given) > 1 + 1e-12:  # 0.57 + 0.19 + 0.24 may exceed 1 by rounding
        raise InputError(f"a + b + c must be at most 1, got {a!r} + {b!r} + {c!r} = {math.fsum(given):g}")
    return given
