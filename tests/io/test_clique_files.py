"""Lists of cliques in files: complete, readable by others, never half-written."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.io.cliques import write_cliques

SUFFIXES = (".parquet", ".csv", ".npz")


def load(path: Path, k: int) -> Any:
    if path.suffix == ".npz":
        with np.load(path) as archive:
            assert archive.files == ["cliques"]
            return archive["cliques"]
    if path.suffix == ".csv":
        lines = path.read_text("ascii").splitlines()
        assert lines[0] == ",".join(f"v{i + 1}" for i in range(k))
        return np.array([[int(x) for x in line.split(",")] for line in lines[1:]], np.int64).reshape(-1, k)
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(path)
    assert table.column_names == [f"v{i + 1}" for i in range(k)]
    return np.stack([column.to_numpy() for column in table.columns], axis=1)


@pytest.fixture(params=SUFFIXES)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == ".parquet":
        pytest.importorskip("pyarrow")
    return tmp_path / f"cliques{request.param}"


@pytest.mark.parametrize("k", [1, 2, 4])
def test_files_hold_what_was_listed(path: Path, k: int) -> None:
    graph = gl.dataset("lesmis")
    expected = np.concatenate(list(gl.list_cliques(graph, k, devices="reference")))
    batches = gl.list_cliques(graph, k, devices="reference", batch_size=10)
    assert write_cliques(batches, k, path) == len(expected)
    found = load(path, k)
    assert found.dtype == np.int64
    assert np.array_equal(found, expected)


def test_no_cliques_make_a_file_without_rows(path: Path) -> None:
    assert write_cliques(gl.list_cliques(gl.star(5), 3), 3, path) == 0
    assert load(path, 3).shape == (0, 3)


def test_extreme_ids_and_many_batches_survive(path: Path) -> None:
    rng = np.random.default_rng(3)
    limits = np.iinfo(np.int64)
    rows = rng.integers(limits.min, limits.max, (150_001, 3), endpoint=True)
    rows[0] = limits.min, 0, limits.max
    assert write_cliques(iter(np.array_split(rows, 17)), 3, path) == len(rows)
    assert np.array_equal(load(path, 3), rows)


def test_memory_does_not_grow_with_the_list(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphlode.io.cliques._ROWS", 1 << 11)
    monkeypatch.setattr("graphlode.io.cliques._COPY_BYTES", 1 << 12)

    def batches(count: int) -> Iterator[Any]:
        for _ in range(count):
            yield np.zeros((1 << 8, 3), np.int64)

    write_cliques(batches(9), 3, path)  # one-time loading is not counted
    tracemalloc.start()
    try:
        peaks = []
        for count in (24, 240):
            tracemalloc.reset_peak()
            write_cliques(batches(count), 3, path)
            peaks.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 10_000


def test_an_error_leaves_the_old_file_and_nothing_else(path: Path) -> None:
    path.write_bytes(b"old")

    def batches() -> Iterator[Any]:
        yield np.zeros((5, 3), np.int64)
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        write_cliques(batches(), 3, path)
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("wrong", [np.zeros((2, 4), np.int64), np.zeros(3, np.int64), np.zeros((2, 3))])
def test_batches_of_another_shape_are_refused(path: Path, wrong: Any) -> None:
    with pytest.raises(ValueError, match="3 columns"):
        write_cliques([wrong], 3, path)
    assert not path.exists()


@pytest.mark.parametrize("name", ["cliques.txt", "cliques", "cliques.csv.gz"])
def test_other_suffixes_are_refused_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(gl.InputError, match=r"\.parquet, \.csv, \.npz"):
        write_cliques([], 3, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        write_cliques([], 3, tmp_path / "none" / "cliques.csv")
    assert error.value.filename == str(tmp_path / "none" / "cliques.csv")
    with pytest.raises(gl.InputError, match="directory"):
        (tmp_path / "folder.csv").mkdir()
        write_cliques([], 3, tmp_path / "folder.csv")
