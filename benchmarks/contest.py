"""Measures one case: our work and that of the peers on one input, timed in turn, with every answer verified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from benchmarks.quiet import on_quiet_core
from graphlode.errors import GraphlodeError
from graphlode.measure import PeakMemory, Samples, Timer, Work, sample_in_turn

OURS = "graphlode"
_TRIED_AGAIN_BELOW = 2.0  # seconds


class WrongAnswerError(GraphlodeError):
    """An answer differs from the expected one, or two answers to one question differ."""


@dataclass(frozen=True)
class Contender:
    """A library in a contest.

    `methods` are its ways to the answer. If there are several, each runs once and the fastest is timed. `answer` makes
    plain values of the result of a method, outside of the timed call. `share` is the part of the input that was
    processed, and `expected` its answer, if that differs from the answer for the whole. `part` returns the seconds that
    count from the result of a method, if these are not the whole call.
    """

    name: str
    version: str
    settings: str
    methods: dict[str, Callable[[], Any]]
    answer: Callable[[Any], Any] = lambda value: value
    setup: Callable[[], object] | None = None
    share: float = 1.0
    expected: Any = None
    part: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Contest:
    """`expected` is the answer that all must give; `sizes` are further numbers to record, such as the bytes of the
    result."""

    contenders: list[Contender]
    expected: Any
    expected_from: str
    sizes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """The samples of one contender with its fastest method."""

    contender: Contender
    method: str
    tried: dict[str, float]
    samples: Samples[None]

    def to_dict(self) -> dict[str, Any]:
        fields = {
            "version": self.contender.version,
            "settings": self.contender.settings,
            "method": self.method,
            "tried_seconds": self.tried,
            "seconds": list(self.samples.seconds),
        }
        return fields | ({"share": self.contender.share} if self.contender.share != 1 else {})


def measure(
    contest: Contest, repeats: int, warmup: int, settle: int = 0, *, quiet: bool = False, stays: int = 0
) -> tuple[dict[str, Measured], PeakMemory]:
    """Every contender's samples, and our peak memory in one more, untimed call. Raises WrongAnswerError."""
    chosen = {contender.name: _fastest_method(contest, contender) for contender in contest.contenders}
    works = {contender.name: _work(contest, contender, chosen[contender.name][0]) for contender in contest.contenders}
    if quiet:
        taken = _on_quiet_cores(works, repeats, warmup, settle, stays or repeats)
    else:
        taken = sample_in_turn(works, repeats=repeats, warmup=warmup, settle=settle)
    measured = {
        contender.name: Measured(contender, *chosen[contender.name], taken[contender.name])
        for contender in contest.contenders
    }
    return measured, _peak(works[OURS])


def _on_quiet_cores(
    works: dict[str, Work[Any]], repeats: int, warmup: int, settle: int, stays: int
) -> dict[str, Samples[Any]]:
    """Take `stays` samples at a time on the core that is fastest then."""
    seconds: dict[str, tuple[float, ...]] = dict.fromkeys(works, ())
    for done in range(0, repeats, stays):
        with on_quiet_core():
            taken = sample_in_turn(
                works, repeats=min(stays, repeats - done), warmup=0 if done else warmup, settle=settle
            )
        seconds = {name: seconds[name] + taken[name].seconds for name in works}
    return {name: Samples(seconds[name], taken[name].answer, warmup) for name in works}


def _fastest_method(contest: Contest, contender: Contender) -> tuple[str, dict[str, float]]:
    if len(contender.methods) == 1:
        return next(iter(contender.methods)), {}
    tried = {}
    for name in contender.methods:
        work = _work(contest, contender, name)
        seconds = _try(work)
        if seconds < _TRIED_AGAIN_BELOW:  # the first call of a library may set things up
            seconds = min(seconds, _try(work))
        tried[name] = seconds
    return min(tried, key=lambda name: tried[name]), tried


def _try(work: Work[Any]) -> float:
    if work.setup is not None:
        work.setup()
    with Timer() as timer:
        work.run()
    if work.check is not None:
        work.check(None)
    return timer.seconds


def _work(contest: Contest, contender: Contender, method: str) -> Work[Any]:
    """The work of one method. Its result is verified and released, so no answer is in memory while other methods
    run."""
    last: list[Any] = []

    def run() -> None:
        last[:] = [contender.methods[method]()]

    def check(_: Any) -> None:
        found = contender.answer(last.pop())
        expected = contest.expected if contender.expected is None else contender.expected
        if found != expected:
            raise WrongAnswerError(f"{contender.name} ({method}) answered {found}, expected {expected}")

    part = contender.part
    return Work(run, contender.setup, check, None if part is None else lambda _: part(last[0]))


def _peak(work: Work[Any]) -> PeakMemory:
    if work.setup is not None:
        work.setup()
    with PeakMemory() as peak:
        work.run()
    if work.check is not None:
        work.check(None)
    return peak
