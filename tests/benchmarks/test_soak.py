"""The service that runs for long, here for a few seconds, and what it measures with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import soak


@pytest.mark.slow
def test_a_service_of_one_writer_and_four_readers_answers_right_and_keeps_its_memory(tmp_path: Path) -> None:
    assert soak.main(["--seconds", "15", "--seed", "5", "--out", str(tmp_path)]) == 0
    (cell,) = json.loads((tmp_path / "soak.json").read_text("utf-8"))["cells"]
    assert cell["versions"] > 100 and cell["recounts"] > 0
    assert all(
        found["count"] > 0 and found["p50"] <= found["p99"] <= found["max"] for found in cell["latency"].values()
    )


def test_a_wrong_answer_ends_the_service() -> None:
    service = soak.Service(30.0)
    service.truth[0] = soak.Truth(1, [], None)  # the empty store has no edge
    with pytest.raises(AssertionError):
        service.run()


def test_percentiles_are_within_two_percent() -> None:
    seconds = np.random.default_rng(1).lognormal(-9, 2, 10_000)
    halves = soak.Latencies(), soak.Latencies()
    for number, each in enumerate(seconds):
        halves[number % 2].add(each)
    found = halves[0].merged(halves[1]).summary()
    assert found["count"] == 10_000 and found["max"] == seconds.max()
    assert found["p50"] == pytest.approx(np.quantile(seconds, 0.5), rel=0.03)
    assert found["p99"] == pytest.approx(np.quantile(seconds, 0.99), rel=0.03)
