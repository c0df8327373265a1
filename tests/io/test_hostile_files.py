"""Files that change while they are read, unpack to very much, or announce what they do not hold."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import resource
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import graphlode as gl
from graphlode.common.control import Control
from graphlode.errors import DeviceMemoryError, UnsupportedError
from graphlode.io import source
from graphlode.io.budget import Budget
from graphlode.io.source import load

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

MIB = 1 << 20


def test_a_text_that_changes_after_it_is_loaded_is_read_as_it_was(tmp_path: Path) -> None:
    """A mapping would show the new lines, of which there are more than were counted."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"#" + b" " * 9998 + b"\n")
    text = load(path, None, Control(), Budget())
    with open(path, "r+b") as file:
        file.write(b"1 2\n" * 2500)
    assert bytes(text[:2]) == b"# "


def test_a_text_that_is_truncated_after_it_is_loaded_is_read_as_it_was(
    tmp_path: Path, run_python: Callable[..., str]
) -> None:
    script = f"""
import os
from pathlib import Path
from graphlode.common.control import Control
from graphlode.io.budget import Budget
from graphlode.io.source import load
path = Path({str(tmp_path / "a.txt")!r})
path.write_bytes(b"12 34\\n" * 10_000)
text = load(path, None, Control(), Budget())
os.truncate(path, 0)
print(int(text.sum()) == 10_000 * sum(b"12 34\\n"))
"""
    assert run_python(script) == "True\n"


def test_a_file_that_becomes_shorter_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"12 34\n" * 10_000)
    real = source.read_file

    def shorter(descriptor: int, size: int, control: Control) -> Any:
        os.truncate(path, 100)
        return real(descriptor, size, control)

    monkeypatch.setattr(source, "read_file", shorter)
    with pytest.raises(gl.InputError, match=r"a\.txt: the file became shorter while it was read"):
        gl.read(path)


@pytest.mark.parametrize("suffix", [".txt", ".metis", ".parquet", ".npz"])
def test_files_may_change_all_the_time(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    gl.write(gl.erdos_renyi(3000, m=20_000, seed=1), path)
    good = path.read_bytes()
    done = threading.Event()

    def change() -> None:
        rng = np.random.default_rng(2)
        while not done.is_set():
            with open(path, "r+b") as file:
                if rng.random() < 0.3:
                    file.truncate(int(rng.integers(len(good))))
                file.seek(int(rng.integers(len(good))))
                file.write(b"1 2\n" * 500)
                file.seek(0)
                file.write(good)

    changer = threading.Thread(target=change)
    changer.start()
    end = time.monotonic() + 0.7
    while time.monotonic() < end:
        with suppress(gl.GraphlodeError):
            gl.read(path)
    done.set()
    changer.join()
    path.write_bytes(good)
    assert gl.read(path).num_edges == 20_000


def _packed(suffix: str, block: bytes, count: int) -> bytes:
    pack: dict[str, Callable[[bytes], bytes]] = {
        ".gz": lambda data: gzip.compress(data, 1),
        ".bz2": bz2.compress,
        ".xz": lambda data: lzma.compress(data, preset=0),
        ".zst": lambda data: pyarrow.compress(data, codec="zstd", asbytes=True),
    }
    return pack[suffix](block * count)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_unpacking_ends_at_the_memory_limit(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bomb.txt{suffix}"
    path.write_bytes(_packed(suffix, b"#" * MIB, 200))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with gl.configure(memory_limit=20 * MIB), pytest.raises(DeviceMemoryError, match=r"bomb\.txt.*memory_limit"):
        gl.read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60 * 1024


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_unpacking_goes_in_small_steps(suffix: str) -> None:
    from graphlode.io.formats import COMPRESSIONS
    from graphlode.io.unpack import unpacked_blocks

    packed = io.BufferedReader(io.BytesIO(_packed(suffix, b"1 2\n" * (MIB // 4), 10)))  # type: ignore[arg-type]
    sizes = [len(block) for block in unpacked_blocks(packed, COMPRESSIONS[suffix], 1 << 30)]
    assert sum(sizes) == 10 * MIB
    assert max(sizes) <= MIB


def test_a_file_of_many_tiny_members_is_unpacked_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"1 2\n") * 60_000)
    start = time.monotonic()
    assert len(gl.read_edges(path)) == 60_000
    assert time.monotonic() - start < 10


def test_the_lines_of_a_text_count_against_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"1 2\n" * 100_000)
    with gl.configure(memory_limit=1_000_000), pytest.raises(DeviceMemoryError, match="1600000 bytes"):
        gl.read(path)
    with gl.configure(memory_limit=3_000_000):
        assert gl.read(path).num_edges == 1


def test_a_text_larger_than_the_limit_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with open(path, "wb") as file:
        file.truncate(1 << 40)  # takes no room on the disk
    with pytest.raises(DeviceMemoryError, match=r"a\.txt: the text needs 1,099,511,627,776 bytes"):
        gl.read(path)


def test_an_endless_device_ends_at_the_limit() -> None:
    with gl.configure(memory_limit=20 * MIB), pytest.raises(DeviceMemoryError):
        gl.read("/dev/zero", format="text")


def announcing(vertices: int) -> Iterator[tuple[str, bytes]]:
    """Small files that announce this number of vertices and hold an edge."""
    yield "a.gr", b"p sp %d 1\na 1 2 3\n" % vertices
    yield "a.gr.bz2", bz2.compress(b"p sp %d 1\na 1 2 3\n" % vertices)
    yield "a.mtx", b"%%%%MatrixMarket matrix coordinate pattern general\n%d %d 1\n1 2\n" % (vertices, vertices)
    yield "a.txt", b"# graphlode num_vertices=%d directed=0 values=none\n1 2\n" % vertices
    yield "a.csv", b"# graphlode num_vertices=%d directed=0 values=none\n1,2\n" % vertices
    table = pyarrow.table({"src": [1], "dst": [2]})
    mark = b"graphlode num_vertices=%d directed=0 values=none" % vertices
    sink = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({b"graphlode": mark}), sink)
    yield "a.parquet", sink.getvalue()
    sink = io.BytesIO()
    scipy.sparse.save_npz(sink, scipy.sparse.coo_array(([1.0], ([1], [2])), shape=(vertices, vertices)))
    yield "a.npz", sink.getvalue()


@pytest.mark.parametrize("place", range(7))
def test_vertices_beyond_what_a_file_can_hold_need_the_callers_word(tmp_path: Path, place: int) -> None:
    name, content = list(announcing(100_000_000))[place]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(gl.InputError, match=r"100,000,000 vertices are announced.* give num_vertices=100000000"):
        gl.read(tmp_path / name)
    with gl.configure(memory_limit=100 * MIB), pytest.raises(DeviceMemoryError, match="a graph of 100,000,000"):
        gl.read(tmp_path / name, num_vertices=100_000_000)


@pytest.mark.parametrize("place", range(7))
def test_isolated_vertices_of_usual_numbers_are_read(tmp_path: Path, place: int) -> None:
    name, content = list(announcing(1_000_000))[place]
    (tmp_path / name).write_bytes(content)
    assert gl.read(tmp_path / name).num_vertices == 1_000_000


def _member(shape: tuple[int, ...], data: bytes) -> bytes:
    sink = io.BytesIO()
    np.lib.format.write_array_header_1_0(sink, {"descr": "<i8", "fortran_order": False, "shape": shape})
    return sink.getvalue() + data


@pytest.mark.parametrize("shape", [(1 << 40,), (1 << 31, 1 << 31), (1 << 62,), (4,), (-1,)])
def test_the_shape_of_an_array_must_fit_its_data(tmp_path: Path, shape: tuple[int, ...]) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("offsets.npy", _member(shape, bytes(24)))
        archive.writestr("neighbors.npy", _member((3,), bytes(24)))
        archive.writestr("directed.npy", _member((1,), bytes(8)))
    with pytest.raises(gl.InputError, match="the array offsets should have the shape"):
        gl.read(tmp_path / "a.npz")


def test_a_packed_archive_ends_at_the_memory_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    zeros = np.zeros(30 * MIB // 8, np.int64)
    np.savez_compressed(path, offsets=zeros, neighbors=zeros[:1], directed=False)
    assert path.stat().st_size < MIB
    with gl.configure(memory_limit=20 * MIB), pytest.raises(DeviceMemoryError, match="the array offsets needs"):
        gl.read(path)


def test_arrays_that_are_not_needed_are_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, offsets=[0, 1, 2], neighbors=[1, 0], directed=False, other=np.zeros(30 * MIB // 8))
    with gl.configure(memory_limit=20 * MIB):
        assert gl.read(path) == gl.path(2)


def test_rows_of_equal_values_end_at_the_memory_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    zeros = np.zeros(5_000_000, np.int64)
    parquet.write_table(pyarrow.table({"src": zeros, "dst": zeros}), path, compression="zstd")
    assert path.stat().st_size < MIB
    with gl.configure(memory_limit=20 * MIB), pytest.raises(DeviceMemoryError, match="5,000,000 rows"):
        gl.read(path)


@pytest.mark.parametrize(
    "change",
    [
        {"directed": np.array([1, 0])},
        {"directed": np.array(["x"])},
        {"offsets": np.array([0, -(2**63), 2])},
        {"offsets": np.array([0, 2**63 - 1, 2])},
        {"weights": np.array([1e400], np.longdouble)},
    ],
)
def test_an_archive_with_odd_arrays_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    arrays = {"offsets": [0, 1, 2], "neighbors": [1, 0], "directed": False}
    np.savez(tmp_path / "a.npz", **(arrays | change))
    with pytest.raises(gl.InputError, match=r"a\.npz: "):
        gl.read(tmp_path / "a.npz")


@pytest.mark.parametrize(
    "change",
    [
        {"format": np.array([b"csr", b"csr"])},
        {"format": np.array(3)},
        {"shape": np.array([2.0, 2.0])},
        {"shape": np.array(2)},
        {"shape": np.array([2**64 - 1] * 2, np.uint64)},
        {"data": np.array([1, 2], "M8[s]")},
        {"coords": np.zeros((3, 2), np.int64), "format": np.array(b"coo")},
        {"indptr": np.array([[0, 1, 2]])},
    ],
)
def test_a_matrix_with_odd_arrays_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    arrays = {"format": b"csr", "shape": [2, 2], "data": [1.0, 2.0], "indptr": [0, 1, 2], "indices": [1, 0]}
    np.savez(tmp_path / "a.npz", **(arrays | change))
    with pytest.raises(gl.GraphlodeError, match=r"a\.npz: "):
        gl.read(tmp_path / "a.npz")


def test_a_matrix_with_columns_of_different_lengths_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", format=b"coo", shape=[2, 2], data=[1.0, 2.0], row=[0, 1], col=[1])
    with pytest.raises(gl.InputError, match="row and col must have the same length, got 2 and 1"):
        gl.read_edges(tmp_path / "a.npz")


def test_members_compressed_by_other_methods_are_refused(tmp_path: Path) -> None:
    """Python unpacks these without a bound."""
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_BZIP2) as archive:
        for name in ("offsets", "neighbors", "directed"):
            archive.writestr(f"{name}.npy", _member((3,), bytes(24)))
    with pytest.raises(UnsupportedError, match=r"a\.npz: the array offsets is compressed"):
        gl.read(tmp_path / "a.npz")


def test_the_first_asymmetric_line_of_many_is_found(tmp_path: Path) -> None:
    n = 50_000
    lines = [f"{v + 2}" if v % 2 == 0 else f"{v}" for v in range(n)]
    lines[n - 10] = lines[n - 10] + f" {n}"
    path = tmp_path / "a.metis"
    path.write_text(f"{n} {n // 2}\n% a comment\n" + "\n".join(lines) + "\n")
    with pytest.raises(gl.InputError, match=rf"line {n - 10 + 3}: vertex {n - 9} lists {n} more often"):
        gl.read(path)
