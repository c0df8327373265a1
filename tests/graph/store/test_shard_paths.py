"""Which path a shard takes for a batch: the same whether it was chosen ahead or not, and without asking twice."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_cost import trial

from graphlode.common.store import Path
from graphlode.execute.devices import resolve
from graphlode.graph.store.cost import CostModel
from graphlode.graph.store.shard import Part, Shard

ENTRIES, UPDATES = 10**6, 10**5


class Asked(CostModel):
    """A model that prefers a path, and counts how often it is asked."""

    def __init__(self, preferred: Path, merge_takes: float) -> None:
        super().__init__()
        self.calibrate(trial)
        self._preferred: Path = preferred
        self._seconds = {"in place": 1.0, "merge": merge_takes}
        self.times = 0

    def choose(self, updates: int, entries: int, *, in_place: bool = True) -> Path:
        self.times += 1
        return self._preferred if in_place or self._preferred != "in place" else "rebuild"

    def choose_instead(self, updates: int, entries: int) -> Path:
        return self.choose(updates, entries, in_place=False)

    def predict(self, path: Path, updates: int, entries: int) -> float | None:
        self.times += 1
        return self._seconds[path]


def path_of(model: Asked, *, ahead: bool, overflows: bool, thins: bool) -> tuple[Path | None, int]:
    """The path of a batch, and how often the model was asked when it came."""
    (device,) = resolve("cpu")
    shard = Shard("a", device, num_rows=10, weighted=False, strategy="auto")
    shard._model, kernels = model, shard.kernels
    answers = {"overflows": overflows, "thins": thins}
    asked = {name: lambda *_, answer=answer: answer for name, answer in answers.items()}
    shard.kernels = SimpleNamespace(**{**vars(kernels), **asked})  # type: ignore[assignment]
    if ahead:
        shard._look_ahead(UPDATES, ENTRIES - UPDATES)
    model.times = 0
    part = Part(np.zeros(UPDATES, np.uint64), None, None)
    return shard._known_path(part, ENTRIES), model.times


@pytest.mark.parametrize("overflows", [False, True])
@pytest.mark.parametrize("thins", [False, True])
@pytest.mark.parametrize("merge_takes", [2.0, 20.0])
@pytest.mark.parametrize("preferred", ["in place", "merge", "rebuild"])
def test_what_is_chosen_ahead_is_what_would_be_chosen_then(
    preferred: Any, merge_takes: float, thins: bool, overflows: bool
) -> None:
    model = Asked(preferred, merge_takes)
    now, _ = path_of(model, ahead=False, overflows=overflows, thins=thins)
    before, times = path_of(model, ahead=True, overflows=overflows, thins=thins)
    assert now == before and times == 0
    if preferred != "in place":
        assert now == preferred
    elif overflows:
        assert now == "rebuild"
    else:
        assert now == ("merge" if thins and merge_takes < 3 else "in place")


def test_a_batch_of_another_kind_is_not_what_was_looked_ahead_for() -> None:
    model = Asked("merge", 1.0)
    (device,) = resolve("cpu")
    shard = Shard("a", device, num_rows=10, weighted=False, strategy="auto")
    shard._model = model
    shard._look_ahead(UPDATES // 10, ENTRIES)
    model.times = 0
    assert shard._known_path(Part(np.zeros(UPDATES, np.uint64), None, None), ENTRIES) == "merge"
    assert model.times == 1
