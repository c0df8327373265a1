"""What a batch will cost on each path, and so which path to take.

    seconds = a + b * updates + c * entries rewritten

Entries rewritten are all of them for "merge" and "rebuild", and for "in place" those of the leaves that so many updates
are expected to meet. The three numbers are found on the device itself: a few timed batches on a scratch shard when it is
first used, and every real batch after that but the first ones after another path, older ones counting less and less.
Errors count relative to the time, so that small batches matter as much as large ones.

A path that is never taken would never be learned, however wrong its numbers are. So one that is expected to take little
longer than the best is tried now and then, less and less often as it goes on losing; and what small shards have shown
says little of far larger ones, where the paths that may be best are tried first. It is tried several times in a row, and
the last ones tell: after another path the first ones wait for memory, so that one alone would lose for ever. One that
real batches have shown to be far worse waits for its turn as many times as long, since the machine may have been busy;
what calibration alone has shown keeps none of "in place" and "merge" from being tried.

All paths take longer while the machine is busy, but only the one that is taken shows it. So another one is believed to
take as many times as long as the usual one as it did when it was last tried.

Batches that are small beside the store need no model: whatever the device, writing them in place touches far less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import exp, inf
from threading import Lock
from time import perf_counter
from typing import NamedTuple

from graphlode.common.store import FILL, LEAF_SLOTS, Path, certainly_in_place
from graphlode.cpu.store.fit import DecayingFit

CHOICES: tuple[Path, ...] = ("in place", "merge", "rebuild")

_ANCHOR = 0.01  # what calibration counts for beside recent batches: directions that they do not explore stay known
_FAR = 4  # times as many entries as a path was ever seen with: nothing is known of it
_UNCERTAIN: tuple[Path, ...] = ("merge", "in place")  # that are tried there,
_TRIES = 4  # so many times in a row,
_UNTOLD = 2  # of which the first ones tell nothing
_REBUILT_FROM = 8  # with fewer than one update for so many entries, sorting all of them anew is out of the question
_KINDS_KNOWN = 15  # beside that of the last batch
_ALIKE = 2  # times as many updates and entries: what was seen there is true here
_SHORTEST = 1e-9  # seconds
_WORTH_A_TRY = 2.5  # times what the best path is expected to take
_WORTH_A_FIRST_TRY = 4.0  # the same, if no batch like it took the path
_WORTH_ANOTHER_TRY = 10.0  # the same, if all that took it may have had to wait for something
_PATIENCE = 6  # choices for one that go by before a path is tried that is not worth it, for each time it takes the best
_FEWEST_TOLD = 2  # real batches without which one of those two is worth a try whatever it is expected to take
_FIRST_WAIT, _LONGEST_WAIT = 8, 1024  # choices that go by before a path is tried; twice as many the next time


def entries_rewritten(path: Path, updates: int, entries: int) -> float:
    """How many entries a batch is expected to write again."""
    if path in ("merge", "rebuild"):
        return float(entries + updates)
    leaves = max(1.0, entries / (LEAF_SLOTS * FILL))
    return leaves * (1 - exp(-updates / leaves)) * LEAF_SLOTS


def rule_of_thumb(updates: int, entries: int, *, in_place: bool = True) -> Path:
    """The path to take when nothing is known of the device."""
    if updates >= entries:
        return "rebuild"
    return "in place" if in_place and updates * LEAF_SLOTS < entries else "merge"


class Kind(NamedTuple):
    """Batches alike, by one of them: what is true of it is true of them, as far as paths are concerned."""

    updates: int
    entries: int

    def has(self, updates: int, entries: int) -> bool:
        some, of = self
        if some > _ALIKE * updates or updates > _ALIKE * some:
            return False
        return of <= _ALIKE * entries and entries <= _ALIKE * of


class CostModel:
    """The costs of one device. Safe to use from several threads."""

    def __init__(self) -> None:
        self._fits = {path: DecayingFit(3) for path in CHOICES}
        self._passed_over = dict.fromkeys(CHOICES, 0)
        self._waits = dict.fromkeys(CHOICES, _FIRST_WAIT)
        self._most_entries = dict.fromkeys(CHOICES, 0)  # that a path was seen with
        self._tries = dict.fromkeys(CHOICES, 0)  # of far more
        self._usual: Path = "in place"  # what was chosen last, tries aside
        self._compared: dict[Path, tuple[Kind, float]] = {}  # other paths: how many times as long as the usual one
        self._told = dict.fromkeys(CHOICES, 0)  # batches that were learned from, those of calibration aside
        self._seen = dict.fromkeys(CHOICES, (Kind(0, 0), 0))  # what took a path last, and how many like it did
        self._last: tuple[Path, Kind, int] = "in place", Kind(0, 0), 0  # observed, and so many of it in a row
        # Kinds of late, and of how many of each in a row nothing was learned.
        self._untold: list[tuple[Kind, int]] = []
        self._trying: tuple[Path, Kind, int] | None = None  # what is tried with which batches, so many times more
        self._lock = Lock()
        self._knows_all = False  # paths
        self.calibrated = False

    def observe(self, path: Path, updates: int, entries: int, seconds: float) -> None:
        """A batch of so many updates to so many entries took so long. Paths that are never chosen are not learned."""
        fit = self._fits.get(path)
        if fit is None:
            return
        with self._lock:
            self._note_size(path, entries)
            kind = Kind(updates, entries)
            self._seen[path] = kind, self._times_seen(path, updates, entries) + 1
            self._note_try(path, kind)
            if not self._note_row(path, kind):
                return
            fit.observe(_features(path, updates, entries), seconds)
            self._told[path] += self.calibrated
            if path != self._usual:
                self._compare(path, kind, seconds)

    def predict(self, path: Path, updates: int, entries: int) -> float | None:
        """Seconds; None if nothing is known."""
        with self._lock:
            fit = self._fits[path]
            return fit.predict(_features(path, updates, entries)) if fit.observations else None

    def choose(self, updates: int, entries: int, *, in_place: bool = True) -> Path:
        """The path that is expected to take least, or one whose turn it is to show whether that is true.

        Without `in_place` that path is out of the question.
        """
        if entries == 0:
            return "rebuild"
        if in_place and certainly_in_place(updates, entries):
            return "in place"
        with self._lock:
            if not self._knows():
                return rule_of_thumb(updates, entries, in_place=in_place)
            if self._trying is not None and (tried := self._try_again(updates, entries, in_place=in_place)) is not None:
                return tried
            for path in _UNCERTAIN:
                if self._is_far(path, entries) and (path != "in place" or (in_place and updates < entries)):
                    return path
            costs = self._costs(updates, entries, in_place=in_place)
            best = min(costs, key=costs.__getitem__)
            if self._usual == "in place" and not in_place:  # for once
                return best
            if best != self._usual:
                self._change_usual(best, Kind(updates, entries))
            return self._in_turn(best, costs, updates, entries)

    def choose_instead(self, updates: int, entries: int) -> Path:
        """The path that is expected to take least but "in place", for a batch that may never come: none is tried for it, and
        nothing is noted."""
        with self._lock:
            if not self._knows():
                return rule_of_thumb(updates, entries, in_place=False)
            if self._is_far("merge", entries):
                return "merge"
            costs = self._costs(updates, entries, in_place=False)
            return min(costs, key=costs.__getitem__)

    def _knows(self) -> bool:
        """Whether something is known of all paths."""
        self._knows_all = self._knows_all or all(fit.observations for fit in self._fits.values())
        return self._knows_all

    def _costs(self, updates: int, entries: int, *, in_place: bool) -> dict[Path, float]:
        """The seconds that each path that makes sense is expected to take."""
        makes_sense = {"in place": in_place, "merge": True, "rebuild": updates * _REBUILT_FROM >= entries}
        costs = {
            path: max(fit.predict(_features(path, updates, entries)), _SHORTEST)
            for path, fit in self._fits.items()
            if makes_sense[path]
        }
        self._correct(costs, updates, entries)
        return costs

    def _times_seen(self, path: Path, updates: int, entries: int) -> int:
        """How many batches like this one took a path, since another kind did."""
        kind, times = self._seen[path]
        return times if kind.has(updates, entries) else 0

    def _compare(self, path: Path, kind: Kind, seconds: float) -> None:
        """With what the usual path takes, if that is known. Of a few tries the best one counts: any may be interrupted."""
        before = self._compared.pop(path, None)
        if not self._times_seen(self._usual, *kind):
            return
        usual = self._fits[self._usual].predict(_features(self._usual, *kind))
        times, in_row = seconds / max(usual, _SHORTEST), self._last[2]
        if before is not None and _UNTOLD + 1 < in_row <= _TRIES:
            times = min(times, before[1])
        self._compared[path] = kind, times

    def _change_usual(self, best: Path, kind: Kind) -> None:
        """What a try has shown holds the other way round: what the new usual path takes is hardly known yet."""
        tried = self._compared.get(best)
        self._compared.clear()
        if tried is not None and tried[0].has(*kind):
            self._compared[self._usual] = kind, 1 / max(tried[1], _SHORTEST)
        self._usual = best

    def _note_row(self, path: Path, kind: Kind) -> bool:
        """Whether a batch tells what its path takes. One of the first after others, or after another path, does not, unless
        none like it does, where kinds or paths take turns."""
        last, its, in_row = self._last
        if last != path or not its.has(*kind):
            in_row = 0
        self._last = path, kind, in_row + 1
        is_first = self.calibrated and in_row < _UNTOLD
        if not is_first and in_row > _UNTOLD:  # one of many, so that there is nothing to look for
            self._untold[-1] = kind, 0
            return True
        untold, others = 0, []
        for other in self._untold:
            if other[0].has(*kind):
                untold = max(untold, other[1])
            else:
                others.append(other)
        untold = 1 + untold if is_first else 0
        self._untold = [*others[-_KINDS_KNOWN:], (kind, untold)]
        return untold == 0 or untold > _TRIES

    def _note_try(self, path: Path, kind: Kind) -> None:
        """One of the tries was made, if it is one. Not when it is chosen, since not all that is chosen is done."""
        if self._trying is not None and self._trying[0] == path and self._trying[1].has(*kind):
            left = self._trying[2] - 1
            self._trying = (path, self._trying[1], left) if left else None

    def _try_again(self, updates: int, entries: int, *, in_place: bool) -> Path | None:
        """What is being tried, if the batch is like those that it is tried with."""
        assert self._trying is not None
        path, kind, _ = self._trying
        return path if kind.has(updates, entries) and (path != "in place" or in_place) else None

    def _correct(self, costs: dict[Path, float], updates: int, entries: int) -> None:
        """What was compared with the usual path takes so many times as long as that does now."""
        now = costs.get(self._usual)
        for path, (kind, times) in self._compared.items():
            if now is not None and path in costs and kind.has(updates, entries):
                costs[path] = max(now * times, _SHORTEST)

    def _is_far(self, path: Path, entries: int) -> bool:
        return entries > _FAR * self._most_entries[path]

    def _note_size(self, path: Path, entries: int) -> None:
        """A path was seen with so many entries; if these are far more than ever, that does not count before some tries."""
        if self.calibrated and self._is_far(path, entries):
            self._tries[path] += 1
            if self._tries[path] < _TRIES:
                return
        self._tries[path], self._most_entries[path] = 0, max(self._most_entries[path], entries)

    def _patience(self, path: Path, times: float, updates: int, entries: int) -> float:
        """How many times as long as one that is worth a try a path waits for its turn, which is expected to take so many
        times what the best does; 0: for ever. Whatever was learned may be wrong, so only those do that sort all anew."""
        if times < self._worth(path, updates, entries):
            return 1.0
        return _PATIENCE * times if path in _UNCERTAIN else 0.0

    def _worth(self, path: Path, updates: int, entries: int) -> float:
        """How many times as long as the best path one may take to be worth a try.

        Calibration knows batches of far fewer updates: one of them that was interrupted shows in what it says of these.
        """
        makes_sense = path == "merge" or (path == "in place" and updates < entries)
        if makes_sense and self._told[path] < _FEWEST_TOLD:
            return inf
        seen = self._times_seen(path, updates, entries)
        if seen >= _TRIES:
            return _WORTH_A_TRY
        return _WORTH_ANOTHER_TRY if seen else _WORTH_A_FIRST_TRY

    def _in_turn(self, best: Path, costs: dict[Path, float], updates: int, entries: int) -> Path:
        """A path that was often passed over though it is not much worse, or was seen too few times; else the best."""
        if self._passed_over[best]:  # it was passed over before: it may be again, and should not wait long then
            self._passed_over[best], self._waits[best] = 0, _FIRST_WAIT
        for path in costs:
            if path != best and (patience := self._patience(path, costs[path] / costs[best], updates, entries)):
                self._passed_over[path] += 1
                if self._passed_over[path] > patience * self._waits[path]:
                    self._passed_over[path] = 0
                    self._waits[path] = min(2 * self._waits[path], _LONGEST_WAIT)
                    self._trying = path, Kind(updates, entries), _TRIES
                    return path
        return best

    def calibrate(self, trial: Callable[[int], Trial], *, budget: float = 0.2) -> None:
        """Time batches on scratch shards of growing size, as long as the next one should end within so many seconds.

        A trial of eight times the size takes up to eight times as long, and hardly longer on a device whose small
        batches cost little but their start: the last two trials tell.
        """
        begun = last = perf_counter()
        before = 0.0
        for size, following in zip(_SIZES, (*_SIZES[1:], _SIZES[-1]), strict=True):
            timed = list(trial(size))
            now = perf_counter()
            taken = now - last
            if size > _SIZES[0]:  # the first one meets whatever is loaded or compiled at first use
                for path, updates, entries, seconds in timed:
                    self.observe(path, updates, entries, seconds)
                growth = min(max(taken / before, 1.0), 8.0) if before else 8.0
                if now - begun + taken * min(growth * 1.5, following / size) > budget:
                    break
                before = taken
            last = now
        with self._lock:
            for fit in self._fits.values():
                fit.anchor(_ANCHOR)
            self.calibrated = True


Trial = Iterator[tuple[Path, int, int, float]]
"""Timed batches: path, updates, entries before, seconds."""

_SIZES = (256, 2048, 16_384, 131_072, 1_048_576, 4_194_304)


def trial_batches(size: int) -> list[tuple[Path, int]]:
    """The batches that a scratch shard of `size` entries is given, each twice: of one update, which tells what the entries
    cost alone, and of more, though not so many that all pages of the shard, which are filled alike, overflow at once."""
    return [(path, updates) for updates in (1, size // 256, size // 64) for path in CHOICES]


def _features(path: Path, updates: int, entries: int) -> tuple[float, ...]:
    return 1.0, float(updates), entries_rewritten(path, updates, entries)
