"""Which slots leave a device whose memory is full."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from graphlode.execute.shares import apportion

_PART = 4  # of what a full device has, one in so many slots goes


def fewer_slots(counts: Sequence[int], givers: Collection[int], receivers: Mapping[int, float]) -> list[int] | None:
    """So many slots for each shard: a part of what the givers have goes to the receivers, in proportion to their speeds.
    None if nothing can go."""
    giving = {number: -(-counts[number] // _PART) for number in givers if counts[number]}
    if not giving or not receivers:
        return None
    wanted = list(counts)
    for number, slots in giving.items():
        wanted[number] -= slots
    speeds = [max(speed, 1e-9) for speed in receivers.values()]
    for number, slots in zip(receivers, apportion_few(speeds, sum(giving.values())), strict=True):
        wanted[number] += slots
    return wanted


def apportion_few(weights: Sequence[float], slots: int) -> list[int]:
    """As `apportion`, also of fewer slots than there are weights: the largest get one each."""
    if slots >= len(weights):
        return apportion(weights, slots)
    largest = sorted(range(len(weights)), key=lambda number: -weights[number])[:slots]
    return [int(number in largest) for number in range(len(weights))]
