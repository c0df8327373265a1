"""Parquet tables with the columns `src`, `dst` and optionally `weight` and `time` (extra: arrow)."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.errors import InputError, UnsupportedError
from graphlode.io.edge_list import EdgeList
from graphlode.io.mark import Mark, parse_mark
from graphlode.io.request import Request, trusted_size
from graphlode.types import AnyArray

MARK_KEY = b"graphlode"


def arrow_parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise UnsupportedError("Parquet files need pyarrow: pip install graphlode[arrow]") from None
    return pyarrow.parquet


def read_parquet(request: Request) -> EdgeList:
    parquet = arrow_parquet()
    import pyarrow

    if request.path.is_dir():
        raise InputError("this is a directory, not a file")
    try:
        with parquet.ParquetFile(request.path, memory_map=True) as file:
            schema = file.schema_arrow
            chosen = _choose(schema.names, request)
            table = file.read(columns=list(dict.fromkeys(chosen.values())))
    except (FileNotFoundError, PermissionError):
        raise
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"this is not a readable Parquet file: {error}") from None
    mark = parse_mark((schema.metadata or {}).get(MARK_KEY, b"")) if schema.metadata else Mark()
    columns: dict[str, Any] = {role: _column(table, name, role) for role, name in chosen.items()}
    size = trusted_size(mark.num_vertices, columns["src"], columns["dst"])
    return EdgeList(num_vertices=size, directed=mark.directed, **columns)


def _choose(names: list[str], request: Request) -> dict[str, str]:
    """Which column has which role: by name, otherwise by position."""
    if len(names) != len(set(names)):
        raise InputError(f"the names of the columns must differ, got {', '.join(names)}")
    if len(names) < 2:
        raise InputError(f"expected at least 2 columns, found {len(names)}")
    named = {"src", "dst"} <= set(names)
    chosen = {"src": "src", "dst": "dst"} if named else {"src": names[0], "dst": names[1]}
    rest = [name for name in names if name not in chosen.values()]
    for role, name in (("weights", "weight"), ("times", "time")):
        if name in rest and request.values in ("auto", role):
            chosen[role] = name
    if len(chosen) == 2 and rest and not named and rest[0] not in ("weight", "time") and request.values is not None:
        chosen["weights" if request.values == "auto" else request.values] = rest[0]
    return chosen


def _column(table: Any, name: str, role: str) -> AnyArray:
    column = table.column(name)
    if column.null_count:
        row = next(i for i, value in enumerate(column) if not value.is_valid)
        raise InputError(f"row {row + 1}: the column {name!r} is empty")
    values: AnyArray = column.to_numpy()
    if role == "weights":
        if values.dtype.kind not in "iuf":
            raise InputError(f"the column {name!r} must hold numbers, it has {values.dtype}")
        finite = np.isfinite(values)
        if not finite.all():
            raise InputError(f"row {int(np.flatnonzero(~finite)[0]) + 1}: the weight is not a finite number")
        return np.ascontiguousarray(values, np.float64)
    if values.dtype.kind not in "iu":
        raise InputError(f"the column {name!r} must hold integers, it has {values.dtype}")
    if values.dtype == np.uint64 and values.size and int(values.max()) > np.iinfo(np.int64).max:
        row = int(np.argmax(values > np.uint64(np.iinfo(np.int64).max))) + 1
        raise InputError(f"row {row}: {int(values[row - 1])} does not fit in 64 bits with a sign")
    return np.ascontiguousarray(values, np.int64)
