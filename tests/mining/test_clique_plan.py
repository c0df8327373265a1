"""The choice of devices and method: pure rules, and graphs where each choice is right."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
import pytest

import graphlode as gl
from graphlode.mining import clique_plan
from graphlode.mining.clique_plan import WORTH_JOINING, choose_devices, choose_method, together


def estimate(pivot: float, enumerate_: float) -> dict[str, Any]:
    return {"pivot": pivot, "enumerate": enumerate_, "sampled": 10, "why": ""}


def test_the_faster_method_is_chosen_and_both_times_are_reported() -> None:
    method, why = choose_method({"cpu": estimate(0.5, 20.0)})
    assert method == "pivot" and "0.5 s by pivoting" in why and "20 s by enumeration" in why and "10 roots" in why
    assert choose_method({"cpu": estimate(30.0, 2.0)})[0] == "enumerate"
    assert choose_method({"cpu": estimate(1.0, 1.0)})[0] == "pivot"


def test_devices_that_share_the_work_are_judged_together() -> None:
    assert together([1.0, 1.0]) == pytest.approx(0.5)
    assert together([2.0, 0.0]) == 0.0
    assert together([float("inf"), float("inf")]) == float("inf")
    # The first device alone would enumerate; the second is so fast at pivoting that it decides.
    assert choose_method({"cpu": estimate(2.0, 1.0), "cuda:0": estimate(0.1, 0.4)})[0] == "pivot"


def test_a_device_without_an_estimate_pivots() -> None:
    assert choose_method({"reference": None}) == ("pivot", "no estimate on this device")


def test_a_device_joins_unless_it_is_much_slower() -> None:
    assert choose_devices({"cpu": 3.0, "cuda:0": 1.0}) == ["cuda:0", "cpu"]
    assert choose_devices({"cpu": WORTH_JOINING * 1.01, "cuda:0": 1.0}) == ["cuda:0"]
    assert choose_devices({"cpu": 0.0, "cuda:0": 1.0}) == ["cpu"]
    assert choose_devices({"cpu": float("inf"), "cuda:0": float("inf")}) == ["cpu", "cuda:0"]


class FakeDevice:
    def __init__(self, name: str) -> None:
        self.name = name
        self.backend = name.partition(":")[0]


@pytest.fixture
def two_devices(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """A machine with a CPU and a GPU whose estimates the test fills in; it records which were requested."""
    times: dict[str, dict[str, Any]] = {}
    monkeypatch.setattr(clique_plan, "available", lambda: [FakeDevice("cuda:0"), FakeDevice("cpu")])

    def look(device: FakeDevice, *_: Any) -> dict[str, Any]:
        times[device.name]["asked"] = True
        return times[device.name]

    monkeypatch.setattr(clique_plan, "_estimate", look)
    return times


def test_small_work_on_a_small_graph_stays_on_the_cpu(two_devices: dict[str, dict[str, Any]]) -> None:
    two_devices |= {"cpu": estimate(0.001, 0.1), "cuda:0": estimate(0.0001, 0.1)}
    plan = clique_plan.plan_cliques(gl.complete(5), 4, None, "auto", "auto")
    assert (plan.devices, plan.method) == (["cpu"], "pivot")
    assert "asked" not in two_devices["cuda:0"]
    assert "cpu" in plan.notes[0] and "pivot" in plan.notes[0]


def test_heavy_work_goes_to_the_faster_device_or_to_both(two_devices: dict[str, dict[str, Any]]) -> None:
    two_devices |= {"cpu": estimate(40.0, 90.0), "cuda:0": estimate(0.4, 9.0)}
    assert clique_plan.plan_cliques(gl.complete(5), 4, None, "auto", "auto").devices == ["cuda:0"]
    two_devices |= {"cpu": estimate(4.0, 2.0), "cuda:0": estimate(3.0, 1.0)}
    plan = clique_plan.plan_cliques(gl.complete(5), 4, None, "auto", "auto")
    assert (plan.devices, plan.method) == (["cuda:0", "cpu"], "enumerate")


def test_large_graphs_are_looked_at_on_the_gpu_first(
    two_devices: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clique_plan, "FEW_EDGES", 5)
    two_devices |= {"cpu": estimate(0.2, 0.2), "cuda:0": estimate(0.01, 0.2)}
    assert clique_plan.plan_cliques(gl.complete(5), 4, None, "auto", "auto").devices == ["cuda:0"]
    assert "asked" not in two_devices["cpu"]


def test_what_the_user_fixed_is_not_touched(two_devices: dict[str, dict[str, Any]]) -> None:
    two_devices |= {"cpu": estimate(9.0, 0.5), "cuda:0": estimate(9.0, 0.3)}
    assert clique_plan.plan_cliques(gl.complete(5), 4, None, "pivot", "cpu") == clique_plan.Plan("cpu", "pivot")
    assert clique_plan.plan_cliques(gl.complete(5), 4, None, "pivot", "auto").method == "pivot"


def test_the_provenance_says_what_was_chosen_and_why() -> None:
    found = gl.count_cliques(gl.dataset("jazz"), 6, devices="cpu")
    assert found.provenance.method in ("pivot", "enumerate")
    assert any("by pivoting" in note and "by enumeration" in note for note in found.provenance.notes)
    assert gl.count_cliques(gl.dataset("jazz"), 6, devices="cpu", method="set").provenance.notes == ()


def test_pivoting_is_chosen_where_cliques_overlap(real_graph: Callable[..., gl.Graph]) -> None:
    found = gl.count_cliques(real_graph("ca-HepPh"), 8, devices="cpu")
    assert (found.provenance.method, found.total) == ("pivot", 234967650392536)


def test_pivoting_is_chosen_on_a_dense_graph_whose_tree_the_closed_forms_cut(
    real_graph: Callable[..., gl.Graph],
) -> None:
    plan = clique_plan.plan_cliques(real_graph("congress-bills"), 6, None, "auto", "cpu")
    assert plan.method == "pivot", plan.notes


@pytest.mark.parametrize(("n", "density", "k"), [(400, 0.4, 6), (1000, 0.3, 5), (200, 0.6, 8)])
def test_where_cliques_hardly_overlap_the_choice_is_never_much_slower(n: int, density: float, k: int) -> None:
    """In a random graph pivots save little: both methods take about as long, and either may be chosen."""
    graph = gl.erdos_renyi(n, p=density, seed=1)
    chosen = clique_plan.plan_cliques(graph, k, None, "auto", "cpu").method
    methods: tuple[Any, ...] = ("pivot", "enumerate")
    seconds = {
        method: min(
            gl.count_cliques(graph, k, method=method, devices="cpu").provenance.steps["kernel"] for _ in range(3)
        )
        for method in methods
    }
    assert seconds[chosen] < 3 * min(seconds.values()), (chosen, seconds)


def test_many_vertices_needed_are_no_reason_to_enumerate() -> None:
    """A complete graph without some pairs: the cost of enumeration does not fit in 64 bits."""
    n, pairs, k = 400, 30, 200
    src, dst = np.triu_indices(n, 1)
    joined = (dst != src + 1) | (src % 2 == 1) | (src >= 2 * pairs)
    found = gl.count_cliques(gl.from_edges(src[joined], dst[joined]), k, devices="cpu")
    assert found.provenance.method == "pivot" and "nan" not in found.provenance.notes[0]
    assert found.total == sum(comb(pairs, j) * 2**j * comb(n - 2 * pairs, k - j) for j in range(pairs + 1))
