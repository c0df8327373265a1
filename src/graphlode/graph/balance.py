"""Which part of the rows each shard should have, so that all shards finish a batch at the same time.

Every shard's time is fitted as t = a + b * updates over the batches it has seen. For a batch of the usual size there is
one finish time T at which the parts (T - a) / b make up the whole batch; a shard that could not even begin before T gets
nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphlode.graph.cost import DecayingFit

EVERY = 32
"""Batches between two looks at the shares."""

_LEAST_RATE = 1e-12
_HOPE = 0.97  # a shard that has nothing to do is believed to be so much faster at every look, until it is tried again


class Balance:
    """What the shards of one store have shown so far."""

    def __init__(self, num_shards: int) -> None:
        self._fits = [DecayingFit(2) for _ in range(num_shards)]
        self._hopes = [1.0] * num_shards
        self._usual = 0.0
        self._since = 0

    def observe(self, updates: Sequence[int], seconds: Sequence[float]) -> None:
        """One batch: so many updates went to each shard and took so long there."""
        for number, (count, spent) in enumerate(zip(updates, seconds, strict=True)):
            if count:
                self._fits[number].observe((1.0, float(count)), spent)
                self._hopes[number] = 1.0
        total = float(sum(updates))
        self._usual = total if self._usual == 0 else 0.8 * self._usual + 0.2 * total
        self._since += 1

    def wanted(self, *, now: bool = False) -> list[float] | None:
        """New weights if it is time to look; None if it is not, or a shard has not been seen at work."""
        if (self._since < EVERY and not now) or not all(fit.observations for fit in self._fits):
            return None
        self._since = 0
        self._hopes = [_HOPE * hope for hope in self._hopes]
        found = zip((fit.coefficients() for fit in self._fits), self._hopes, strict=True)
        fits = [(a * hope, b * hope) for (a, b), hope in found]
        return even_finish(fits, self._usual)


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
