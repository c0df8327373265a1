"""Checks arrays from the user: numpy, arrow, lists, anything with the buffer or DLPack protocol. Errors name them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from graphlode.common.weights import require_exact
from graphlode.errors import InputError
from graphlode.types import AnyArray, BoolArray, FloatArray

_ID_TYPES = frozenset({np.dtype(np.int32), np.dtype(np.int64)})
_NARROW_TYPES = frozenset(map(np.dtype, (np.int8, np.uint8, np.int16, np.uint16, np.int32)))


def _as_numpy(values: Any, name: str) -> AnyArray:
    hidden = int(np.ma.getmaskarray(values).sum()) if isinstance(values, np.ma.MaskedArray) else 0
    if hidden:  # numpy would use the values behind the mask
        raise InputError(f"{name} has {hidden} masked value{'s' * (hidden > 1)}; leave those edges out")
    try:
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return _from_dlpack(values)
        try:
            return np.asarray(values)
        except TypeError:  # arrays in device memory do not convert themselves
            if not hasattr(values, "__dlpack__"):
                raise
            return _from_dlpack(values)
    except (TypeError, ValueError, OverflowError, BufferError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from None


def _from_dlpack(values: Any) -> AnyArray:
    try:
        return np.from_dlpack(values, device="cpu")
    except TypeError:  # numpy before 2.1, or a producer that cannot copy to the host
        return np.from_dlpack(values)


def columns_of_pairs(pairs: Any) -> tuple[AnyArray, AnyArray]:
    """The two columns of an array of pairs."""
    array = _as_numpy(list(pairs) if isinstance(pairs, set | frozenset) else pairs, "edges")
    if array.size == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"without dst, edges are pairs: an array with two columns, got the shape {array.shape}")
    return array[:, 0], array[:, 1]


def as_ids(values: Any, name: str) -> AnyArray:
    """A contiguous int32 or int64 array."""
    if type(values) is np.ndarray and values.dtype in _ID_TYPES and values.ndim == 1 and values.flags.c_contiguous:
        return values if values.size else np.empty(0, np.int64)  # shortcut: same result as below
    array = _as_numpy(values, name)
    if array.ndim != 1:
        raise InputError(f"{name} must have one dimension, got the shape {array.shape}")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name} must hold integers{_found_type(array)}")
    _require_signed(array, name, "ids")
    return np.ascontiguousarray(array, np.int32 if array.dtype.newbyteorder("=") in _NARROW_TYPES else np.int64)


def _require_signed(array: AnyArray, name: str, what: str) -> None:
    """Raise InputError unless every integer of the array is one of 64 bits with a sign. For any byte order."""
    if array.dtype.kind == "u" and array.itemsize == 8 and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise InputError(f"{name} holds {int(array.max())}, but {what} are signed 64-bit integers")


def _found_type(array: AnyArray) -> str:
    """The rest of the message about an array that does not hold integers: what it holds, and what to do."""
    if array.dtype.kind == "O" and isinstance(array[0], int):
        return f" of 64 bits, got {array.dtype}"
    if array.dtype.kind in "OSUT":
        return f", got {array.dtype}; number them first, for example with numpy.unique(..., return_inverse=True)"
    return f", got {array.dtype}"


def as_values(values: Any, name: str, dtype: Any, size: int) -> AnyArray | None:
    if values is None:
        return None
    array = _as_numpy(values, name)
    if array.ndim != 1 or array.size != size:
        raise InputError(f"{name} must have one value per edge ({size}), got the shape {array.shape}")
    if array.dtype.kind not in ("biu" if dtype is np.int64 else "biuf") and array.size:
        raise InputError(f"{name} must hold {'integers' if dtype is np.int64 else 'numbers'}, got {array.dtype}")
    if dtype is np.int64:
        _require_signed(array, name, name)
    with np.errstate(over="ignore"):  # what becomes infinite is found below
        result = array.astype(dtype, copy=False)
    if array.dtype.kind == "f" and not np.isfinite(result).all():
        at = int(np.flatnonzero(~np.isfinite(result))[0])
        raise InputError(f"{name} must be finite, got {array[at]} for edge {at}; they are kept as 64-bit floats")
    return result


def as_weights(values: Any, size: int, gone: BoolArray | Literal[True] | None = None) -> FloatArray | None:
    """One 64-bit float per edge. Weights of deleted edges are not checked (`gone`; True: all edges are deleted)."""
    if values is None:
        return None
    array = _as_numpy(values, "weights")
    looked_at = array
    if gone is not None and array.shape == (size,) and array.dtype.kind in "biuf":
        looked_at = np.where(gone, array.dtype.type(1), array)
    weights: FloatArray | None = as_values(looked_at, "weights", np.float64, size)
    require_exact(looked_at, values)
    if looked_at is array:
        return weights
    with np.errstate(over="ignore"):
        return array.astype(np.float64, copy=False)
