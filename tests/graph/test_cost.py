"""The cost model, on made-up times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlode.graph.balance import EVERY, Balance, even_finish
from graphlode.graph.cost import (
    CHOICES,
    CostModel,
    DecayingFit,
    certainly_in_place,
    entries_rewritten,
    rule_of_thumb,
    trial_batches,
)
from graphlode.packed import Path

# Seconds of a machine that is quick in place but pays for every leaf, and slow to start a merge.
TRUE: dict[Path, tuple[float, float, float]] = {
    "in place": (5e-6, 1e-7, 4e-9),
    "merge": (5e-5, 2e-8, 1e-9),
    "rebuild": (5e-5, 1e-8, 5e-9),
}


def true_seconds(path: Path, updates: int, entries: int) -> float:
    a, b, c = TRUE[path]
    return a + b * updates + c * entries_rewritten(path, updates, entries)


def trial(size: int) -> Iterator[tuple[Path, int, int, float]]:
    for path, updates in trial_batches(size):
        yield path, updates, size, true_seconds(path, updates, size)


@pytest.fixture
def model() -> CostModel:
    made = CostModel()
    made.calibrate(trial)
    return made


@pytest.mark.parametrize("entries", [1000, 100_000, 10_000_000])
@pytest.mark.parametrize("updates", [1, 100, 10_000, 1_000_000])
def test_a_calibrated_model_picks_what_is_fastest(model: CostModel, updates: int, entries: int) -> None:
    chosen = model.choose(updates, entries)
    best = min(true_seconds(path, updates, entries) for path in CHOICES)
    assert true_seconds(chosen, updates, entries) <= 1.2 * best


def test_small_batches_go_in_place_and_large_ones_do_not(model: CostModel) -> None:
    assert model.choose(10, 10_000_000) == "in place"
    assert model.choose(5_000_000, 10_000_000) == "merge"
    assert model.choose(10, 0) == "rebuild"


def test_batches_correct_a_wrong_calibration() -> None:
    model = CostModel()
    model.calibrate(lambda size: ((p, u, e, 1000 * s if p == "in place" else s) for p, u, e, s in trial(size)))
    assert model.choose(50, 4900) != "in place"
    for updates in (50, 100, 400, 100, 50) * 10:
        model.observe("in place", updates, 4900, true_seconds("in place", updates, 4900))
    assert model.choose(50, 4900) == "in place"


def test_batches_that_are_small_beside_the_store_go_in_place_whatever_was_measured() -> None:
    model = CostModel()
    model.calibrate(lambda size: ((p, u, e, 1000 * s if p == "in place" else s) for p, u, e, s in trial(size)))
    assert model.choose(100_000, 10_600_000) == "in place"
    assert model.choose(120_000, 10_600_000) != "in place"
    assert certainly_in_place(100, 10_000) and not certainly_in_place(101, 10_000) and not certainly_in_place(0, 0)


def test_calibration_goes_on_to_larger_shards_where_they_take_hardly_longer() -> None:
    sizes: list[int] = []

    def quick(size: int) -> Iterator[tuple[Path, int, int, float]]:
        sizes.append(size)
        return trial(size)

    CostModel().calibrate(quick, budget=10.0)
    assert max(sizes) > 10**6


def test_the_model_follows_a_machine_that_gets_busy(model: CostModel) -> None:
    before = model.predict("merge", 1000, 10**6)
    assert before is not None
    for _ in range(60):
        model.observe("merge", 1000, 10**6, 3 * true_seconds("merge", 1000, 10**6))
    after = model.predict("merge", 1000, 10**6)
    assert after is not None and after == pytest.approx(3 * before, rel=0.2)


def test_without_knowledge_a_rule_of_thumb_decides() -> None:
    model = CostModel()
    assert model.predict("merge", 1, 1) is None
    assert model.choose(10, 10_000_000) == rule_of_thumb(10, 10_000_000) == "in place"
    assert model.choose(10**6, 10**7) == "merge" and model.choose(10**7, 10**7) == "rebuild"


def test_calibration_stops_when_its_time_is_spent() -> None:
    sizes: list[int] = []

    def slow(size: int) -> Iterator[tuple[Path, int, int, float]]:
        sizes.append(size)
        return trial(size)

    CostModel().calibrate(slow, budget=0.0)
    assert len(sizes) == 2  # the first warms up


@given(a=st.floats(1e-6, 1e-3), b=st.floats(1e-9, 1e-5), sizes=st.lists(st.integers(1, 10**6), min_size=3, max_size=20))
def test_a_fit_finds_the_line_it_is_shown(a: float, b: float, sizes: list[int]) -> None:
    fit = DecayingFit(2)
    for size in sizes:
        fit.observe((1.0, float(size)), a + b * size)
    assert min(fit.coefficients()) >= 0
    for size in sizes[-3:]:
        assert fit.predict((1.0, float(size))) == pytest.approx(a + b * size, rel=0.1, abs=1e-6)


def test_a_fit_of_one_size_predicts_that_size_and_is_never_negative() -> None:
    fit = DecayingFit(3)
    for _ in range(5):
        fit.observe((1.0, 10.0, 1000.0), 0.5)
    assert fit.predict((1.0, 10.0, 1000.0)) == pytest.approx(0.5)
    assert 0 < fit.predict((1.0, 5.0, 500.0)) < 0.5


def test_in_place_rewrites_a_leaf_per_update_until_all_leaves_are_met() -> None:
    assert entries_rewritten("in place", 1, 10**6) == pytest.approx(32, rel=0.01)
    assert entries_rewritten("in place", 10**7, 10**6) == pytest.approx(10**6 / 0.8, rel=0.01)
    assert entries_rewritten("merge", 10, 90) == 100


def test_shares_even_out_the_finish() -> None:
    sizes = even_finish([(0.0, 1.0), (0.0, 3.0)], 100)
    assert sizes == pytest.approx([75, 25])
    sizes = even_finish([(1.0, 0.1), (4.0, 0.1)], 100)
    assert sum(sizes) == pytest.approx(100) and sizes[0] - sizes[1] == pytest.approx(30)


def test_a_shard_that_starts_too_late_gets_nothing() -> None:
    assert even_finish([(0.0, 0.001), (5.0, 0.001)], 100) == pytest.approx([100, 0])
    assert min(even_finish([(0.0, 0.001), (5.0, 0.001)], 100_000)) > 0


def test_balance_looks_now_and_then_and_knows_who_is_faster() -> None:
    balance = Balance(2)
    rng = np.random.default_rng(1)
    for _ in range(EVERY):
        assert balance.wanted() is None
        updates = rng.integers(100, 1000, 2).tolist()
        balance.observe(updates, [1e-6 * updates[0], 7e-6 * updates[1]])
    weights = balance.wanted()
    assert weights is not None and weights[0] / weights[1] == pytest.approx(7, rel=0.05)
    assert balance.wanted() is None


def test_balance_waits_for_everybody() -> None:
    balance = Balance(2)
    for _ in range(2 * EVERY):
        balance.observe([10, 0], [1.0, 0.0])
    assert balance.wanted() is None


def test_a_shard_without_work_is_tried_again_some_day() -> None:
    balance = Balance(2)
    balance.observe([50, 50], [0.001, 0.003])
    looks = 0
    weights: list[float] | None = [1.0, 0.0]
    while weights is not None and weights[1] == 0 and looks < 300:
        for _ in range(EVERY):
            balance.observe([100, 0], [0.001, 0.0])
        weights = balance.wanted()
        looks += 1
    assert weights is not None and weights[1] > 0 and 1 < looks < 300
