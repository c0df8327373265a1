"""Results as pandas tables."""

from __future__ import annotations

import pytest

import graphlode as gl

pytest.importorskip("pandas")

GRAPH = gl.from_edges([10, 20, 30, 40], [20, 30, 10, 10])


def test_triangles_by_vertex_become_a_table_of_original_ids() -> None:
    table = gl.count_triangles(GRAPH, by="vertex", devices="cpu").to_pandas()
    assert table.to_dict("list") == {"vertex": [10, 20, 30, 40], "triangles": [1, 1, 1, 0]}


def test_triangles_by_edge_become_a_table_of_original_ids() -> None:
    table = gl.count_triangles(GRAPH, by="edge", devices="cpu").to_pandas()
    assert table.to_dict("list") == {
        "source": [10, 10, 10, 20],
        "target": [20, 30, 40, 30],
        "triangles": [1, 1, 0, 1],
    }


def test_a_total_is_one_row() -> None:
    assert gl.count_triangles(GRAPH, devices="cpu").to_pandas().to_dict("list") == {"triangles": [1]}


def test_core_numbers_become_a_table_of_original_ids() -> None:
    table = gl.core_numbers(GRAPH, devices="cpu").to_pandas()
    assert table.to_dict("list") == {"vertex": [10, 20, 30, 40], "core": [2, 2, 2, 1]}


def test_levels_become_a_table_of_original_ids() -> None:
    table = gl.bfs(GRAPH, 40, devices="cpu").to_pandas()
    assert table.to_dict("list") == {"vertex": [10, 20, 30, 40], "level": [1, 2, 2, 0], "parent": [40, 10, 10, -1]}


def test_components_become_a_table_of_original_ids() -> None:
    table = gl.connected_components(GRAPH, devices="cpu").to_pandas()
    assert table.to_dict("list") == {"vertex": [10, 20, 30, 40], "component": [0, 0, 0, 0]}


def test_ranks_become_a_table_of_original_ids() -> None:
    table = gl.pagerank(gl.from_edges([10], [20]), devices="cpu").to_pandas()
    assert table.to_dict("list") == {"vertex": [10, 20], "value": [0.5, 0.5]}
