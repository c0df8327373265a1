"""The 1,024 buckets that rows and tasks fall into: the share table gives each of them to one device."""

from __future__ import annotations

import numpy as np

from graphlode.types import AnyArray, Int64Array

NUM_BUCKETS = 1024


def bucket_of(keys: AnyArray) -> Int64Array:
    """The bucket of each key: a hash, so that neighboring keys spread over the table."""
    mixed = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(54)).astype(np.int64)
