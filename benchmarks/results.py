"""The results of cases, read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.contest import OURS

MEGABYTE = 1_000_000
_EXACT_DIGITS = 3


@dataclass(frozen=True)
class Entry:
    """One library in one case."""

    library: str
    version: str
    method: str
    settings: str
    seconds: tuple[float, ...]
    share: float = 1.0  # of the input that was worked on

    @property
    def median(self) -> float:
        """Seconds for the whole input. For a library that processed a share of it, the time is scaled up."""
        return median(self.seconds) / self.share

    @property
    def fastest(self) -> float:
        return min(self.seconds) / self.share

    @property
    def slowest(self) -> float:
        return max(self.seconds) / self.share


@dataclass(frozen=True)
class Result:
    """One case on one class of machine: its cell, with its run and its graph, and further facts of the file."""

    label: str
    group: str
    cell: dict[str, Any]
    run: dict[str, Any]
    graph: dict[str, Any] | None = None

    @property
    def case(self) -> str:
        return str(self.cell["case"])

    @property
    def name(self) -> str:
        """The name of the case without its group."""
        return self.case.partition("/")[2]

    @property
    def ours(self) -> Entry:
        data = self.cell
        version = self.run["environment"]["packages"]["graphlode"]
        settings = f"devices={data['devices']}" + (", on the quickest core" if data.get("quiet") else "")
        settings += f", of each sample the median in {len(data['rounds'])} runs" if "rounds" in data else ""
        return Entry(OURS, version, data["method"], settings, tuple(data["seconds"]))

    @property
    def peers(self) -> dict[str, Entry]:
        return {
            name: Entry(
                name, peer["version"], peer["method"], peer["settings"], tuple(peer["seconds"]), peer.get("share", 1.0)
            )
            for name, peer in self.cell["peers"].items()
        }

    @property
    def entries(self) -> list[Entry]:
        """Our contenders first, then the peers from the fastest to the slowest."""
        return [self.ours, *sorted(self.peers.values(), key=lambda entry: entry.median)]

    def rate(self, entry: Entry) -> float | None:
        """Megabytes per second: of the file that the case reads, or of the bytes that it moves in memory."""
        sizes = self.cell["bytes"]
        size = sizes.get("input") if self.cell["operation"] == "read" else sizes.get("moved")
        return None if size is None else size / entry.median / MEGABYTE

    @property
    def memory(self) -> float | None:
        """Peak bytes of the core over bytes of the result."""
        size = self.cell["bytes"].get("result")
        return None if not size else self.cell["bytes_peak"] / size


def load_results(folder: Path) -> list[Result]:
    """The results of all cases below the folder, by class of machine, group and name."""
    found = [
        result for file in sorted(folder.rglob("*.json")) for result in results_of(json.loads(file.read_text("utf-8")))
    ]
    return sorted(found, key=lambda result: (result.label, result.group, result.case))


def results_of(document: Mapping[str, Any]) -> list[Result]:
    """The cases of a document; none for that of an experiment."""
    if "group" not in document:
        return []
    graphs = {graph["name"]: graph for graph in document["graphs"]}
    runs = document["runs"]
    return [
        Result(document["label"], document["group"], cell, runs[cell["run"]], graphs.get(cell["graph"]))
        for cell in document["cells"]
    ]


def seconds(value: float) -> str:
    """Three digits, in the unit that keeps them readable."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if value >= factor or unit == "us":
            number = value / factor
            return f"{number:.{max(0, _EXACT_DIGITS - len(str(int(number))))}f} {unit}"
    raise AssertionError("unreachable")
