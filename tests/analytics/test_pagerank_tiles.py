"""PageRank on tiles: same values as on rows, bit-identical for any number of threads, chosen when it pays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.analytics.pagerank import _likely_iterations
from graphlode.cpu.analytics.pagerank import prefers_tiles
from graphlode.cpu.device import CpuDevice
from graphlode.cuda.analytics.pagerank_tiles import cut_segments
from graphlode.errors import InputError, UnsupportedError
from graphlode.generate import complete, kronecker, rmat, star
from strategies import EdgeList, edge_lists


@settings(max_examples=12)
@given(edges=edge_lists(most_vertices=65, most_edges=600), directed=st.booleans(), personal=st.booleans())
def test_tiles_have_the_values_of_rows(device: str, edges: EdgeList, directed: bool, personal: bool) -> None:
    graph = gl.from_edges(edges.src, edges.dst, num_vertices=edges.num_vertices, directed=directed)
    weights = np.arange(1, graph.num_vertices + 1) % 3 if personal and graph.num_vertices else None
    rows, tiles = (
        gl.pagerank(graph, tol=1e-9, personalization=weights, layout=layout, devices=device)
        for layout in ("rows", "tiles")
    )
    np.testing.assert_allclose(tiles.values, rows.values, rtol=1e-12, atol=1e-15)
    assert (tiles.iterations, tiles.converged) == (rows.iterations, rows.converged)
    assert rows.provenance.method == "power iteration"
    assert tiles.provenance.method == "power iteration on tiles"


@pytest.mark.parametrize("directed", [False, True])
def test_isolated_vertices_have_the_values_of_rows(device: str, directed: bool) -> None:
    src, dst = np.random.default_rng(3).integers(0, 40, (2, 60))
    graph = gl.from_edges(5 * src, 5 * dst, num_vertices=200, directed=directed)
    for tol in (1e-2, 1e-5, 1e-9):
        rows, tiles = (
            gl.pagerank(graph, tol=tol / 200, layout=layout, devices=device, max_iter=200)
            for layout in ("rows", "tiles")
        )
        np.testing.assert_allclose(tiles.values, rows.values, rtol=1e-12)
        assert (tiles.iterations, tiles.converged) == (rows.iterations, rows.converged) and tiles.iterations > 1
        assert tiles.values.sum() == pytest.approx(1)


@pytest.mark.parametrize("directed", [False, True])
def test_several_rows_and_columns_of_tiles_have_the_values_of_rows(directed: bool, threads: int) -> None:
    graph = rmat(18, 8, seed=2, directed=directed)
    with gl.configure(threads=threads):
        rows, tiles = (
            gl.pagerank(graph, tol=1e-12, layout=layout, devices="cpu").values for layout in ("rows", "tiles")
        )
    np.testing.assert_allclose(tiles, rows, rtol=1e-11)


def test_tiles_in_emulated_blocks_have_the_values_of_rows() -> None:
    graph = rmat(14, 4, seed=2, directed=True)
    rows, tiles = (
        gl.pagerank(graph, tol=0, max_iter=3, layout=layout, devices="cuda-emulated").values
        for layout in ("rows", "tiles")
    )
    np.testing.assert_allclose(tiles, rows, rtol=1e-12)


def test_values_on_tiles_are_the_same_to_the_last_bit_on_any_number_of_threads(threads: int) -> None:
    graph = kronecker(17, 16, seed=2)  # with rows of more than one segment
    with gl.configure(threads=1):
        expected = gl.pagerank(graph, tol=0, max_iter=4, layout="tiles", devices="cpu")
    with gl.configure(threads=threads):
        found = gl.pagerank(graph, tol=0, max_iter=4, layout="tiles", devices="cpu")
    assert found.values.tobytes() == expected.values.tobytes()


def test_tiles_are_chosen_for_many_vertices_and_iterations() -> None:
    large, small = ({"num_vertices": n, "num_entries": 16 * n} for n in (1 << 20, 1 << 15))
    sparse = {"num_vertices": 1 << 30, "num_entries": 1 << 20}
    cpu = CpuDevice()
    with gl.configure(threads=2):
        assert prefers_tiles(cpu, large, 10) and not prefers_tiles(cpu, large, 2) and not prefers_tiles(cpu, small, 100)
        assert not prefers_tiles(cpu, sparse, 100)


def test_tiles_are_chosen_where_every_thread_has_a_row_of_tiles() -> None:
    few_rows, many_rows = ({"num_vertices": n, "num_entries": 16 * n} for n in (1 << 18, 1 << 22))
    chosen = {}
    for threads in (1, 2, 4, 5, 16, 64, 65):
        with gl.configure(threads=threads):
            chosen[threads] = [prefers_tiles(CpuDevice(), shape, 20) for shape in (few_rows, many_rows)]
    both, larger, none = [True, True], [False, True], [False, False]
    assert chosen == {1: both, 2: both, 4: both, 5: larger, 16: larger, 64: larger, 65: none}


def test_the_number_of_iterations_is_guessed_from_the_tolerance() -> None:
    given = {"damping": 0.85, "max_iter": 100}
    assert _likely_iterations(given | {"tolerance": 3.0}) == 1
    assert _likely_iterations(given | {"tolerance": 0.0}) == 100
    assert 30 < _likely_iterations(given | {"tolerance": 1e-8}) < 60
    assert _likely_iterations(given | {"tolerance": 1e-8, "max_iter": 7}) == 7


def test_auto_uses_tiles_where_they_pay_and_reports_it() -> None:
    graph = rmat(18, 4, seed=1, directed=True)
    with gl.configure(threads=2):
        assert gl.pagerank(graph, tol=1e-14, devices="cpu").provenance.method == "power iteration on tiles"
        assert gl.pagerank(star(9), tol=1e-14, devices="cpu").provenance.method == "power iteration"
    other = rmat(18, 4, seed=1, directed=True)
    with gl.configure(threads=16):
        assert gl.pagerank(other, tol=0, max_iter=20, devices="cpu").provenance.method == "power iteration"


def test_a_store_is_ranked_on_tiles_as_well() -> None:
    store = gl.DynamicGraph(devices="cpu", num_vertices=50)
    store.insert(*np.random.default_rng(1).integers(0, 50, (2, 200)))
    rows, tiles = (gl.pagerank(store, tol=1e-10, layout=layout) for layout in ("rows", "tiles"))
    np.testing.assert_allclose(tiles.values, rows.values, rtol=1e-12)


def test_tiles_refuse_what_they_cannot_do() -> None:
    with pytest.raises(InputError, match="layout must be one of auto, rows, tiles, got 'grid'"):
        gl.pagerank(complete(3), layout="grid")  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="tiles have no weights"):
        gl.pagerank(gl.from_edges([0], [1], weights=[2.0]), weights=True, layout="tiles", devices="cpu")
    store = gl.DynamicGraph(devices=["cpu", "cpu"], num_vertices=4)
    with pytest.raises(UnsupportedError, match="of one device"):
        gl.pagerank(store, layout="tiles")


def test_segments_cover_all_edges_of_every_row_once() -> None:
    segments = cut_segments(np.array([0, 10, 10, 13, 40]), 1, 8)
    edges = [[0, 0, 5], [0, 5, 10], [2, 10, 13], [3, 13, 19], [3, 19, 26], [3, 26, 33], [3, 33, 40]]
    assert segments.tolist() == [[*cut, 0] for cut in edges]
    assert cut_segments(np.array([0, 0]), 1, 8).shape == (0, 4)


def test_segments_begin_in_the_tile_of_their_first_edge() -> None:
    ends = np.array([0, 0, 4, 4, 10, 10, 10, 13])  # two rows of three tiles, and another tile
    segments = cut_segments(ends[:7], 3, 5)
    assert segments.tolist() == [[0, 0, 4, 1], [1, 4, 7, 0], [1, 7, 10, 0]]
    assert cut_segments(np.array([0, 2, 2, 9]), 3, 4).tolist() == [[0, 0, 3, 0], [0, 3, 6, 2], [0, 6, 9, 2]]
