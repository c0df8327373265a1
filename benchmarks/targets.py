"""Targets as data (`targets.toml`), each compared with all of its results."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from benchmarks.results import Result

FILE = Path(__file__).parent / "targets.toml"
_DEFAULT_LABEL = "2 cores"
_BILLION = 1_000_000_000


@dataclass(frozen=True)
class Verdict:
    """The value of a target for each case; None if the case was not measured."""

    text: str
    limit: str
    values: dict[str, float]
    met: bool | None


def judge(results: list[Result], file: Path = FILE) -> list[Verdict]:
    return [_judge(target, results) for target in tomllib.loads(file.read_text("utf-8"))["target"]]


def _judge(target: dict[str, Any], results: list[Result]) -> Verdict:
    label = target.get("label", _DEFAULT_LABEL)
    values = {}
    for result in results:
        if result.label == label and fnmatch(result.case, target["case"]):
            value = _value(target["value"], result, results)
            if value is not None:
                values[result.case] = value
    least, most = target.get("at_least"), target.get("at_most")
    limit = f"at least {least:g}" if most is None else f"at most {most:g}"
    good = [value <= most if most is not None else value >= target["at_least"] for value in values.values()]
    return Verdict(target["text"], limit, values, all(good) if good else None)


def _value(kind: str, result: Result, results: list[Result]) -> float | None:
    word, _, other = kind.partition(":")
    ours = result.ours
    if word == "seconds":
        return ours.median
    if word == "milliseconds":
        return ours.median * 1e3
    if word == "above":
        sibling = f"{result.case.rpartition('/')[0]}/{other}"
        there = [r.ours.median for r in results if r.label == result.label and r.case == sibling]
        return (ours.median - there[0]) * 1e3 if there else None
    if word == "rate":
        return result.rate(ours)
    if word == "worst" and other == "parent":
        parent = result.case.rpartition("/")[0]
        there = [r.ours.median for r in results if r.label == result.label and r.case == parent]
        return ours.slowest / there[0] if there else None
    if word == "worst":
        return ours.slowest / ours.median
    if word == "bytes per edge":
        return float(result.cell["bytes"]["store"] / result.cell["bytes"]["edges"])
    if word == "edges":
        return None if result.graph is None else float(result.graph["num_edges"]) / ours.median / _BILLION
    if word == "memory":
        return result.memory
    if word == "ratio":
        against = [peer.median for name, peer in result.peers.items() if other in ("*", name)]
        return ours.median / min(against) if against else None
    if word == "speedup":
        there = [r.ours.median for r in results if r.label == other and r.case == result.case]
        return there[0] / ours.median if there else None
    raise ValueError(f"unknown value {kind!r}")
