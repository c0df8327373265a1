"""The tiled view: every edge in its tile, sorted, the same on every device and from rows or lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphlode as gl
from graphlode.common.control import Control
from graphlode.cpu.locality.tiles import tile_list
from graphlode.errors import InputError
from graphlode.execute import call
from graphlode.execute.device import hold
from graphlode.execute.devices import resolve
from graphlode.generate import rmat
from graphlode.graph.views import Tiled
from graphlode.types import AnyArray
from strategies import EdgeList, edge_lists


def tiled_on(graph: gl.Graph, name: str, row_bits: int, **options: bool) -> dict[str, Any]:
    device = resolve(name)[0]
    view = call(lambda control: hold(device, graph, Tiled(row_bits, **options), control), device)
    return {key: device.get(value) if hasattr(value, "size") else value for key, value in view.items()}


def ends_of(view: dict[str, Any]) -> tuple[AnyArray, AnyArray]:
    """Source and destination of every edge, in the order of the tiles."""
    tiles = np.repeat(np.arange(view["tile_offsets"].size - 1), np.diff(view["tile_offsets"]))
    rows, columns = np.divmod(tiles, max(1, -(-view["num_rows"] >> 16)))
    sources = columns << 16 | (view["edges"] >> np.uint32(16)).astype(np.int64)
    return sources, rows << view["row_bits"] | (view["edges"] & np.uint32(0xFFFF)).astype(np.int64)


def spread_out(edges: EdgeList, directed: bool) -> gl.Graph:
    """The same edges between vertices that lie in several rows and columns of tiles."""
    step = 90_001 // max(1, edges.num_vertices)
    size = edges.num_vertices * step
    return gl.from_edges(edges.src * step, edges.dst * step, num_vertices=size, directed=directed)


@settings(max_examples=10)
@given(
    edges=edge_lists(most_vertices=65, most_edges=600), directed=st.booleans(), row_bits=st.sampled_from([10, 13, 16])
)
def test_every_device_has_every_edge_in_its_tile(device: str, edges: EdgeList, directed: bool, row_bits: int) -> None:
    graph = spread_out(edges, directed)
    view = tiled_on(graph, device, row_bits)
    sources, destinations = ends_of(view)
    by_tile = destinations >> row_bits, sources >> 16, sources, destinations
    order = np.lexsort(by_tile[::-1])
    np.testing.assert_array_equal(order, np.arange(order.size))
    tails = np.repeat(np.arange(graph.num_vertices), graph.degrees())
    assert sorted(zip(sources, destinations, strict=True)) == list(zip(tails, graph.csr[1], strict=True))
    assert view["out_degrees"].tolist() == graph.degrees().tolist()
    assert view["edges"].dtype == np.uint32 and view["num_rows"] == graph.num_vertices


@settings(max_examples=10)
@given(edges=edge_lists(most_vertices=65, most_edges=100), directed=st.booleans(), gap=st.sampled_from([0, 1, 3]))
def test_vertices_without_edges_are_left_out_where_they_are_many(
    device: str, edges: EdgeList, directed: bool, gap: int
) -> None:
    step = gap + 1
    graph = gl.from_edges(edges.src * step, edges.dst * step, num_vertices=edges.num_vertices * step, directed=directed)
    tails, heads = graph.edges(indices=True).T
    touched = np.unique(np.concatenate([tails, heads]))
    view = tiled_on(graph, device, 16, linked=True, directed=directed)
    if not 0 < touched.size <= graph.num_vertices - graph.num_vertices // 8 < graph.num_vertices:
        assert "linked" not in view and view["num_rows"] == graph.num_vertices
        return
    np.testing.assert_array_equal(view["linked"], touched)
    assert (view["num_rows"], view["num_vertices"]) == (touched.size, graph.num_vertices)
    sources, destinations = (touched[ends] for ends in ends_of(view))
    of_rows = np.repeat(np.arange(graph.num_vertices), graph.degrees())
    assert sorted(zip(sources, destinations, strict=True)) == list(zip(of_rows, graph.csr[1], strict=True))
    assert view["out_degrees"].tolist() == graph.degrees()[touched].tolist()


def test_rows_and_shuffled_lists_have_the_same_tiles(threads: int) -> None:
    graph = rmat(17, 8, seed=3, directed=True)
    with gl.configure(threads=threads):
        view = graph.view(Tiled())
        src, dst = np.random.default_rng(1).permutation(graph.edges(indices=True)).T.astype(np.int64)
        tile_offsets, edges = tile_list(src << 32 | dst, graph.num_vertices, Control())
    np.testing.assert_array_equal(tile_offsets, view["tile_offsets"])
    np.testing.assert_array_equal(edges, view["edges"])


def test_edges_take_four_bytes() -> None:
    graph = rmat(17, 8, seed=3)
    view = graph.view(Tiled())
    assert view["edges"].nbytes == 4 * graph.csr[1].size
    assert view["tile_offsets"].nbytes < 100 and not view["edges"].flags.writeable


@pytest.mark.parametrize("row_bits", [9, 17])
def test_rows_of_other_sizes_are_refused(row_bits: int) -> None:
    with pytest.raises(InputError, match="row_bits must be 10 to 16"):
        Tiled(row_bits)


def test_a_list_with_an_end_outside_the_graph_is_refused() -> None:
    with pytest.raises(ValueError, match="outside the vertices"):
        tile_list(np.array([5], np.int64), 5, Control())
