"""The rule that chooses the path of a batch, on the committed measurements of every path."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from graphlode.common.store import Fullness
from graphlode.graph.store.path import choose_path

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
MOST = 1.16  # as docs/store.md says


def cells(machine: str) -> dict[tuple[Any, ...], dict[str, float]]:
    """The median seconds of every path, by graph, kind and size of batch."""
    found: dict[tuple[Any, ...], dict[str, float]] = defaultdict(dict)
    for cell in json.loads((RESULTS / machine / "store-batch.json").read_text("utf-8"))["cells"]:
        if cell["status"] == "done" and cell["variant"] in ("in place", "merge"):
            of = cell["graph"], cell["kind"], cell["batch"], cell.get("device")
            found[of][cell["variant"]] = median(cell["seconds"])
    return {of: paths for of, paths in found.items() if len(paths) == 2}


@pytest.mark.parametrize("machine", ["2-cores", "h200-16-cores"])
def test_the_rule_takes_little_longer_than_the_best_path(machine: str) -> None:
    measured = cells(machine)
    assert len(measured) >= 5
    for (graph, kind, batch, _), paths in measured.items():
        entries = 2 * int(graph.rpartition(":")[2]) if graph.startswith("rmat") else 0
        if kind == "random" and entries:
            chosen = choose_path(2 * batch, Fullness(entries), grows=True)
            assert paths[chosen] <= MOST * min(paths.values()), (graph, batch, paths)
