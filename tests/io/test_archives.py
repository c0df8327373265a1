"""npz and Parquet files that graphlode did not write, and damaged ones that it did."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from graphlode.errors import InputError, UnsupportedError
from graphlode.graph.build import from_edges
from graphlode.io import read, read_edges, write

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")


def matrix(**options):
    return scipy.sparse.random_array((20, 20), density=0.15, rng=np.random.default_rng(3), **options)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@pytest.mark.parametrize("compressed", [True, False])
def test_sparse_matrices_of_scipy(tmp_path, layout, compressed):
    original = matrix().asformat(layout)
    scipy.sparse.save_npz(tmp_path / "a.npz", original, compressed=compressed)
    edges = read_edges(tmp_path / "a.npz")
    again = scipy.sparse.coo_array((edges.weights, (edges.src, edges.dst)), shape=(20, 20))
    assert np.array_equal(again.toarray(), original.toarray())
    assert edges.num_vertices == 20 and edges.directed is None
    assert read(tmp_path / "a.npz").num_vertices == 20


def test_old_matrix_objects_of_scipy(tmp_path):
    scipy.sparse.save_npz(tmp_path / "a.npz", scipy.sparse.csr_matrix([[0, 2], [0, 0]]))
    edges = read_edges(tmp_path / "a.npz", values="times")
    assert edges.src.tolist() == [0] and edges.dst.tolist() == [1] and edges.times.tolist() == [2]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32])
def test_a_matrix_of_ones_has_no_weights(tmp_path, dtype):
    scipy.sparse.save_npz(tmp_path / "a.npz", scipy.sparse.csr_array(np.array([[0, 1], [1, 0]], dtype)))
    assert read_edges(tmp_path / "a.npz").values is None


def test_other_sparse_layouts_are_not_offered(tmp_path):
    scipy.sparse.save_npz(tmp_path / "a.npz", scipy.sparse.dia_array(np.eye(3)))
    with pytest.raises(UnsupportedError, match="'dia' is not offered"):
        read_edges(tmp_path / "a.npz")


def test_a_matrix_must_be_square_and_finite(tmp_path):
    scipy.sparse.save_npz(tmp_path / "a.npz", scipy.sparse.csr_array((2, 3)))
    with pytest.raises(InputError, match=r"a\.npz: an adjacency matrix is square"):
        read_edges(tmp_path / "a.npz")
    scipy.sparse.save_npz(tmp_path / "b.npz", scipy.sparse.csr_array([[0, np.nan], [0, 0]]))
    with pytest.raises(InputError, match="not a finite number"):
        read_edges(tmp_path / "b.npz")


GOOD = {"offsets": [0, 1, 2], "neighbors": [1, 0], "directed": False}


@pytest.mark.parametrize(
    "change",
    [
        {"offsets": [0, 1, 3]},
        {"offsets": [1, 1, 2]},
        {"offsets": [0, 3, 2]},
        {"offsets": []},
        {"offsets": [0.0, 1.0, 2.0]},
        {"neighbors": [1, 2]},
        {"neighbors": [-1, 0]},
        {"neighbors": [[1, 0]]},
        {"ids": [5]},
        {"ids": [7, 5]},
        {"ids": [5, 5]},
        {"weights": [0.5, 0.5]},
        {"weights": [float("nan")]},
        {"times": [0.5]},
    ],
)
def test_an_archive_that_contradicts_itself_is_refused(tmp_path, change):
    np.savez(tmp_path / "a.npz", **(GOOD | change))
    for reader in (read, read_edges):
        with pytest.raises(InputError, match=r"a\.npz: "):
            reader(tmp_path / "a.npz")


def test_a_hand_made_archive_is_read(tmp_path):
    np.savez(tmp_path / "a.npz", **GOOD, ids=[5, 9], weights=[0.5], times=[3])
    assert read(tmp_path / "a.npz") == from_edges([5], [9], weights=[0.5], times=[3])


def test_archives_with_something_else_and_pickles_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=[1, 2])
    with pytest.raises(InputError, match=r"a\.npz: the archive holds x; expected"):
        read_edges(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", **(GOOD | {"offsets": np.array([{}], object)}))
    with pytest.raises(InputError, match=r"b\.npz: this is not a readable"):
        read_edges(tmp_path / "b.npz")
    np.save(tmp_path / "c.npy", [1, 2])
    (tmp_path / "c.npy").rename(tmp_path / "c.npz")
    with pytest.raises(InputError, match=r"c\.npz: this is a single array"):
        read_edges(tmp_path / "c.npz")


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@pytest.mark.parametrize("kept", [1, 10, 0.5, 0.9, -1])
def test_truncated_files_are_refused(tmp_path, suffix, kept):
    path = tmp_path / f"a{suffix}"
    write(from_edges(np.arange(500), np.arange(500) + 1), path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept) if isinstance(kept, float) else kept])
    with pytest.raises(InputError, match=rf"a\{suffix}: this is not a readable"):
        read_edges(path)


def put(folder, **columns):
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "a.parquet")
    return folder / "a.parquet"


def test_parquet_columns_by_name_or_by_place(tmp_path):
    named = read_edges(put(tmp_path, x=[9, 9], dst=[3, 4], weight=[0.5, 1.5], src=[1, 2]))
    assert named.src.tolist() == [1, 2] and named.dst.tolist() == [3, 4] and named.weights.tolist() == [0.5, 1.5]
    placed = read_edges(put(tmp_path, a=[1, 2], b=[3, 4], c=[5, 6]))
    assert placed.src.tolist() == [1, 2] and placed.dst.tolist() == [3, 4] and placed.weights.tolist() == [5.0, 6.0]
    timed = put(tmp_path, src=[1], dst=[2], time=[2**62 + 1])
    assert read_edges(timed).times.tolist() == [2**62 + 1]
    assert read_edges(timed, values="weights").values is None
    assert read_edges(timed, values=None).values is None


def test_parquet_of_other_integer_types_and_no_rows(tmp_path):
    small = {"src": pyarrow.array([1], pyarrow.uint8()), "dst": pyarrow.array([2], pyarrow.int16())}
    edges = read_edges(put(tmp_path, **small))
    assert edges.src.dtype == edges.dst.dtype == np.int64 and edges.dst.tolist() == [2]
    assert (
        len(read_edges(put(tmp_path, src=pyarrow.array([], pyarrow.int64()), dst=pyarrow.array([], pyarrow.int64()))))
        == 0
    )


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"src": [1]}, "expected at least 2 columns, found 1"),
        ({"src": [1.5], "dst": [2]}, "the column 'src' must hold integers"),
        ({"src": ["a"], "dst": [2]}, "the column 'src' must hold integers"),
        ({"src": [1, 2], "dst": [2, None]}, "row 2: the column 'dst' is empty"),
        ({"src": [1, 2], "dst": [2, 3], "weight": [0.5, float("inf")]}, "row 2: the weight is not a finite number"),
        ({"src": [1], "dst": [2], "time": [0.5]}, "the column 'time' must hold integers"),
    ],
)
def test_malformed_parquet_is_named(tmp_path, columns, message):
    with pytest.raises(InputError, match=rf"a\.parquet: {message}"):
        read_edges(put(tmp_path, **columns))


def test_unsigned_ids_beyond_63_bits_are_refused(tmp_path):
    path = put(tmp_path, src=pyarrow.array([1, 2**63], pyarrow.uint64()), dst=pyarrow.array([1, 1], pyarrow.uint64()))
    with pytest.raises(InputError, match="row 2: 9223372036854775808 does not fit"):
        read_edges(path)
