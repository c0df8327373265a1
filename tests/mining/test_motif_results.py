"""Conversions of motif counts: plain values, tables, drawings, figures."""

from __future__ import annotations

import json
import pickle
from xml.etree import ElementTree

import numpy as np
import pytest

import graphlode as gl
from graphlode.datasets import dataset
from graphlode.errors import InputError
from graphlode.mining.motif_counts import as_column, induced_from
from graphlode.mining.motif_drawings import log10_of, positions, svg
from graphlode.mining.patterns import PATTERNS, pattern_matrix


@pytest.fixture(scope="module")
def karate() -> gl.MotifCounts:
    return gl.count_motifs(dataset("karate"), devices="reference")


def test_counts_are_those_that_were_asked_for() -> None:
    graph = dataset("karate")
    induced, all_copies = (gl.count_motifs(graph, 3, induced=i, devices="reference") for i in (True, False))
    assert induced.counts == induced.induced == all_copies.induced == (393, 45)
    assert all_copies.counts == all_copies.noninduced == induced.noninduced == (528, 45)


def test_a_pattern_is_found_by_id_and_by_name(karate: gl.MotifCounts) -> None:
    assert karate["H2"] == karate["triangle"] == 45
    with pytest.raises(InputError, match="H29"):
        karate["H30"]


def test_a_result_does_not_change(karate: gl.MotifCounts) -> None:
    with pytest.raises(AttributeError):
        karate.size = 3  # type: ignore[misc]


def test_a_result_survives_pickling(karate: gl.MotifCounts) -> None:
    again = pickle.loads(pickle.dumps(karate))
    assert again.induced == karate.induced and again.provenance == karate.provenance


def test_plain_values_are_json(karate: gl.MotifCounts) -> None:
    plain = json.loads(json.dumps(karate.to_dict()))
    assert plain["order"] == [f"H{i}" for i in range(1, 30)]
    assert plain["induced"] == list(karate.induced) and plain["noninduced"] == list(karate.noninduced)
    assert plain["edges"][1] == [[0, 1], [0, 2], [1, 2]]


def test_a_table_has_a_row_per_pattern(karate: gl.MotifCounts) -> None:
    frame = karate.to_pandas()
    assert list(frame.columns) == ["pattern", "name", "vertices", "edges", "induced", "noninduced"]
    assert frame["induced"].tolist() == list(karate.induced) and frame["induced"].dtype == np.int64


def test_columns_widen_only_where_they_must() -> None:
    assert as_column((1, 2**63 - 1)).dtype == np.int64
    assert as_column((1, 2**63)).tolist() == [1, 2**63]


def test_conversion_is_exact_beyond_64_bits() -> None:
    induced = [10**30 + i for i in range(29)]
    copies = tuple(sum(int(a) * x for a, x in zip(row, induced, strict=True)) for row in pattern_matrix())
    assert list(induced_from(copies)) == induced


def test_every_pattern_is_drawn_with_all_its_vertices_and_edges() -> None:
    for pattern in PATTERNS:
        picture = ElementTree.fromstring(svg(pattern))
        tags = [element.tag.rpartition("}")[2] for element in picture.iter()]
        assert tags.count("circle") == pattern.num_vertices and tags.count("line") == pattern.num_edges
        places = positions(pattern)
        assert len({(round(x, 6), round(y, 6)) for x, y in places}) == pattern.num_vertices
        assert all(-1e-9 <= c <= 1 + 1e-9 for place in places for c in place)


def test_notebooks_show_a_table_of_drawings(karate: gl.MotifCounts) -> None:
    html = karate._repr_html_()
    assert html.count("<svg") == 29 and "hourglass" in html and "1,098" in html
    ElementTree.fromstring(html)


def test_a_figure_has_a_bar_per_pattern(karate: gl.MotifCounts) -> None:
    pytest.importorskip("matplotlib")
    bars, drawings = karate.plot().axes
    assert len(bars.patches) == 29
    assert len(drawings.texts) == 29


def test_figures_show_counts_beyond_floating_point() -> None:
    assert log10_of(10**400) == pytest.approx(400)
    assert log10_of(1) == 0
