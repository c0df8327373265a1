"""NumPy archives: those of graphlode, and sparse matrices from scipy.sparse.save_npz. Pickles are never loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from graphlode.errors import InputError, UnsupportedError
from graphlode.io.archive import Archive, open_archive
from graphlode.io.edge_list import EdgeList
from graphlode.io.request import Request
from graphlode.types import AnyArray, FloatArray, Int64Array

_OWN = ("offsets", "neighbors", "directed", "ids", "weights", "times")
_SCIPY = ("format", "shape", "data", "indptr", "indices", "row", "col", "coords")


def read_npz(request: Request) -> EdgeList:
    with open_archive(request) as archive:
        if not is_own(archive):
            return _from_scipy(archive.load(_SCIPY), archive.names, request)
        arrays = archive.load(_OWN)
    edges = own_edges(arrays, request)
    ids = own_ids(arrays)
    return edges if ids is None else replace(edges, src=ids[edges.src], dst=ids[edges.dst], num_vertices=None)


def load_own(request: Request) -> dict[str, AnyArray] | None:
    """The arrays of an archive written by graphlode; None for another archive."""
    with open_archive(request) as archive:
        return archive.load(_OWN) if is_own(archive) else None


def is_own(archive: Archive) -> bool:
    return {"offsets", "neighbors", "directed"} <= set(archive.names)


def own_edges(arrays: Mapping[str, AnyArray], request: Request) -> EdgeList:
    """The edges of an archive written by graphlode, as positions of vertices; an undirected edge once."""
    if arrays["directed"].size != 1 or arrays["directed"].dtype.kind not in "biu":
        raise InputError("the array directed must be one truth value")
    directed = bool(arrays["directed"].any())
    tails, heads = _rows(arrays["offsets"], arrays["neighbors"], None, request)
    if not directed:
        once = tails < heads
        tails, heads = tails[once], heads[once]
    values: dict[str, Any] = {}
    for name, dtype, kind in (("weights", np.float64, "f"), ("times", np.int64, "i")):
        if name not in arrays or request.values not in ("auto", name):
            continue
        array = arrays[name]
        fits = array.shape == tails.shape and array.dtype.kind == kind
        if not fits or not np.isfinite(array).all():
            raise InputError(f"the array {name} must have one finite number per edge ({tails.size})")
        with np.errstate(over="ignore"):
            values[name] = array.astype(dtype, copy=False)
        if not np.isfinite(values[name]).all():
            raise InputError(f"the array {name} must have numbers that 64-bit floats can hold")
    return EdgeList(tails, heads, num_vertices=arrays["offsets"].size - 1, directed=directed, **values)


def own_ids(arrays: Mapping[str, AnyArray]) -> Int64Array | None:
    """The original ids in an archive written by graphlode; None if they are the positions."""
    if "ids" not in arrays:
        return None
    ids, size = arrays["ids"], arrays["offsets"].size - 1
    if ids.shape != (size,) or ids.dtype != np.int64 or (ids[1:] <= ids[:-1]).any():
        raise InputError(f"the array ids must name the {size} vertices by ascending 64-bit integers")
    return ids


def _from_scipy(arrays: Mapping[str, AnyArray], names: Sequence[str], request: Request) -> EdgeList:
    if not {"format", "shape", "data"} <= arrays.keys():
        raise InputError(
            f"the archive holds {_listed(names) or 'nothing'}; expected a graph written by graphlode "
            "(offsets, neighbors, directed) or a matrix written by scipy.sparse.save_npz"
        )
    layout = _layout(arrays["format"])
    shape = arrays["shape"]
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or int(shape[0]) != int(shape[1]) or int(shape[0]) < 0:
        found_shape = shape.tolist() if shape.size <= 4 else f"an array of {shape.size} values"
        raise InputError(f"an adjacency matrix is square, this one has the shape {found_shape}")
    if int(shape[0]) >= 2**63:
        raise InputError(f"the shape {shape.tolist()} does not fit in 64 bits with a sign")
    src, dst = _entries(layout, arrays, int(shape[0]), request)
    if src.size != dst.size:
        raise InputError(f"row and col must have the same length, got {src.size} and {dst.size}")
    data = arrays["data"]
    if data.shape != src.shape:
        raise InputError(f"data must have one value per entry ({src.size}), got the shape {data.shape}")
    found: dict[str, Any] = {}
    # A matrix of ones has no weights.
    if request.values is not None and data.dtype.kind != "b" and not (data == 1).all():
        found = {"times": _times(data)} if request.values == "times" else {"weights": _weights(data)}
    return EdgeList(src, dst, num_vertices=int(shape[0]), **found)


def _listed(names: Sequence[str]) -> str:
    text = ", ".join(sorted(names)[:20])[:200]
    return "".join(c if c.isprintable() else "?" for c in text)


def _layout(name: AnyArray) -> str:
    if name.size != 1 or name.dtype.kind not in "SU":
        raise InputError("the array format must be one word")
    word = name.item()
    return word.decode("ascii", "replace") if isinstance(word, bytes) else str(word)


def _entries(layout: str, arrays: Mapping[str, AnyArray], size: int, request: Request) -> tuple[Int64Array, Int64Array]:
    wanted = {"csr": ("indptr", "indices"), "csc": ("indptr", "indices"), "coo": ("row", "col")}
    if layout not in wanted:
        raise UnsupportedError(f"a sparse matrix of the kind {layout[:60]!r} is not offered; {', '.join(wanted)} are")
    first, second = wanted[layout]
    if "coords" in arrays and layout == "coo":
        coords = arrays["coords"]
        if coords.ndim != 2 or coords.shape[0] != 2:
            raise InputError(f"coords must have two rows, got the shape {coords.shape}")
        src, dst = coords
        return _checked(src, size), _checked(dst, size)
    if first not in arrays or second not in arrays:
        raise InputError(f"a {layout} matrix needs the arrays {first} and {second}")
    if layout == "coo":
        return _checked(arrays[first], size), _checked(arrays[second], size)
    major, minor = _rows(arrays[first], arrays[second], size, request)
    return (major, minor) if layout == "csr" else (minor, major)


def _rows(offsets: AnyArray, neighbors: AnyArray, size: int | None, request: Request) -> tuple[Int64Array, Int64Array]:
    """Both ends of every entry of compressed rows."""
    integers = offsets.dtype.kind in "iu" and neighbors.dtype.kind in "iu"
    shaped = offsets.ndim == 1 and neighbors.ndim == 1 and offsets.size > 0 and size in (None, offsets.size - 1)
    if not (integers and shaped):
        raise InputError("the rows must be described by two arrays of integers, one offset more than there are rows")
    starts: Int64Array = offsets.astype(np.int64, copy=False)
    # Compared, and not subtracted: differences may overflow.
    if offsets[0] != 0 or offsets[-1] != neighbors.size or (starts[1:] < starts[:-1]).any():
        raise InputError(f"offsets must rise from 0 to the number of entries ({neighbors.size})")
    counts = np.diff(starts)
    request.budget.require(16 * neighbors.size, "the list of edges")
    tails = np.repeat(np.arange(counts.size, dtype=np.int64), counts)
    return tails, _checked(neighbors, counts.size)


def _checked(ids: AnyArray, size: int) -> Int64Array:
    if ids.ndim != 1 or ids.dtype.kind not in "iu" and ids.size:
        raise InputError("vertices must be an array of integers")
    if ids.size and not (int(ids.min()) >= 0 and int(ids.max()) < size):
        raise InputError(f"a vertex is outside 0 .. {size - 1}")
    return ids.astype(np.int64, copy=False)


def _weights(data: AnyArray) -> FloatArray:
    if data.dtype.kind not in "iuf":
        raise UnsupportedError(f"values of the type {data.dtype} are not offered; integers and reals are")
    with np.errstate(over="ignore"):  # what becomes infinite is found below
        weights = data.astype(np.float64, copy=False)
    if not np.isfinite(weights).all():
        raise InputError(f"entry {int(np.flatnonzero(~np.isfinite(weights))[0])} is not a finite number")
    return weights


def _times(data: AnyArray) -> Int64Array:
    if data.dtype.kind not in "iu" or (data.size and int(data.max()) >= 2**63):
        raise InputError(f"times are 64-bit integers, the file has {data.dtype}")
    return data.astype(np.int64, copy=False)
