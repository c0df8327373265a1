"""Original ids get positions as they arrive."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlode.errors import InputError
from graphlode.graph.store import ids as ids_module
from graphlode.graph.store.ids import UNKNOWN, Admission, VertexIds

SPREADS = st.sampled_from([(0, 30), (0, 70_000), (-40, 40), (-(2**63), 2**63 - 1), (2**40, 2**40 + 50)])


def array(values: Any) -> np.ndarray:
    return np.array(values, np.int64)


def bring(ids: VertexIds, names: Any) -> Admission:
    """Add the ids of a batch of self-loops."""
    admission = ids.admit(array(names), array(names))
    ids.keep(admission)
    return admission


@given(data=st.data())
def test_positions_are_those_of_a_dictionary(data: st.DataObject) -> None:
    known: dict[int, int] = {}
    ids = VertexIds()
    for _ in range(data.draw(st.integers(1, 6))):
        names = st.integers(*data.draw(SPREADS))
        batch = data.draw(st.lists(st.tuples(names, names, st.booleans()), max_size=40))
        src, dst, gone = ([edge[column] for edge in batch] for column in range(3))
        brought = {name for u, v, is_deleted in batch if not is_deleted for name in (u, v)}
        admission = ids.admit(array(src), array(dst), np.array(gone, bool))
        after = dict(known)
        for name in sorted(brought - set(known)):
            after[name] = len(after)
        found = list(zip(admission.src.tolist(), admission.dst.tolist(), strict=True))
        assert found == [(after[u], after[v]) if {u, v} <= after.keys() else (0, 0) for u, v, _ in batch]
        assert admission.num_vertices == len(after)
        assert admission.dropped == sum(u != v and not {u, v} <= after.keys() for u, v, _ in batch)
        if data.draw(st.booleans()):  # a batch that fails is not kept
            ids.keep(admission)
            known = after
        assert len(ids) == len(known)
        wanted = [*src, *dst, *known, 7, -7]
        assert ids.find(array(wanted)).tolist() == [known.get(name, UNKNOWN) for name in wanted]
    names_there = ids.as_array()
    assert (list(range(len(known))) if names_there is None else names_there.tolist()) == list(known)


def test_new_ids_of_a_batch_come_in_ascending_order_after_those_that_are_there() -> None:
    ids = VertexIds()
    bring(ids, [50, 10, 50])
    bring(ids, [40, 10, 5])
    names = ids.as_array()
    assert names is not None and names.tolist() == [10, 50, 5, 40]


def test_ids_that_arrive_as_0_1_2_need_no_names() -> None:
    ids = VertexIds()
    bring(ids, [2, 0, 1])
    assert ids.as_array() is None
    bring(ids, [4])
    names = ids.as_array()
    assert names is not None and names.tolist() == [0, 1, 2, 4]


def test_an_older_reader_sees_only_what_was_there() -> None:
    ids = VertexIds()
    bring(ids, [10, 20])
    before = ids.as_array()
    bring(ids, [30])
    assert ids.find(array([10, 30]), below=2).tolist() == [0, UNKNOWN]
    assert before is not None and before.tolist() == [10, 20]


def test_many_scattered_ids_are_found_again() -> None:
    rng = np.random.default_rng(3)
    names = np.unique(rng.integers(-(2**62), 2**62, 30_000))
    order = rng.permutation(names)
    ids = VertexIds()
    for piece in np.array_split(order, 40):
        bring(ids, piece)
    found = ids.as_array()
    assert found is not None and np.array_equal(np.sort(found), names)
    assert np.array_equal(found[ids.find(order)], order)
    assert (ids.find(order + 1) == np.where(np.isin(order + 1, names), ids.find(order + 1), UNKNOWN)).all()


def test_large_batches_are_located_as_small_ones_are() -> None:
    rng = np.random.default_rng(8)
    src, dst = rng.integers(-(2**62), 2**62, (2, 50_000))
    gone = rng.random(src.size) < 0.3
    small, large = VertexIds(), VertexIds()
    bring(small, np.concatenate([src[~gone], dst[~gone]]))
    large.keep(large.admit(src, dst, gone))
    one, other = small.as_array(), large.as_array()
    assert one is not None and other is not None and np.array_equal(one, other)
    assert large.admit(src, dst, True).dropped == np.count_nonzero((small.find(src) < 0) | (small.find(dst) < 0))


def test_columns_of_different_types_are_one_kind_of_id() -> None:
    ids = VertexIds()
    admission = ids.admit(np.array([-1, 5], np.int32), array([2**40, -1]))
    assert (admission.src.tolist(), admission.dst.tolist()) == ([0, 1], [2, 0])


@pytest.mark.parametrize("outside", [-1, 5, 2**40])
def test_fixed_ids_are_the_positions_and_others_are_named(outside: int) -> None:
    ids = VertexIds(5)
    ids.require(array([4, 0]))
    with pytest.raises(InputError, match=rf"vertex {outside} is outside 0 \.\. 4"):
        ids.require(array([1, outside]))
    assert ids.find(array([outside, 3])).tolist() == [UNKNOWN, 3]
    assert len(ids) == 5 and ids.as_array() is None


def test_where_there_are_no_vertices_an_id_is_outside_of_nothing() -> None:
    with pytest.raises(InputError, match="vertex 5 is not there: with num_vertices=0 there are none"):
        VertexIds(0).require(array([5]))


def test_there_is_an_end_to_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids_module, "MAX_ROWS", 3)
    ids = VertexIds()
    bring(ids, [1, 2, 3])
    with pytest.raises(InputError, match="would make 4 vertices, at most 3"):
        ids.admit(array([4]), array([1]))
    assert len(ids) == 3
