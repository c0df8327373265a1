"""Finding, opening and unpacking files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import threading

import pytest

from graphlode.errors import InputError, UnsupportedError
from graphlode.graph.build import from_edges
from graphlode.io import read, read_edges, write

pyarrow = pytest.importorskip("pyarrow")

CONTENT = "".join(f"{i} {i * 7919 % 5003}\n" for i in range(5000)).encode()
PACK = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pyarrow.compress(data, codec="zstd", asbytes=True),
}


@pytest.mark.parametrize("suffix", PACK)
def test_packed_files_read_like_plain_ones(tmp_path, suffix):
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(PACK[suffix](CONTENT))
    edges = read_edges(path)
    assert edges.src.tolist() == list(range(5000))
    assert edges.dst.tolist() == [i * 7919 % 5003 for i in range(5000)]


@pytest.mark.parametrize("suffix", PACK)
def test_several_members_are_read_one_after_the_other(tmp_path, suffix):
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(PACK[suffix](b"1 2\n3") + PACK[suffix](b" 4\n") + PACK[suffix](b""))
    assert read_edges(path).dst.tolist() == [2, 4]


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("kept", [0, 1, 5, 12, 0.3, 0.6, 0.9, -9, -8, -4, -1])
def test_a_truncated_packed_file_is_refused_by_name(tmp_path, suffix, kept):
    packed = PACK[suffix](CONTENT)
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(packed[: int(len(packed) * kept) if isinstance(kept, float) else kept])
    with pytest.raises(InputError, match=r"a\.txt\.\w+: damaged or truncated"):
        read_edges(path)


@pytest.mark.parametrize("suffix", PACK)
def test_a_corrupt_packed_file_is_refused(tmp_path, suffix):
    packed = bytearray(PACK[suffix](CONTENT))
    for at in range(len(packed) // 2, len(packed) // 2 + 40):
        packed[at] ^= 0x5A
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(packed)
    with pytest.raises(InputError, match=rf"a\.txt\{suffix}"):
        read_edges(path)


@pytest.mark.parametrize("suffix", PACK)
def test_a_plain_file_with_the_suffix_of_a_packed_one_is_refused(tmp_path, suffix):
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(CONTENT)
    with pytest.raises(InputError, match="damaged or truncated"):
        read_edges(path)


def test_gzip_padding_is_ignored_and_garbage_is_not(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"1 2\n") + b"\0" * 512)
    assert len(read_edges(path)) == 1
    path.write_bytes(gzip.compress(b"1 2\n") + b"garbage")
    with pytest.raises(InputError, match="damaged or truncated"):
        read_edges(path)


def test_line_numbers_count_unpacked_lines(tmp_path):
    path = tmp_path / "a.csv.xz"
    path.write_bytes(lzma.compress(b"u,v\n" + b"1,2\n" * 99 + b"oops,1\n"))
    with pytest.raises(InputError, match=r"a\.csv\.xz, line 101: "):
        read_edges(path)


@pytest.mark.parametrize("name", ["no.txt", "no.txt.gz", "no.txt.zst", "no.mtx", "no.npz", "no.parquet"])
def test_a_missing_file_is_a_file_not_found_error(tmp_path, name):
    for reader in (read, read_edges):
        with pytest.raises(FileNotFoundError):
            reader(tmp_path / name)


@pytest.mark.parametrize("name", ["d.txt", "d.txt.gz", "d.mtx", "d.npz", "d.parquet"])
def test_a_directory_is_refused(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="directory"):
        read_edges(tmp_path / name)
    with pytest.raises(InputError, match="directory"):
        write(from_edges([0], [1]), tmp_path / name)


@pytest.mark.parametrize("name", ["graph", "graph.xyz", "graph.gz", "graph.xyz.gz"])
def test_an_unknown_suffix_asks_for_the_format(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(PACK[".gz"](b"1 2\n") if name.endswith("gz") else b"1 2\n")
    with pytest.raises(InputError, match="format="):
        read_edges(path)
    assert len(read_edges(path, format="text")) == 1


def test_suffixes_may_be_upper_case(tmp_path):
    path = tmp_path / "A.TXT"
    path.write_bytes(b"1 2\n")
    assert len(read_edges(path)) == 1


def test_unknown_options_are_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"1 2\n")
    with pytest.raises(InputError, match="unknown format 'gml'"):
        read_edges(path, format="gml")
    with pytest.raises(InputError, match="values must be"):
        read_edges(path, values="colors")
    with pytest.raises(UnsupportedError, match="compressed themselves"):
        read_edges(tmp_path / "a.npz.gz")


def test_a_pipe_is_read_to_its_end(tmp_path):
    path = tmp_path / "pipe.txt"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(CONTENT))
    writer.start()
    assert len(read_edges(path)) == 5000
    writer.join()


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python 3.14 reads zstd itself")
def test_zstd_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "a.txt.zst"
    path.write_bytes(PACK[".zst"](b"1 2\n"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnsupportedError, match=r"pip install graphlode\[arrow\]"):
        read_edges(path)
    with pytest.raises(UnsupportedError, match=r"pip install graphlode\[arrow\]"):
        write(from_edges([0], [1]), path)


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(UnsupportedError, match=r"pip install graphlode\[arrow\]"):
        read_edges(tmp_path / "a.parquet")


@pytest.mark.parametrize("suffix", [".mtx", ".metis", ".gr", ".npz", ".parquet"])
def test_an_empty_file_is_malformed_where_a_header_is_needed(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"")
    with pytest.raises(InputError, match=rf"a\{suffix}"):
        read(path)


def test_many_readers_at_once(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(CONTENT))
    sizes = []
    readers = [threading.Thread(target=lambda: sizes.append(len(read_edges(path)))) for _ in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert sizes == [5000] * 8


def test_a_missing_folder_is_named_as_it_was_given(tmp_path):
    target = tmp_path / "no" / "such.txt"
    for name in ("such.txt", "such.npz"):
        with pytest.raises(FileNotFoundError) as caught:
            write(from_edges([0], [1]), target.with_name(name))
        assert caught.value.filename == str(target.with_name(name))


def test_write_takes_what_operations_take(tmp_path):
    networkx = pytest.importorskip("networkx")
    write(networkx.path_graph(3), tmp_path / "path.txt")
    assert read(tmp_path / "path.txt").num_edges == 2
    with pytest.raises(InputError, match="a graph is a graphlode.Graph"):
        write([(0, 1)], tmp_path / "pairs.txt")


def test_what_a_message_quotes_is_printable(tmp_path):
    path = tmp_path / "binary.mtx"
    path.write_bytes(b"PK\x1b[31m\x00\x0b\xff line\n")
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).isprintable() and "PK\\x1b[31m" in str(caught.value)


def test_a_long_number_before_a_last_carriage_return_ends_with_the_file(tmp_path):
    """The last line may have any length: nothing after the end of the map is read."""
    line = b"1 2 0." + b"0" * 100 + b"1\r"
    path = tmp_path / "page.txt"
    path.write_bytes(b"0 1 2\n" * ((4096 - len(line)) // 6) + b" " * ((4096 - len(line)) % 6) + line)
    assert path.stat().st_size % 4096 == 0
    assert read_edges(path).weights[-1] == 1e-101
