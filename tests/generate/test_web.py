"""Graphs like the web: the requested number of links, hosts, copied lists and popular pages."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from graphlode.errors import InputError
from graphlode.generate import rmat_edges, web_edges
from graphlode.locality import EdgeOrder


@pytest.mark.parametrize("scale", [0, 1, 3, 4, 11])
def test_there_are_as_many_links_as_asked_for_page_by_page(scale: int) -> None:
    for seed in (0, 2**64 - 1):
        src, dst = web_edges(scale, 8, seed=seed)
        assert src.size == dst.size == 8 << scale and src.dtype == dst.dtype == np.int32
        assert (np.diff(src) >= 0).all() and src[0] >= 0
        assert dst.min() >= 0 and dst.max() < 2**scale and src.max() < 2**scale


def test_links_depend_on_the_arguments_alone() -> None:
    first, again, other = (web_edges(10, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first[1], other[1])


def test_lists_that_are_drawn_in_pieces_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = web_edges(9, 7, seed=5)
    monkeypatch.setattr(import_module("graphlode.generate.web"), "_LINKS_AT_ONCE", 100)
    np.testing.assert_array_equal(web_edges(9, 7, seed=5), whole)


def test_links_are_near_copied_and_lead_to_popular_pages() -> None:
    scale, factor = 14, 16
    src, dst = web_edges(scale, factor, seed=1)
    random = rmat_edges(scale, factor, seed=1)
    assert (np.abs(src.astype(int) - dst) < 256).mean() > 0.5 > (np.abs(random[0].astype(int) - random[1]) < 256).mean()
    arriving, leaving = np.bincount(dst), np.bincount(src)
    assert arriving.max() > 50 * arriving.mean() and leaving.max() > 8 * leaving.mean()
    # A page has far more links in common with the page before it than with one somewhere else.
    lists = [set(part.tolist()) for part in np.split(dst, np.cumsum(leaving)[:-1])]
    pages = range(1, len(lists))
    beside, elsewhere = (sum(len(lists[v] & lists[v - back]) for v in pages) for back in (1, len(lists) // 3))
    assert beside > 5 * elsewhere > 0


def test_a_sorted_list_of_links_is_far_more_local_than_that_of_a_recursive_matrix() -> None:
    lines = [
        EdgeOrder(*edges, order="sorted").lines_per_edge()
        for edges in (web_edges(16, 8, seed=2), rmat_edges(16, 8, seed=2))
    ]
    assert 2 * lines[0] < lines[1]


@pytest.mark.parametrize(
    "wrong", [{"scale": -1}, {"scale": 32}, {"edge_factor": -1}, {"seed": -1}, {"num_edges": 2**41}]
)
def test_arguments_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match="must be|at most"):
        web_edges(**{"scale": 4, **wrong})
