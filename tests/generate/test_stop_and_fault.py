"""Native generators stop on request, and leak nothing when memory runs out."""

from __future__ import annotations

import pytest

from graphlode.common.control import Control
from graphlode.cpu import _native
from graphlode.cpu.generate import barabasi_albert, erdos_renyi, rmat

RMAT = {"a": 0.57, "b": 0.19, "c": 0.19, "seed": 1, "relabel": True}
DRAWS = {
    "rmat": lambda control: rmat.draw_edges(12, 0, 100_000, threads=2, control=control, **RMAT),
    "rmat-wide": lambda control: rmat.draw_edges(40, 0, 100_000, threads=2, control=control, **RMAT),
    "pairs": lambda control: erdos_renyi.draw_pairs(5000, 50_000, directed=False, seed=1, threads=2, control=control),
    "each-pair": lambda control: erdos_renyi.draw_each_pair(
        5000, 0.01, directed=True, seed=1, threads=2, control=control
    ),
    "attach": lambda control: barabasi_albert.attach(5000, 4, seed=1, control=control),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
def test_a_stop_takes_effect(draw):
    control = Control()
    control.stop()
    before = _native.live_bytes()
    with pytest.raises(InterruptedError):
        draw(control)
    assert _native.live_bytes() == before


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())
@pytest.mark.parametrize("n", [1, 2])
def test_a_failed_allocation_is_a_memory_error_and_leaks_nothing(draw, n):
    before = _native.live_bytes()
    _native.fail_allocation(n)
    try:
        with pytest.raises(MemoryError):
            draw(Control())
    finally:
        _native.fail_allocation(0)
    assert _native.live_bytes() == before
    src, dst = draw(Control())
    assert len(src) == len(dst) > 0
