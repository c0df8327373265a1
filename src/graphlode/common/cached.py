"""A property that is computed once.

`functools.cached_property` of Python 3.11 computes under a lock that all objects of a class share. A child that was
forked meanwhile would wait for that lock without end. Here two threads may compute the same value at the same time, and
one of the results is kept, as in newer versions of Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):
    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> Self | T:
        if instance is None:
            return self
        value = self._compute(instance)
        # The next access finds the value there and does not come here.
        return instance.__dict__.setdefault(self._name, value)  # type: ignore[no-any-return]
