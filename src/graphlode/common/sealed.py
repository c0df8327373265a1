"""Arrays that cannot be made writable again by accident: kernels trust them without checks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np


def sealed(array: Any) -> Any:
    """The same memory as an array that is read-only and stays so: `flags.writeable = True` is a ValueError.

    A view with the flag cleared is not enough: numpy sets the flag again if the array below it is writable.
    """
    if type(array.base) is memoryview and array.base.readonly:
        return array
    return np.asarray(memoryview(array).toreadonly())


def sealed_mapping(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same names, which must not change, with their arrays sealed."""
    return MappingProxyType(
        {name: sealed(value) if isinstance(value, np.ndarray) else value for name, value in values.items()}
    )
