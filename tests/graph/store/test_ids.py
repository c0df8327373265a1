"""Original ids to positions, as they arrive."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlode.errors import InputError
from graphlode.graph.store import ids as ids_module
from graphlode.graph.store.ids import UNKNOWN, VertexIds

SPREADS = st.sampled_from([(0, 30), (0, 70_000), (-40, 40), (-(2**63), 2**63 - 1), (2**40, 2**40 + 50)])


def array(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


@given(data=st.data())
def test_positions_are_those_of_a_dictionary(data: st.DataObject) -> None:
    known: dict[int, int] = {}
    ids = VertexIds()
    for _ in range(data.draw(st.integers(1, 6))):
        low, high = data.draw(SPREADS)
        batch = data.draw(st.lists(st.integers(low, high), max_size=40))
        brings = data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch)))
        brought = {name for name, brought in zip(batch, brings, strict=True) if brought}
        admission = ids.admit(array(batch), np.array(brings, bool))
        after = dict(known)
        for name in sorted(brought - set(known)):
            after[name] = len(after)
        assert admission.positions.tolist() == [after.get(name, UNKNOWN) for name in batch]
        assert admission.num_vertices == len(after)
        if data.draw(st.booleans()):  # a batch that fails is not kept
            ids.keep(admission)
            known = after
        assert len(ids) == len(known)
        wanted = [*batch, *known, 7, -7]
        assert ids.find(array(wanted)).tolist() == [known.get(name, UNKNOWN) for name in wanted]
    names = ids.as_array()
    assert (list(range(len(known))) if names is None else names.tolist()) == list(known)


def test_new_ids_of_a_batch_come_in_ascending_order_after_those_that_are_there() -> None:
    ids = VertexIds()
    ids.keep(ids.admit(array([50, 10, 50])))
    ids.keep(ids.admit(array([40, 10, 5])))
    names = ids.as_array()
    assert names is not None and names.tolist() == [10, 50, 5, 40]


def test_ids_that_arrive_as_0_1_2_need_no_names() -> None:
    ids = VertexIds()
    ids.keep(ids.admit(array([2, 0, 1])))
    assert ids.as_array() is None
    ids.keep(ids.admit(array([4])))
    names = ids.as_array()
    assert names is not None and names.tolist() == [0, 1, 2, 4]


def test_an_older_reader_sees_only_what_was_there() -> None:
    ids = VertexIds()
    ids.keep(ids.admit(array([10, 20])))
    before = ids.as_array()
    ids.keep(ids.admit(array([30])))
    assert ids.find(array([10, 30]), below=2).tolist() == [0, UNKNOWN]
    assert before is not None and before.tolist() == [10, 20]


def test_many_scattered_ids_are_found_again() -> None:
    rng = np.random.default_rng(3)
    names = np.unique(rng.integers(-(2**62), 2**62, 30_000))
    order = rng.permutation(names)
    ids = VertexIds()
    for piece in np.array_split(order, 40):
        ids.keep(ids.admit(piece))
    found = ids.as_array()
    assert found is not None and np.array_equal(np.sort(found), names)
    assert np.array_equal(found[ids.find(order)], order)
    assert (ids.find(order + 1) == np.where(np.isin(order + 1, names), ids.find(order + 1), UNKNOWN)).all()


@pytest.mark.parametrize("outside", [-1, 5, 2**40])
def test_fixed_ids_are_the_positions_and_others_are_named(outside: int) -> None:
    ids = VertexIds(5)
    assert ids.admit(array([4, 0])).positions.tolist() == [4, 0]
    with pytest.raises(InputError, match=rf"vertex {outside} is outside 0 \.\. 4"):
        ids.admit(array([1, outside]))
    assert ids.find(array([outside, 3])).tolist() == [UNKNOWN, 3]
    assert len(ids) == 5 and ids.as_array() is None


def test_where_there_are_no_vertices_an_id_is_outside_of_nothing() -> None:
    with pytest.raises(InputError, match="vertex 5 is not there: with num_vertices=0 there are none"):
        VertexIds(0).require(array([5]))


def test_there_is_an_end_to_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids_module, "MAX_ROWS", 3)
    ids = VertexIds()
    ids.keep(ids.admit(array([1, 2, 3])))
    with pytest.raises(InputError, match="would make 4 vertices, at most 3"):
        ids.admit(array([4]))
    assert len(ids) == 3
