"""A window that slides over a list of edges: insertions, deletions, and the edges in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.errors import InputError
from graphlode.graph.store.sliding import Sliding, in_order


def test_a_window_slides_over_all_edges_and_begins_again() -> None:
    edges = np.arange(10)
    sliding = Sliding(edges, edges + 100, load=0.5, slide=0.2, slides=4)
    window = set(sliding.first().src.tolist())
    for batch in sliding.batches():
        going, coming = batch.src[batch.delete].tolist(), batch.src[~batch.delete].tolist()
        assert len(going) == len(coming) == 2 and set(going) <= window and not set(coming) & window
        window = window - set(going) | set(coming)
    assert window == set(edges[sliding.after(sliding.slides)].tolist()) == {8, 9, 0, 1, 2}


def test_every_edge_comes_with_its_weight_every_time() -> None:
    edges = np.arange(10)
    sliding = Sliding(edges, edges + 100, load=0.5, slide=0.2, slides=7, weights=edges + 0.5)
    for batch in (sliding.first(), *sliding.batches()):
        assert batch.weights is not None and np.array_equal(batch.weights, batch.src + 0.5)


def test_a_hundred_slides_of_a_hundredth_end_where_they_began() -> None:
    edges = np.arange(1234)
    sliding = Sliding(edges, edges + 1, load=0.5, slide=0.01, slides=100)
    sizes = {int(batch.delete.sum()) for batch in sliding.batches()}
    assert sizes == {12, 13} and sliding.step == 12
    assert np.array_equal(sliding.after(sliding.slides), edges[: sliding.loaded])


def test_edges_come_by_time_if_they_have_times() -> None:
    graph = gl.from_edges([0, 1, 2], [1, 2, 3], times=[30, 10, 20])
    assert in_order(graph)[0].tolist() == [1, 2, 0]
    plain = gl.rmat(8, 6, seed=1, directed=True)
    shuffled = in_order(plain)
    assert not np.array_equal(shuffled[0], np.sort(shuffled[0])) and np.array_equal(shuffled[0], in_order(plain)[0])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [({"load": 0}, "loaded must be above 0"), ({"slide": 0.6}, "a slide must be"), ({"slides": -1}, "slides must not")],
)
def test_a_window_that_cannot_be_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Sliding(np.arange(10), np.arange(10) + 1, **wrong)
