"""Orders of an edge list: passes permute it, agree with a plain reference, and narrow blocks as promised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphlode as gl
from graphlode.common.control import Control
from graphlode.cpu.locality import progressive as kernel
from graphlode.errors import InputError
from graphlode.execute.devices import cpu
from graphlode.locality import EdgeOrder
from graphlode.reference.locality import progressive as reference

LANES = (2, 3, 4, 7, 16, 32, 33, 64, 128, 256)
LENGTHS = (0, 1, 2, 3, 7, 8, 9, 31, 63, 64, 65, 127, 128, 129, 1000, 1023, 4097, 20_011)


def random_list(length: int, seed: int = 0, num_vertices: int = 500) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, num_vertices, length, dtype=np.int32), rng.integers(0, num_vertices, length, dtype=np.int32)


@pytest.mark.parametrize("lanes", LANES)
def test_every_pass_over_a_list_of_any_length_is_that_of_the_reference(lanes: int) -> None:
    for length in LENGTHS:
        order = EdgeOrder(*random_list(length, lanes), order="progressive", lanes=lanes)
        while not order.settled:
            expected = reference.reorder(order.edges, lanes, order.level + 1)
            assert order.next_pass()
            np.testing.assert_array_equal(order.edges, expected, f"{length} edges, level {order.level}")


@given(st.integers(0, 3000), st.sampled_from(LANES), st.integers(0, 100), st.sampled_from(["source", "destination"]))
def test_a_pass_is_a_permutation_of_the_edges(length: int, lanes: int, seed: int, key: Any) -> None:
    src, dst = random_list(length, seed)
    order = EdgeOrder(src, dst, order="progressive", lanes=lanes, key=key)
    before = sorted(zip(src.tolist(), dst.tolist(), strict=True))
    for _ in range(4):
        order.next_pass()
        assert sorted(zip(order.src.tolist(), order.dst.tolist(), strict=True)) == before


def test_a_step_puts_the_jth_smallest_into_the_jth_block() -> None:
    order = EdgeOrder([5, 2, 9, 7, 0, 1], [0] * 6, order="progressive", lanes=3)
    order.next_pass()  # steps take the places 0, 2, 4 and 1, 3, 5
    assert order.src.tolist() == [0, 1, 5, 2, 9, 7]
    order.next_pass()  # groups of two edges are blocks of the pass before
    assert order.src.tolist() == [0, 1, 2, 5, 7, 9]
    assert order.settled and not order.next_pass()


def test_blocks_of_uneven_length_take_part_as_long_as_they_last() -> None:
    order = EdgeOrder([4, 1, 3, 2, 0], [0] * 5, order="progressive", lanes=2)
    order.next_pass()  # blocks [4, 1] and [3, 2, 0]: the last 0 has no counterpart
    assert order.src.tolist() == [3, 1, 4, 2, 0]


@pytest.mark.parametrize("lanes", [4, 16, 64])
def test_each_pass_narrows_the_keys_of_a_block_by_about_the_root_of_the_lanes(lanes: int) -> None:
    length, passes = 2**18 + 77, 3 if lanes == 4 else 2
    keys = np.random.default_rng(5).permutation(length)
    order = EdgeOrder(keys, keys, order="progressive", lanes=lanes)
    spreads = [_spread(order, 1)]
    for level in range(1, passes + 1):
        order.next_pass()
        spreads.append(_spread(order, lanes**level))
    # The j-th smallest of M uniform numbers has the variance p (1 - p) / (M + 2) with p = j / (M + 1).
    p = np.arange(1, lanes + 1) / (lanes + 1)
    assert spreads[1] / length == pytest.approx(np.sqrt(p * (1 - p) / (lanes + 2)).mean(), rel=0.01)
    for before, after in zip(spreads[1:], spreads[2:], strict=False):
        assert 0.5 * lanes**0.5 < before / after < 1.5 * lanes**0.5


def _spread(order: EdgeOrder, num_blocks: int) -> float:
    """The standard deviation of the keys within a block, on average over the blocks."""
    cuts = [block * order.num_edges // num_blocks for block in range(1, num_blocks)]
    return float(np.mean([block.std() for block in np.split(order.src, cuts)]))


def test_passes_are_skipped_and_end_as_specified() -> None:
    edges = random_list(5000)
    done = EdgeOrder(*edges, order="progressive", lanes=4)
    skipping = EdgeOrder(*edges, order="progressive", lanes=4, skip=2)
    assert [skipping.next_pass() for _ in range(7)] == [True, False, False, True, False, False, True]
    for _ in range(3):
        done.next_pass()
    np.testing.assert_array_equal(done.edges, skipping.edges)
    ending = EdgeOrder(*edges, order="progressive", lanes=4, reorderings=2)
    assert [ending.next_pass() for _ in range(4)] == [True, True, False, False] and ending.settled


def test_other_orders_do_not_change_from_pass_to_pass() -> None:
    src, dst = random_list(1000)
    as_given = EdgeOrder(src, dst)
    by_source, by_destination = (EdgeOrder(src, dst, order="sorted", key=key) for key in ("source", "destination"))
    for order in (as_given, by_source, by_destination):
        assert order.settled and not order.next_pass() and order.passes == 1
    assert as_given.src.tolist() == src.tolist() and as_given.dst.tolist() == dst.tolist()
    pairs = list(zip(src.tolist(), dst.tolist(), strict=True))
    assert list(zip(by_source.src.tolist(), by_source.dst.tolist(), strict=True)) == sorted(pairs)
    turned = list(zip(by_destination.dst.tolist(), by_destination.src.tolist(), strict=True))
    assert turned == sorted((v, u) for u, v in pairs)


def test_a_copy_goes_its_own_way_and_the_given_arrays_stay() -> None:
    src, dst = random_list(300)
    kept = src.copy()
    order = EdgeOrder(src, dst, order="progressive", lanes=4)
    order.next_pass()
    other = order.copy()
    before = order.edges.copy()
    other.next_pass()
    assert (order.passes, other.passes) == (1, 2)
    np.testing.assert_array_equal(order.edges, before)
    np.testing.assert_array_equal(src, kept)


def test_locality_is_the_number_of_lines_that_windows_of_the_list_touch() -> None:
    assert EdgeOrder([], []).lines_per_edge() == 0
    assert EdgeOrder([0, 16, 32], [8, 24, 40]).lines_per_edge() == 2  # six vertices, each on a line of eight
    assert EdgeOrder([0, 1, 2], [3, 4, 5]).lines_per_edge() == pytest.approx(1 / 3)
    src = np.random.default_rng(1).integers(0, 2**22, 400_000)
    shuffled = EdgeOrder(src, src).lines_per_edge()
    ordered = EdgeOrder(src, src, order="sorted").lines_per_edge()
    assert shuffled == pytest.approx(1, rel=0.01)
    lines = 2**22 / 8 / 400_000  # that a window of the sorted list spans, per edge
    assert ordered == pytest.approx(lines * (1 - np.exp(-1 / lines)), rel=0.03)


def test_the_largest_vertex_keeps_its_bits() -> None:
    most = 2**31 - 1
    order = EdgeOrder([most, 0, most], [0, most, most], order="progressive", lanes=3, key="destination")
    order.next_pass()
    assert order.src.tolist() == [most, 0, most] and order.dst.tolist() == [0, most, most]


def test_a_pass_is_the_same_on_any_number_of_threads(threads: int) -> None:
    edges = random_list(300_000, num_vertices=2**20)
    order = EdgeOrder(*edges, order="progressive", lanes=16)
    alone = EdgeOrder(*edges, order="progressive", lanes=16)
    for _ in range(3):
        with gl.configure(threads=threads):
            order.next_pass()
        with gl.configure(threads=1):
            alone.next_pass()
    np.testing.assert_array_equal(order.edges, alone.edges)


def test_a_pass_can_be_stopped_and_counts_its_edges() -> None:
    edges = EdgeOrder(*random_list(50_000)).edges
    control = Control()
    kernel.reorder(cpu(), edges, 16, 1, control)
    assert control.done == edges.size
    control.stop()
    with pytest.raises(InterruptedError):
        kernel.reorder(cpu(), edges, 16, 2, control)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"order": "shuffled"}, "order must be one of 'none', 'sorted', 'progressive'"),
        ({"key": "src"}, "key must be one of"),
        ({"lanes": 1}, "lanes must be 2 to 256"),
        ({"lanes": 257}, "lanes must be 2 to 256"),
        ({"lanes": 4.5}, "lanes must be an integer"),
        ({"skip": -1}, "skip must be at least 0"),
        ({"reorderings": -1}, "reorderings must be at least 0"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        EdgeOrder([0], [1], **options)


def test_a_list_lies_on_one_device() -> None:
    with pytest.raises(InputError, match="lies on one device"):
        EdgeOrder([0, 1], [1, 0], order="progressive", lanes=2).next_pass("cpu,cpu")


@pytest.mark.parametrize(("src", "dst"), [([0, 1], [1]), ([-1], [0]), ([2**31], [0]), ([0.5], [1])])
def test_edges_that_cannot_be_are_refused(src: list[Any], dst: list[Any]) -> None:
    with pytest.raises(InputError):
        EdgeOrder(src, dst)
