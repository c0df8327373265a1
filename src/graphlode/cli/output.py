"""The output of commands: a JSON object on stdout, or a file with one row per vertex or edge."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from graphlode.errors import InputError, UnsupportedError
from graphlode.io.replace import check_target, replacing
from graphlode.types import AnyArray

_ROWS = 1 << 16
_SUFFIXES = {".csv": ",", ".tsv": "\t", ".txt": "\t"}


def write_json(document: Mapping[str, Any]) -> None:
    """One object on one line; numpy numbers become plain numbers."""
    sys.stdout.write(json.dumps(document, default=_plain) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value)!r} has no JSON form")


def check_out(path: Path | None) -> None:
    """Raises InputError for an impossible output file before any work is done."""
    if path is None:
        return
    if path.suffix.lower() not in (*_SUFFIXES, ".npz", ".parquet"):
        raise InputError(f"{path}: the suffix must be one of {', '.join(_SUFFIXES)}, .npz, .parquet")
    check_folder(path)


def check_folder(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path}: this is a folder, not a file")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
    check_target(path)


def save_figure(figure: Any, path: Path, dots_per_inch: int) -> None:
    """Writes a figure of matplotlib to a file in the format of its suffix."""
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix.lower().removeprefix("."), dpi=dots_per_inch)


def write_table(path: Path, columns: Mapping[str, AnyArray]) -> None:
    """Writes columns of equal length to a file in the format of its suffix."""
    suffix = path.suffix.lower()
    if suffix in (".npz", ".parquet"):  # their integers have 64 bits: larger counts are written as text
        columns = {name: column.astype(str) if column.dtype == object else column for name, column in columns.items()}
    with replacing(path) as file:
        if suffix == ".npz":
            np.savez_compressed(file, **columns)  # type: ignore[arg-type]
        elif suffix == ".parquet":
            _write_parquet(path, file, columns)
        else:
            file.writelines(line.encode("ascii") for line in _lines(columns, _SUFFIXES[suffix]))


def _lines(columns: Mapping[str, AnyArray], separator: str) -> Iterator[str]:
    yield separator.join(columns) + "\n"
    length = min((column.size for column in columns.values()), default=0)
    for begin in range(0, length, _ROWS):
        parts = [column[begin : begin + _ROWS].tolist() for column in columns.values()]
        yield from (separator.join(map(str, row)) + "\n" for row in zip(*parts, strict=True))


def _write_parquet(path: Path, file: BinaryIO, columns: Mapping[str, AnyArray]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UnsupportedError(f"{path}: writing Parquet needs pyarrow (pip install graphlode[arrow])") from None
    pyarrow.parquet.write_table(pyarrow.table(dict(columns)), file)
