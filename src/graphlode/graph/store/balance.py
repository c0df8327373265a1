"""Which part of the rows each shard should have, so that batches are over soon.

Every shard's time is fitted as t = a + b * updates over the batches it has seen. For a batch of the usual size there is
one finish time T at which the parts (T - a) / b make up the whole batch; a shard that could not even begin before T gets
nothing. A batch that is split takes a while beyond its slowest part: it is cut on the host and handed to workers. So
where one device leads all others by far, as a GPU does beside CPU cores, it begins with all rows, and splits must show
that they are worth while. A leader is never left without rows: graphs are searched where their rows are.

Rows move when what their new places would have saved so far outweighs the move.

A device whose memory was full gets no more rows than it was left with, until the graph is smaller.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphlode.common.buckets import NUM_SLOTS
from graphlode.cpu.store.fit import DecayingFit

EVERY = 32
"""Batches between two looks at the shares."""

_LEAST_RATE = 1e-12
_LEAST_WALL = 1e-6  # seconds
_HOPE = 0.97  # a shard that has nothing to do is believed to be so much faster at every look, until it is tried again
_LEADS = 2.0  # a leader's nominal speed, in that of the next device
_WORTH = 0.95  # a split must take at most so much of what the leader takes alone
_SPLITTING = (2e-4, 1e-8)  # seconds beyond the slowest part, and per update, until there was a split batch
# While a shard takes all batches alone, what it costs to look at them must not be noticed beside them:
_NOTED = 8  # one of so many is noted, or
_NOTED_EVERY = 2e-3  # one in so many seconds of them, whichever is rarer,
_MOST_UNSEEN = 255  # but never do more go by;
_LOOK_EVERY = 2e-2  # and the shares are looked at after so many seconds of batches
_SECONDS_PER_MOVED = 1e-7  # until rows have moved


def leader_of(speeds: Sequence[float]) -> int | None:
    """The device that is faster than each other one by far."""
    *others, best = sorted(range(len(speeds)), key=lambda number: speeds[number])
    return best if all(speeds[best] >= _LEADS * speeds[other] for other in others) else None


def first_weights(speeds: Sequence[float]) -> list[float]:
    """Shares to begin with, when nothing has been seen."""
    leader = leader_of(speeds)
    return list(speeds) if leader is None else _all_to(leader, len(speeds))


class Balance:
    """What the shards of one store have shown so far."""

    def __init__(self, speeds: Sequence[float]) -> None:
        self._speeds = list(speeds)
        self._leader = leader_of(speeds)
        self._fits = [DecayingFit(2) for _ in speeds]
        self._whole = [DecayingFit(2) for _ in speeds]  # batches that a shard takes alone, as the caller sees them
        self._splitting = DecayingFit(2)
        self._noted: list[tuple[int, int, float, float]] = []  # batches that a shard took alone, not yet learned from
        self._hopes = [1.0] * len(speeds)
        self._is_split = False
        self._usual = 0.0
        self._since = 0
        self._spent = 0.0  # seconds in batches since the last look, about
        self._last_wall = 0.0
        self._is_alone = False  # whether one shard took the last batch that was observed
        self._saved = 0.0  # by the shares that were wanted, had they been there since they were wanted first
        self._seconds_per_moved = _SECONDS_PER_MOVED
        # Of shards whose device was full: slots, and the most entries in all with which it had them.
        self._limits: dict[int, tuple[int, int]] = {}

    @property
    def unseen(self) -> int:
        """How many batches that one shard takes alone may pass before one is noted."""
        if not self._usual:
            return 0
        return max(_NOTED - 1, min(_MOST_UNSEEN, int(_NOTED_EVERY / max(self._last_wall, _LEAST_WALL))))

    def note(self, number: int, updates: int, seconds: float, wall: float, *, passed: int) -> None:
        """One batch that a shard took alone, after others that passed unseen; learned from when the shares are looked at,
        so that it takes no longer than those."""
        self._noted.append((number, updates, seconds, wall))
        self._since += passed
        self._spent += passed * self._last_wall
        self._count(float(updates), wall, is_alone=True)

    def observe(self, updates: Sequence[int], seconds: Sequence[float], wall: float) -> None:
        """One batch: so many updates went to each shard and took so long there, and the caller waited so long."""
        self._learn_from_noted()
        total = float(sum(updates))
        for number, (count, spent) in enumerate(zip(updates, seconds, strict=True)):
            if count == total:
                self._learn_alone(number, count, spent, wall)
            elif count:
                self._learn(number, count, spent)
        if 0 < max(updates, default=0) < total:
            self._splitting.observe((1.0, total), max(0.0, wall - max(seconds)))
        self._count(total, wall, is_alone=max(updates, default=0) == total)

    def _learn_from_noted(self) -> None:
        for noted in self._noted:
            self._learn_alone(*noted)
        self._noted.clear()

    def _learn_alone(self, number: int, updates: int, seconds: float, wall: float) -> None:
        if updates:
            self._learn(number, updates, seconds)
            self._whole[number].observe((1.0, float(updates)), wall)

    def _learn(self, number: int, updates: int, seconds: float) -> None:
        self._fits[number].observe((1.0, float(updates)), seconds)
        self._hopes[number] = 1.0

    def _count(self, updates: float, wall: float, *, is_alone: bool) -> None:
        self._usual = updates if self._usual == 0 else 0.8 * self._usual + 0.2 * updates
        self._is_alone, self._last_wall = is_alone, wall
        self._since += 1
        self._spent += wall

    @property
    def is_time(self) -> bool:
        """Whether enough batches have passed since the last look."""
        return self._since >= EVERY and (not self._is_alone or self._spent >= _LOOK_EVERY)

    def moved(self, entries: int, seconds: float) -> None:
        """So many entries went to another shard."""
        self._saved = 0.0
        if entries:
            self._seconds_per_moved = (self._seconds_per_moved * seconds / entries) ** 0.5

    def limit(self, number: int, slots: int, entries: int) -> None:
        """The device of a shard was full: it can have so many slots while there are so many entries in all."""
        self._limits[number] = slots, entries

    @property
    def limited(self) -> frozenset[int]:
        """Shards whose device was full."""
        return frozenset(self._limits)

    def within_limits(self, weights: Sequence[float], entries: int) -> list[float]:
        """These weights, but no more for a device that was full than it can have; others take the rest by their speed."""
        self._limits = {number: (slots, max(of, entries)) for number, (slots, of) in self._limits.items()}
        parts = [weight / sum(weights) for weight in weights]
        most = {
            number: slots / NUM_SLOTS * max(1.0, of / max(1, entries)) for number, (slots, of) in self._limits.items()
        }
        over = {number: parts[number] - most[number] for number in most if parts[number] > most[number]}
        others = [number for number in range(len(parts)) if number not in over]
        for number, excess in over.items():
            parts[number] -= excess
        speeds = sum(self._speeds[number] for number in others)
        for number in others:
            parts[number] += sum(over.values()) * self._speeds[number] / speeds
        return parts

    def wanted(self, slots: Sequence[int], entries: int, *, now: bool = False) -> list[float] | None:
        """New weights if it is time to look and they pay; None if not, or if too little was seen.

        `slots` are those of each shard at present, and `entries` are in all of them.
        """
        if not (self.is_time or now):
            return None
        self._learn_from_noted()
        seen, self._since, self._spent = self._since, 0, 0.0
        self._is_split = sum(count > 0 for count in slots) > 1
        self._hopes = [_HOPE * hope for hope in self._hopes]
        fits = self._believed()
        if fits is None:
            return None
        weights = self.within_limits(self._best(fits), entries)
        present, then = self._seconds(fits, slots), self._seconds(fits, weights)
        self._saved = max(0.0, self._saved + seen * (present - then))
        moving = sum(
            max(0.0, have / NUM_SLOTS - want / sum(weights)) for have, want in zip(slots, weights, strict=True)
        )
        return weights if now or self._saved >= moving * entries * self._seconds_per_moved else None

    def _believed(self) -> list[tuple[float, float]] | None:
        """A fit for every shard: one that was never at work is as fast as its nominal speed beside the leader's."""
        known = [fit.coefficients() if fit.observations else None for fit in self._fits]
        model = None if self._leader is None else known[self._leader]
        found = []
        for coefficients, speed, hope in zip(known, self._speeds, self._hopes, strict=True):
            if coefficients is None:
                if model is None or self._leader is None:
                    return None
                coefficients = model[0], model[1] * self._speeds[self._leader] / speed
            found.append((coefficients[0] * hope, coefficients[1] * hope))
        return found

    def _best(self, fits: Sequence[tuple[float, float]]) -> list[float]:
        split = even_finish(fits, self._usual)
        leader = self._leader
        if leader is None:
            return split
        alone = _all_to(leader, len(fits))
        pays = self._seconds(fits, split) <= _WORTH * self._seconds(fits, alone)
        return split if split[leader] > 0 and pays else alone

    def _seconds(self, fits: Sequence[tuple[float, float]], weights: Sequence[float]) -> float:
        """What a batch of the usual size takes with these shares."""
        size = self._usual
        parts = {number: size * weight / sum(weights) for number, weight in enumerate(weights) if weight}
        slowest = max(fits[number][0] + fits[number][1] * part for number, part in parts.items())
        if len(parts) > 1:
            a, b = self._splitting.coefficients() if self._splitting.observations else _SPLITTING
            return slowest + a + b * size
        (number,) = parts
        if not self._whole[number].observations:
            return slowest
        whole = self._whole[number].predict((1.0, size))
        return min(whole, slowest) if self._is_split else whole  # what was seen before a split may be long ago


def even_finish(fits: Sequence[tuple[float, float]], updates: float) -> list[float]:
    """The number of updates for each shard, of fits (a, b), so that all finish at the same time."""
    rates = [1 / max(b, _LEAST_RATE) for _, b in fits]
    working = set(range(len(fits)))
    while True:
        begun = sum(fits[i][0] * rates[i] for i in working)
        finish = (updates + begun) / sum(rates[i] for i in working)
        late = {i for i in working if fits[i][0] >= finish}
        if not late or late == working:
            break
        working -= late
    return [max(0.0, (finish - fits[i][0]) * rates[i]) if i in working else 0.0 for i in range(len(fits))]


def _all_to(number: int, count: int) -> list[float]:
    return [float(number == other) for other in range(count)]
