"""Reads whole files into memory, by all threads in parallel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphlode.common.control import Control
from graphlode.config import settings
from graphlode.cpu import _native


def read_file(descriptor: int, size: int, control: Control) -> NDArray[np.uint8]:
    """A copy of the first bytes of an open regular file.

    Raises InputError if the file became shorter or cannot be read.
    """
    text: NDArray[np.uint8] = _native.read_file(descriptor, size, threads=settings().threads, control=control.words)
    return text
