"""The cost model, on made-up times."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from graphlode.common.store import Path
from graphlode.cpu.store.fit import DecayingFit
from graphlode.errors import InputError
from graphlode.graph.store.cost import (
    CHOICES,
    CostModel,
    certainly_in_place,
    entries_rewritten,
    rule_of_thumb,
    trial_batches,
)

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


@given(
    observed=st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e9), st.floats(1e-5, 1e-1)), min_size=1, max_size=12)
)
def test_a_fit_is_the_best_of_those_that_are_not_negative(observed: list[tuple[float, float, float]]) -> None:
    """Against SciPy, with the same weights, which follow from what the fit expected before each observation."""
    fit, rows, right = DecayingFit(3, decay=1.0), [], []
    for updates, entries, seconds in observed:
        features = (1.0, updates, entries)
        expected = fit.predict(features) if fit.observations else seconds
        weight = (seconds * min(max(expected, seconds / 100), seconds * 100)) ** -0.5
        fit.observe(features, seconds)
        rows.append(weight * np.array(features))
        right.append(weight * seconds)
    matrix, least = np.array(rows), np.array(right)
    error = np.linalg.norm(matrix @ np.array(fit.coefficients()) - least)
    assert min(fit.coefficients()) >= 0
    assert error <= nnls(matrix, least)[1] * (1 + 1e-3) + 1e-3 * np.linalg.norm(least)


def test_a_fit_names_what_is_wrong_with_its_features() -> None:
    with pytest.raises(InputError, match="1 to 3 features, got 4"):
        DecayingFit(4)
    with pytest.raises(InputError, match="decay"):
        DecayingFit(2, decay=0.0)
    for ask in (lambda: DecayingFit(2).predict((1.0,)), lambda: DecayingFit(2).observe((1.0, 2.0, 3.0), 1.0)):
        with pytest.raises(InputError, match="the fit has 2 features"):
            ask()


def test_what_small_shards_have_shown_is_not_believed_of_large_ones() -> None:
    """Calibration saw merging as a thousand times as slow as it is, so that no prediction would ever choose it."""
    model = CostModel()
    model.calibrate(lambda size: ((p, u, e, 1000 * s if p == "merge" else s) for p, u, e, s in trial(size)), budget=0.0)
    taken: list[Path] = []
    for turn in range(16):
        taken.append(model.choose(10**6, 10**7))
        waited = 0.1 if turn == 0 else 0.0  # for memory
        model.observe(taken[-1], 10**6, 10**7, waited + true_seconds(taken[-1], 10**6, 10**7))
    assert taken[:8] == 4 * ["merge"] + 4 * ["in place"]
    assert set(taken[8:]) == {min(CHOICES, key=lambda path: true_seconds(path, 10**6, 10**7))}


def test_a_path_that_was_not_taken_is_not_taken_for_tried(model: CostModel) -> None:
    """Batches that cannot stay in place say nothing of those that can."""
    size = 10**8  # far more than calibration has seen
    for _ in range(10):
        path = model.choose(size // 10, size, in_place=False)
        assert path != "in place"
        model.observe(path, size // 10, size, true_seconds(path, size // 10, size))
    assert model.choose(size // 10, size) == "in place"
    assert model.choose(2 * size, size) != "in place"  # which would not make sense
    assert model.choose(10, size, in_place=False) == "merge" == CostModel().choose(10, size, in_place=False)


def misled() -> CostModel:
    """A model that takes merging for twice as slow as it is: 0.02 s, and 0.03 s in place, for a tenth of 10^6 entries."""
    model = CostModel()
    for updates in (10**4, 10**5):
        model.observe("in place", updates, 10**6, 3e-7 * updates)
        model.observe("merge", updates, 10**6, 0.04)
        model.observe("rebuild", updates, 10**6, 0.5)
    model.calibrated = True
    return model


def run_batches(model: CostModel, seconds: dict[Path, float], number: int) -> list[Path]:
    taken = []
    for _ in range(number):
        path = model.choose(10**5, 10**6)
        model.observe(path, 10**5, 10**6, seconds[path])
        taken.append(path)
    return taken


def test_a_path_that_was_misjudged_is_found_by_trying() -> None:
    taken = run_batches(misled(), {"in place": 0.03, "merge": 0.02, "rebuild": 0.5}, 60)
    assert taken[0] == "in place" and taken[-20:].count("merge") >= 16
    assert "rebuild" not in taken  # nothing so slow is worth a try


@pytest.mark.parametrize("overflows", [False, True], ids=["", "the first batch has no choice"])
@pytest.mark.parametrize("times", [1.5, 3.3, 50.0])
def test_a_path_that_no_batch_took_may_look_worse_and_is_tried(times: float, overflows: bool) -> None:
    """Calibration has shown only small shards, and merging as so many times as slow as it is."""
    truth: dict[Path, float] = {"in place": 0.03, "merge": 0.025, "rebuild": 0.5}
    model = CostModel()
    shown = truth | {"merge": times * truth["in place"]}
    model.calibrate(lambda size: ((p, u, e, shown[p]) for p, u, e, _ in trial(size)), budget=10.0)
    if overflows:
        assert model.choose(10**5, 10**6, in_place=False) == "merge"
        model.observe("merge", 10**5, 10**6, 10 * truth["merge"])
    taken = run_batches(model, truth, 60)
    assert taken[0] == "in place" and taken[-20:].count("merge") >= 16
    assert "rebuild" not in taken


def test_a_path_that_goes_on_losing_is_tried_less_and_less() -> None:
    taken = run_batches(misled(), {"in place": 0.03, "merge": 0.04, "rebuild": 0.5}, 600)
    others = [i for i, path in enumerate(taken) if path != "in place"]
    tries = others[::4]
    assert others == [first + i for first in tries for i in range(4)]  # in a row
    assert 4 <= len(tries) <= 8
    gaps = np.diff(tries)
    assert (gaps[1:] > 1.5 * gaps[:-1]).all()


def test_a_machine_that_gets_busy_does_not_make_other_paths_look_better() -> None:
    model, seconds = misled(), {"in place": 0.03, "merge": 0.025, "rebuild": 0.5}
    run_batches(model, seconds, 60)
    for slower in (1.5, 1.0, 1.4, 1.0):
        taken = run_batches(model, {path: slower * each for path, each in seconds.items()}, 40)
        others = [i for i, path in enumerate(taken) if path != "merge"]
        assert len(others) <= 8


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize("budget", [0.0, 10.0])
@pytest.mark.parametrize(("merge", "in_place"), [(0.25, 0.30), (0.30, 0.25), (0.25, 0.40)])
def test_the_better_path_is_found_though_first_batches_wait_and_the_machine_is_busy_at_times(
    merge: float, in_place: float, budget: float, is_first: bool
) -> None:
    """As on a GPU whose host is slow now and then: batches after another path find no memory, nor do the very first ones,
    and one of twelve waits for something else. What is lost beside the best path at every time is little, whether
    calibration has shown nothing of so large a shard or the wrong thing."""
    shown = {"merge": in_place, "in place": merge, "rebuild": 1.0}
    shown[max(shown, key=lambda path: shown[path] if path != "rebuild" else 0.0)] *= 1.6
    size, entries, lost = 10**6, 11 * 10**6, []
    for seed in range(8):
        rng, model = np.random.default_rng(seed), CostModel()
        model.calibrate(lambda size: ((p, u, e, 1e-3 * shown[p]) for p, u, e, _ in trial(size)), budget=budget)
        busy, spent, best = False, 0.0, 0.0
        taken: list[Path] = []
        for turn in range(400):
            busy ^= rng.random() < 1 / 80
            times = {
                "merge": merge * (1.4 if busy else 1),
                "in place": in_place * (1.27 if busy else 1),
                "rebuild": 2.0,
            }
            path = model.choose(size, entries)
            waited = 1.4 if rng.random() < 0.08 else 1.0
            if taken and taken[-2:] != [path, path]:
                waited = 1.6
            if is_first:
                waited = max(waited, {0: 4.0, 1: 1.8, 2: 1.5}.get(taken.count(path), 1.0))
            taken.append(path)
            model.observe(path, size, entries, 1e-3 * times[path] * waited * float(np.exp(rng.normal(0, 0.04))))
            if turn >= 20:
                spent, best = spent + times[path], best + min(times.values())
        lost.append(spent / best)
    assert np.mean(lost) < 1.03 and max(lost) < 1.1


def test_batches_after_larger_ones_that_were_sorted_anew_find_their_own_path(model: CostModel) -> None:
    """Sorting all of it anew was the usual path, and is out of the question for those that follow."""
    for _ in range(20):
        model.observe("in place", 10**6, 11 * 10**6, 3.2e-4)
        model.observe("rebuild", 10**7, 11 * 10**6, 8e-4)
    seconds: dict[Path, float] = {"in place": 2e-2, "merge": 1e-3, "rebuild": 8e-4}
    for _ in range(60):
        path = model.choose(10**7, 11 * 10**6)
        model.observe(path, 10**7, 11 * 10**6, seconds[path])
    assert path == "rebuild"
    seconds = {"in place": 3.2e-4, "merge": 2.5e-4}
    taken: list[Path] = []
    for _ in range(150):
        taken.append(model.choose(10**6, 11 * 10**6))
        model.observe(taken[-1], 10**6, 11 * 10**6, seconds[taken[-1]])
    assert taken[-50:].count("merge") >= 40


def test_a_path_that_was_learned_while_the_machine_was_busy_is_tried_again(model: CostModel) -> None:
    """All that took it took far too long, so that no prediction would ever choose it; it waits, though not for ever."""
    seconds: dict[Path, float] = {"in place": 3.2e-4, "merge": 2.5e-4}
    for _ in range(20):
        model.observe("in place", 10**6, 11 * 10**6, seconds["in place"])
    for _ in range(12):
        assert model.choose(10**6, 11 * 10**6, in_place=False) == "merge"
        model.observe("merge", 10**6, 11 * 10**6, 2e-3)
    taken: list[Path] = []
    for _ in range(600):
        taken.append(model.choose(10**6, 11 * 10**6))
        model.observe(taken[-1], 10**6, 11 * 10**6, seconds[taken[-1]])
    assert taken[:20].count("merge") <= 5 and taken[-50:].count("merge") >= 40


@pytest.mark.parametrize(("often", "seldom"), [(5, 1), (10, 2), (1, 1)])
def test_a_kind_that_comes_among_others_is_learned(model: CostModel, often: int, seldom: int) -> None:
    """No two or three of them follow each other, so that each is one of the first."""
    entries = 10**7
    seconds: dict[int, dict[Path, float]] = {
        2 * 10**5: {"in place": 2e-4, "merge": 3e-4},
        2 * 10**6: {"in place": 1e-3, "merge": 6e-3, "rebuild": 9e-3},
    }
    taken: list[Path] = []
    for _ in range(300):
        for updates, number in ((2 * 10**5, often), (2 * 10**6, seldom)):
            for _ in range(number):
                path = model.choose(updates, entries)
                model.observe(path, updates, entries, seconds[updates][path])
                if updates > 10**6:
                    taken.append(path)
    assert taken[-100:].count("in place") >= 80


def test_times_of_nothing_do_no_harm(model: CostModel) -> None:
    for _ in range(100):
        path = model.choose(10**5, 10**6)
        model.observe(path, 10**5, 10**6, 0.0)


def test_in_place_rewrites_a_leaf_per_update_until_all_leaves_are_met() -> None:
    assert entries_rewritten("in place", 1, 10**6) == pytest.approx(32, rel=0.01)
    assert entries_rewritten("in place", 10**7, 10**6) == pytest.approx(10**6 / 0.8, rel=0.01)
    assert entries_rewritten("merge", 10, 90) == 100


def test_choices_that_are_not_followed_use_up_no_tries() -> None:
    """Who looks ahead asks for a batch that may not come."""
    model, seconds, taken = misled(), {"in place": 0.03, "merge": 0.02, "rebuild": 0.5}, []
    for _ in range(60):
        model.choose(10**5, 10**6)
        path = model.choose(10**5, 10**6)
        model.observe(path, 10**5, 10**6, seconds[path])
        taken.append(path)
    assert taken[0] == "in place" and taken[-20:].count("merge") >= 16


def test_paths_that_take_turns_are_learned_all_the_same(model: CostModel) -> None:
    """As where two stores of one device have a path of their own each."""
    before = model.predict("in place", 10**5, 10**6)
    assert before is not None
    for _ in range(100):
        model.observe("merge", 10**5, 10**6, 0.01)
        model.observe("in place", 10**5, 10**6, 10 * before)
    after = model.predict("in place", 10**5, 10**6)
    assert after is not None and after == pytest.approx(10 * before, rel=0.2)


def test_a_batch_that_cannot_stay_in_place_does_not_make_another_path_the_usual_one(model: CostModel) -> None:
    seconds: dict[Path, float] = {"in place": 0.02, "merge": 0.03, "rebuild": 0.5}
    assert run_batches(model, seconds, 200).count("in place") > 150
    for _ in range(20):
        assert model.choose(10**5, 10**6, in_place=False) == "merge"
        model.observe("merge", 10**5, 10**6, seconds["merge"])
    assert run_batches(model, seconds, 40).count("in place") >= 32


@pytest.mark.parametrize("entries", [4 * 10**6, 10**8])
def test_asking_what_would_be_instead_changes_nothing(entries: int) -> None:
    """Though paths are tried, of which any may be out of the question for a batch that is to come."""
    seconds: dict[Path, float] = {"in place": 0.0016, "merge": 0.001, "rebuild": 0.0013}

    def taken(asks: bool) -> list[Path]:
        model, paths = CostModel(), []
        model.calibrate(lambda size: ((p, u, e, seconds[p]) for p, u, e, _ in trial(size)), budget=10.0)
        for _ in range(400):
            paths.append(model.choose(10**6, entries))
            if asks:
                assert model.choose_instead(10**6, entries) in ("merge", "rebuild")
            model.observe(paths[-1], 10**6, entries, seconds[paths[-1]])
        return paths

    assert taken(asks=True) == taken(asks=False) and "in place" in taken(asks=False)


def test_what_is_taken_instead_is_what_takes_least(model: CostModel) -> None:
    assert model.choose_instead(10**6, 10**7) == model.choose(10**6, 10**7, in_place=False) == "merge"
    assert CostModel().choose_instead(10**6, 10**7) == "merge" and CostModel().choose_instead(10**7, 10**6) == "rebuild"
