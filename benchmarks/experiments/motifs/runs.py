"""Shared parts of the experiments on motifs: the ways to count, and one timed count of a graph.

A way is a device and a method. A CUDA device runs both of its methods, and the CPU for comparison. The CPU alone runs
its one method on all threads and on one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, Literal

from benchmarks.experiments.counting import sampled, time_limit
from benchmarks.experiments.setting import Setting
from benchmarks.experiments.subjects import Subject
from benchmarks.plots import Color, Look
from benchmarks.record import Cell
from graphlode.config import configure, settings
from graphlode.execute.devices import resolve
from graphlode.mining.motif_formulas import counts_from_sums, raw_names
from graphlode.mining.motifs import count_motifs
from graphlode.mining.patterns import NUM_PATTERNS

Method = Literal["fused", "materialize"]


@dataclass(frozen=True)
class Way:
    """How motifs are counted; `threads` only where it is not all of them."""

    device: str
    method: Method
    threads: int | None = None

    @property
    def label(self) -> str:
        threads = {None: "", 1: ", 1 thread"}.get(self.threads, f", {self.threads} threads")
        return f"{self.method}, {self.device}{threads}"

    @property
    def facts(self) -> dict[str, Any]:
        """The fields of a cell that describe its way."""
        return {name: value for name, value in asdict(self).items() if value is not None} | {"variant": self.label}


def ways(device: str) -> list[Way]:
    """All ways on a device, and the CPU for comparison. The CPU alone also runs with one thread."""
    if resolve(device)[0].backend == "cuda":
        return [Way(device, "fused"), Way(device, "materialize"), Way("cpu", "fused")]
    return [Way(device, "fused"), *([Way(device, "fused", 1)] if settings().threads > 1 else [])]


def look_of(way: Mapping[str, Any]) -> Look:
    if way["device"] == "cpu":
        return Look(Color.PURPLE, "v", ":") if way.get("threads") else Look(Color.GREY, "o", "--")
    return {"fused": Look(Color.BLUE, "o"), "materialize": Look(Color.ORANGE, "s")}[way["method"]]


def count_cell(subject: Subject, size: int, way: Way, setting: Setting) -> Cell:
    """Count by a way. `seconds` are on the device, with an existing view. The answer is the copies of every pattern."""

    def once(seconds: float) -> tuple[tuple[int, ...], float | None]:
        found = count_motifs(
            subject.graph,
            size,  # type: ignore[arg-type]
            method=way.method,
            devices=way.device,
            progress=time_limit(seconds, "vertices"),
        )
        return found.noninduced, found.provenance.steps["kernel"]

    cell: Cell = {"graph": subject.name, "k": size, **way.facts}
    with configure(threads=way.threads or settings().threads):
        return cell | sampled(once, way.device, limit=setting.limit, repeats=setting.repeats)


def known_motifs(entry: Mapping[str, Sequence[int]]) -> dict[int, tuple[int, ...]]:
    """By size, the copies of every pattern of a graph in a file of known counts, its `noninduced`."""
    counts = [int(count) for count in entry["noninduced"]]
    return {size: tuple(counts[:length]) for size, length in NUM_PATTERNS.items() if length <= len(counts)}


@cache
def patterns_of(name: str) -> frozenset[int]:
    """The patterns of up to five vertices whose number depends on a raw sum: 1 for H1, and so on."""
    most = max(NUM_PATTERNS)
    sums = dict.fromkeys(raw_names(most), 0) | {name: 1 << 10}  # more than every divisor of the sums
    return frozenset(i for i, count in enumerate(counts_from_sums(sums, most), start=1) if count)


def pattern_text(numbers: Iterable[int]) -> str:
    """Patterns by number, such as H1-H3 H7."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return " ".join(f"H{run[0]}" if len(run) == 1 else f"H{run[0]}-H{run[-1]}" for run in runs)
