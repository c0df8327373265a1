"""The format and compression of a file, from its suffixes or from the caller."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from graphlode.errors import InputError, UnsupportedError

Format = Literal["text", "csv", "mtx", "metis", "gr", "npz", "parquet"]
Compression = Literal["gzip", "bzip2", "xz", "zstd"]

SUFFIXES: dict[str, Format] = {
    ".txt": "text",
    ".edges": "text",
    ".el": "text",
    ".tsv": "text",
    ".csv": "csv",
    ".mtx": "mtx",
    ".metis": "metis",
    ".graph": "metis",
    ".gr": "gr",
    ".npz": "npz",
    ".parquet": "parquet",
}
COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}


@dataclass(frozen=True)
class FileKind:
    format: Format
    compression: Compression | None


def file_kind(path: Path, format: str | None = None) -> FileKind:
    """Format and compression of a file. `format` overrides the suffix, except that of the compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = COMPRESSIONS.get(suffixes.pop()) if suffixes and suffixes[-1] in COMPRESSIONS else None
    if format is not None:
        if format not in get_args(Format):
            raise InputError(f"unknown format {format!r}; formats are {', '.join(get_args(Format))}")
        found = cast(Format, format)
    elif suffixes and suffixes[-1] in SUFFIXES:
        found = SUFFIXES[suffixes[-1]]
    else:
        raise InputError(
            f"{path}: the suffix does not name the format; give format= one of {', '.join(get_args(Format))}, "
            f"or use one of {', '.join(SUFFIXES)}, each text format also with {', '.join(COMPRESSIONS)}"
        )
    if compression and found in ("npz", "parquet"):
        raise UnsupportedError(f"{path}: {found} files are compressed themselves; unpack this one first")
    return FileKind(found, compression)
