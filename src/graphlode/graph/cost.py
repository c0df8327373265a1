"""What a batch will cost on each path, and so which path to take.

    seconds = a + b * updates + c * entries rewritten

Entries rewritten are all of them for "merge" and "rebuild", and for "in place" those of the leaves that so many updates
are expected to meet. The three numbers are found on the device itself: a few timed batches on a scratch shard when it is
first used, and every real batch after that, older ones counting less and less. Errors count relative to the time, so
that small batches matter as much as large ones.

A path that is never taken would never be learned, however wrong its numbers are. So one that is expected to take little
longer than the best is tried now and then, less and less often as it goes on losing.

Batches that are small beside the store need no model: whatever the device, writing them in place touches far less.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import exp, sqrt
from operator import add, mul
from threading import Lock
from time import perf_counter

import numpy as np

from graphlode.packed import FILL, LEAF_SLOTS, Path

Matrix = Sequence[Sequence[float]]

CHOICES: tuple[Path, ...] = ("in place", "merge", "rebuild")

_SMALL_PART = 100  # with fewer than one update for so many entries, in place is certainly the path to take

_DECAY = 0.9
_ANCHOR = 0.01  # what calibration counts for beside recent batches: directions that they do not explore stay known
_SHORTEST = 1e-7
# So many observations are followed at once, later ones every so often or when they surprise by such a factor: solving
# takes as long as a small batch.
_EAGER = 8
_LATER = 64
_SURPRISE = 3.0
_SINGULAR = 1e-9  # what is left of a feature beside others, if it says nothing that these do not
_SUBSETS = {n: [c for size in range(n, 0, -1) for c in combinations(range(n), size)] for n in (1, 2, 3)}
_WORTH_A_TRY = 2.5  # times what the best path is expected to take
_FIRST_WAIT, _LONGEST_WAIT = 8, 1024  # choices that go by before a path is tried; twice as many after each try


class DecayingFit:
    """Non-negative least squares over observations that fade: y = c0 * x0 + c1 * x1 + .."""

    def __init__(self, num_features: int, decay: float = _DECAY) -> None:
        self._decay = decay
        self._squares = [[0.0] * num_features for _ in range(num_features)]  # plain numbers: there are few
        self._products = [0.0] * num_features
        self._anchor = copy.deepcopy((self._squares, self._products))
        self._found: tuple[float, ...] | None = None
        self.observations = 0

    def observe(self, features: tuple[float, ...], seconds: float) -> None:
        y = max(seconds, _SHORTEST)
        # Relative to the geometric mean of what was expected and what came: relative to the latter alone, a device that
        # gets slower would hardly be believed.
        expected = y if not self.observations else min(max(self.predict(features), y / 100), y * 100)
        weight = 1 / (y * expected)
        for i, x in enumerate(features):
            row = self._squares[i]
            for j, other in enumerate(features):
                row[j] = self._decay * row[j] + weight * x * other
            self._products[i] = self._decay * self._products[i] + weight * x * y
        self.observations += 1
        surprise = max(y, expected) > _SURPRISE * min(y, expected)
        if surprise or self.observations <= _EAGER or self.observations % _LATER == 0:
            self._found = None

    def anchor(self) -> None:
        """Never forget altogether what has been observed so far."""
        self._anchor = ([[_ANCHOR * x for x in row] for row in self._squares], [_ANCHOR * x for x in self._products])

    def predict(self, features: tuple[float, ...]) -> float:
        return float(sum(map(mul, self.coefficients(), features)))

    def coefficients(self) -> tuple[float, ...]:
        """The best ones that are not negative; where several are as good, none stands out."""
        if self._found is None:
            squares = [list(map(add, kept, row)) for kept, row in zip(self._anchor[0], self._squares, strict=True)]
            self._found = tuple(_non_negative(squares, list(map(add, self._anchor[1], self._products))))
        return self._found


def _non_negative(squares: Matrix, products: Sequence[float]) -> list[float]:
    """The minimum over all subsets of the features; they are two or three."""
    count = len(products)
    scale = [sqrt(max(squares[i][i], 1e-300)) for i in range(count)]
    matrix = [[squares[i][j] / (scale[i] * scale[j]) for j in range(count)] for i in range(count)]
    right = [products[i] / scale[i] for i in range(count)]
    best, lowest = [0.0] * count, 0.0
    for chosen in _SUBSETS[count]:
        found = _solution(matrix, right, chosen)
        if min(found) < 0:
            continue
        value = sum(
            x * (sum(y * matrix[i][j] for y, j in zip(found, chosen, strict=True)) - 2 * right[i])
            for x, i in zip(found, chosen, strict=True)
        )
        if value < lowest - 1e-9 * abs(lowest):
            lowest = value
            best = [0.0] * count
            for x, i in zip(found, chosen, strict=True):
                best[i] = x
        if lowest < 0 and len(chosen) == count:
            break  # the minimum without the condition fulfils it
    return [x / unit for x, unit in zip(best, scale, strict=True)]


def _solution(matrix: Matrix, right: Sequence[float], chosen: tuple[int, ...]) -> list[float]:
    """Of the equations of these features, by elimination; by least squares, which takes far longer, where that fails."""
    rows = [[*(matrix[i][j] for j in chosen), right[i]] for i in chosen]
    for i, row in enumerate(rows):
        if row[i] < _SINGULAR:
            square = np.array([[matrix[i][j] for j in chosen] for i in chosen])
            least: list[float] = np.linalg.lstsq(square, np.array([right[i] for i in chosen]), rcond=1e-10)[0].tolist()
            return least
        for other in rows[i + 1 :]:
            factor = other[i] / row[i]
            for j in range(i, len(row)):
                other[j] -= factor * row[j]
    found = [0.0] * len(chosen)
    for i in range(len(chosen) - 1, -1, -1):
        behind = sum(rows[i][j] * found[j] for j in range(i + 1, len(chosen)))
        found[i] = (rows[i][-1] - behind) / rows[i][i]
    return found


def entries_rewritten(path: Path, updates: int, entries: int) -> float:
    """How many entries a batch is expected to write again."""
    if path in ("merge", "rebuild"):
        return float(entries + updates)
    leaves = max(1.0, entries / (LEAF_SLOTS * FILL))
    return leaves * (1 - exp(-updates / leaves)) * LEAF_SLOTS


def rule_of_thumb(updates: int, entries: int) -> Path:
    """The path to take when nothing is known of the device."""
    if updates >= entries:
        return "rebuild"
    return "merge" if updates * LEAF_SLOTS >= entries else "in place"


def certainly_in_place(updates: int, entries: int) -> bool:
    """Whether a batch is so small beside the store that no other path can be faster."""
    return 0 < updates * _SMALL_PART <= entries


class CostModel:
    """The costs of one device. Safe to use from several threads."""

    def __init__(self) -> None:
        self._fits = {path: DecayingFit(3) for path in CHOICES}
        self._passed_over = dict.fromkeys(CHOICES, 0)
        self._waits = dict.fromkeys(CHOICES, _FIRST_WAIT)
        self._lock = Lock()
        self.calibrated = False

    def observe(self, path: str, updates: int, entries: int, seconds: float) -> None:
        """A batch of so many updates to so many entries took so long. Paths that are never chosen are not learned."""
        for known, fit in self._fits.items():
            if known == path:
                with self._lock:
                    fit.observe(_features(known, updates, entries), seconds)

    def predict(self, path: Path, updates: int, entries: int) -> float | None:
        """Seconds; None if nothing is known."""
        with self._lock:
            fit = self._fits[path]
            return fit.predict(_features(path, updates, entries)) if fit.observations else None

    def choose(self, updates: int, entries: int) -> Path:
        """The path that is expected to take least, or one whose turn it is to show whether that is true."""
        if entries == 0:
            return "rebuild"
        if certainly_in_place(updates, entries):
            return "in place"
        costs = {}
        for path in CHOICES:
            cost = self.predict(path, updates, entries)
            if cost is None:
                return rule_of_thumb(updates, entries)
            costs[path] = cost
        best = min(CHOICES, key=costs.__getitem__)
        with self._lock:
            return self._in_turn(best, costs)

    def _in_turn(self, best: Path, costs: dict[Path, float]) -> Path:
        """A path that was often passed over though it is not much worse; else the best."""
        if self._passed_over[best]:  # it was passed over before: it may be again, and should not wait long then
            self._passed_over[best], self._waits[best] = 0, _FIRST_WAIT
        for path in CHOICES:
            if path != best and costs[path] < _WORTH_A_TRY * costs[best]:
                self._passed_over[path] += 1
                if self._passed_over[path] > self._waits[path]:
                    self._passed_over[path] = 0
                    self._waits[path] = min(2 * self._waits[path], _LONGEST_WAIT)
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
                fit.anchor()
            self.calibrated = True


Trial = Iterator[tuple[Path, int, int, float]]
"""Timed batches: path, updates, entries before, seconds."""

_SIZES = (256, 2048, 16_384, 131_072, 1_048_576, 4_194_304)


def trial_batches(size: int) -> list[tuple[Path, int]]:
    """The batches that a scratch shard of `size` entries is given: of one update, which tells what the entries cost alone,
    and of more, though not so many that all pages of the shard, which are filled alike, overflow at once."""
    return [(path, updates) for updates in (1, size // 256, size // 32) for path in CHOICES]


def _features(path: Path, updates: int, entries: int) -> tuple[float, ...]:
    return 1.0, float(updates), entries_rewritten(path, updates, entries)
