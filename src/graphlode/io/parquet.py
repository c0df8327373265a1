"""Parquet tables with the columns `src`, `dst` and optionally `weight` and `time` (extra: arrow)."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphlode.errors import InputError, UnsupportedError
from graphlode.io.edge_list import EdgeList
from graphlode.io.mark import parse_mark
from graphlode.io.request import Request, trusted_size
from graphlode.io.source import readable
from graphlode.types import AnyArray

MARK_KEY = b"graphlode"
_ROWS = 1 << 18  # per step


def arrow_parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise UnsupportedError("Parquet files need pyarrow: pip install graphlode[arrow]") from None
    return pyarrow.parquet


def read_parquet(request: Request) -> EdgeList:
    parquet = arrow_parquet()
    with readable(request.path, request.control, "Parquet file") as source, parquet.ParquetFile(source) as file:
        schema = file.schema_arrow
        chosen = _choose(schema.names, request)
        for role, name in chosen.items():
            _check_type(schema.field(name).type, name, role)
        mark = parse_mark((schema.metadata or {}).get(MARK_KEY, b""))
        table = _read_columns(file, list(dict.fromkeys(chosen.values())), request)
        columns: dict[str, Any] = {role: _column(table, name, role) for role, name in chosen.items()}
    size = trusted_size(mark.num_vertices, columns["src"], columns["dst"])
    return EdgeList(num_vertices=size, directed=mark.directed, **columns)


def _read_columns(file: Any, names: list[str], request: Request) -> Any:
    """The columns as a table, read in batches. A few bytes may stand for any number of equal values."""
    import pyarrow

    request.budget.require(8 * len(names) * file.metadata.num_rows, f"{file.metadata.num_rows:,} rows")
    batches = []
    for batch in file.iter_batches(_ROWS, columns=names):
        request.control.check()
        request.budget.take(batch.nbytes, "the next rows")
        batches.append(batch)
    schema = pyarrow.schema([file.schema_arrow.field(name) for name in names])
    return pyarrow.Table.from_batches(batches).select(names) if batches else schema.empty_table()


def _check_type(found: Any, name: str, role: str) -> None:
    from pyarrow import types

    kind = found.value_type if types.is_dictionary(found) else found
    if role == "weights":
        if not (types.is_integer(kind) or types.is_floating(kind)):
            raise InputError(f"the column {name!r} must hold numbers, it has {kind}")
    elif not types.is_integer(kind):
        raise InputError(f"the column {name!r} must hold integers, it has {kind}")


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
        row = int(column.is_null().to_numpy().argmax())
        raise InputError(f"row {row + 1}: the column {name!r} is empty")
    values: AnyArray = column.to_numpy()
    if role == "weights":
        finite = np.isfinite(values)
        if not finite.all():
            raise InputError(f"row {int(np.flatnonzero(~finite)[0]) + 1}: the weight is not a finite number")
        return np.ascontiguousarray(values, np.float64)
    if values.dtype == np.uint64 and values.size and int(values.max()) > np.iinfo(np.int64).max:
        row = int(np.argmax(values > np.uint64(np.iinfo(np.int64).max))) + 1
        raise InputError(f"row {row}: {int(values[row - 1])} does not fit in 64 bits with a sign")
    return np.ascontiguousarray(values, np.int64)
