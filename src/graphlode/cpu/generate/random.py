"""Random words that are a pure function of the seed and the position."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphlode.cpu import _native


def random_words(seed: int, begin: int, size: int) -> NDArray[np.uint64]:
    """Words `begin` to `begin + size - 1` of the seed's stream of uniform 64-bit words."""
    words: NDArray[np.uint64] = _native.random_words(seed, begin, size)
    return words
