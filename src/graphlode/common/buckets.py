"""The 1,024 slots that keys fall into: what the share table gives to devices, and what shards hand over."""

from __future__ import annotations

import numpy as np

from graphlode.types import AnyArray, Int64Array

NUM_SLOTS = 1024


def slot_of(keys: AnyArray) -> Int64Array:
    """The slot of each key: a hash, so that neighboring keys spread over the table."""
    mixed = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(54)).astype(np.int64)
