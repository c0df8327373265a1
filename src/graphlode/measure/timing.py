"""Timing that keeps every sample."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any, Generic, TypeVar

from graphlode.errors import InputError

T = TypeVar("T")


class Timer:
    """Seconds spent in a `with` block.

    >>> with Timer() as timer:
    ...     total = sum(range(1000))
    >>> timer.seconds > 0
    True
    """

    seconds: float = 0.0

    def __enter__(self) -> Timer:
        self._start = perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = perf_counter() - self._start


@dataclass(frozen=True)
class Samples(Generic[T]):
    """The seconds of every repeat, in order, and the answer of the last one."""

    seconds: tuple[float, ...]
    answer: T
    warmup: int

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def fastest(self) -> float:
        return min(self.seconds)

    @property
    def slowest(self) -> float:
        return max(self.seconds)


@dataclass(frozen=True)
class Work(Generic[T]):
    """The timed call (`run`), the preparation before each call (`setup`) and the check of each answer (`check`).

    If only a part of the run counts, `part` returns its seconds from the answer.
    """

    run: Callable[[], T]
    setup: Callable[[], object] | None = None
    check: Callable[[T], object] | None = None
    part: Callable[[T], float] | None = None


def sample(
    run: Callable[[], T],
    *,
    repeats: int = 5,
    warmup: int = 1,
    setup: Callable[[], object] | None = None,
    check: Callable[[T], object] | None = None,
) -> Samples[T]:
    """Time `run()` `repeats` times after `warmup` untimed calls.

    `setup()` runs before and `check(answer)` after every call, including the warm-up; both are untimed. An error that
    `check` raises ends the measurement.
    """
    return sample_in_turn({"": Work(run, setup, check)}, repeats=repeats, warmup=warmup)[""]


def sample_in_turn(
    works: Mapping[str, Work[Any]], *, repeats: int = 5, warmup: int = 1, settle: int = 0
) -> dict[str, Samples[Any]]:
    """Time several works in one run: each round calls each of them once.

    Changes on the machine during the run thus affect all of them equally. Each timed call directly follows `settle`
    untimed calls of the same work, so that clocks and threads are not as the previous work left them. The garbage
    collector is off during timed calls, as in `timeit`: otherwise one call would pay for the garbage of many. Raises
    InputError for numbers out of range.
    """
    if repeats < 1 or warmup < 0 or settle < 0:
        raise InputError(
            f"repeats must be at least 1, warmup and settle at least 0, got {repeats}, {warmup} and {settle}"
        )
    seconds: dict[str, list[float]] = {name: [] for name in works}
    answers: dict[str, Any] = {}
    for turn in range(warmup + repeats):
        for name, work in works.items():
            for _ in range(settle):
                _untimed(work)
            if work.setup is not None:
                work.setup()
            answers.pop(name, None)  # the last answer must not occupy memory while the next one is computed
            with _without_collections(), Timer() as timer:
                answer = work.run()
            taken = timer.seconds if work.part is None else work.part(answer)
            if work.check is not None:
                work.check(answer)
            if turn >= warmup:
                seconds[name].append(taken)
            answers[name] = answer
            del answer
    return {name: Samples(tuple(seconds[name]), answers[name], warmup) for name in works}


@contextmanager
def _without_collections() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _untimed(work: Work[Any]) -> None:
    if work.setup is not None:
        work.setup()
    answer = work.run()
    if work.check is not None:
        work.check(answer)
