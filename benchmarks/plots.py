"""Plots of the report: medians with every sample beside them, one picture per group and class of machine.

Colors are those of Okabe and Ito, which people with any common color blindness can tell apart; libraries are also
named beside their bars, so that no plot needs its colors to be read.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt

from benchmarks.contest import OURS
from benchmarks.report import GROUPS, has_plot, plot_name
from benchmarks.results import Entry, Result, seconds

_COLORS = {
    OURS: "#0072B2",
    "scipy": "#E69F00",
    "networkit": "#009E73",
    "igraph": "#CC79A7",
    "graphblas": "#D55E00",
    "pivoterpy": "#D55E00",
    "pandas": "#56B4E9",
    "numpy": "#B8A500",
}
_OTHER = "#8C8C8C"
_BAR, _GAP = 0.25, 0.32  # inches per bar and between cases
_LOGARITHMIC_ABOVE = 30  # slowest over fastest


def draw_all(results: list[Result], folder: Path) -> list[Path]:
    """Write the plots of all groups that have something to compare."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for (label, group), found in groupby(results, key=lambda result: (result.label, result.group)):
        of_group = list(found)
        if has_plot(of_group):
            file = folder / plot_name(label, group)
            draw(of_group, f"{GROUPS[group]}, {label}", file)
            files.append(file)
    return files


def draw(results: list[Result], title: str, file: Path) -> None:
    """One line per library and case: a bar, or a dot where the times are too far apart for one linear axis.

    A group without any comparison has one line per case, which carries the name of the case.
    """
    style = {"svg.hashsalt": "graphlode", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif"}
    with plt.rc_context(style):
        gap = _GAP if _compares(results) else 0.0
        height = sum(_BAR * len(result.entries) + gap for result in results) + 0.95
        figure, axes = plt.subplots(figsize=(8.0, height), layout="constrained")
        labels = _bars(axes, results)
        _finish(axes, labels, title)
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None, dpi=110)
        plt.close(figure)


def _bars(axes: Any, results: list[Result]) -> dict[float, str]:
    y = 0.0
    labels: dict[float, str] = {}
    lowest = min(entry.fastest for result in results for entry in result.entries)
    highest = max(entry.slowest for result in results for entry in result.entries)
    if highest / lowest > _LOGARITHMIC_ABOVE:
        axes.set_xscale("log")
        axes.set_xlim(lowest / 1.5, highest * 5)
    else:
        axes.set_xlim(0, highest * 1.3)
    if not _compares(results):
        for line, result in enumerate(results):
            _mark(axes, line * _BAR, result.ours, result)
            labels[line * _BAR] = _heading(result)
        axes.set_ylim(len(results) * _BAR, -_BAR)
        return labels
    for result in results:
        axes.text(0, y, _heading(result), transform=axes.get_yaxis_transform(), weight="bold", va="center", ha="left")
        y += _BAR
        for entry in result.entries:
            _mark(axes, y, entry, result)
            labels[y] = entry.library
            y += _BAR
        y += _GAP - _BAR
    axes.set_ylim(y, -_BAR)
    return labels


def _compares(results: list[Result]) -> bool:
    return any(result.peers for result in results)


def _heading(result: Result) -> str:
    return result.case.partition("/")[2].replace("end_to_end", "end to end").replace("/", ", ")


def _mark(axes: Any, y: float, entry: Entry, result: Result) -> None:
    color = _COLORS.get(entry.library, _OTHER)
    samples = [value / entry.share for value in entry.seconds]
    if axes.get_xscale() == "log":  # a bar has no honest length without a zero
        axes.plot([min(samples), max(samples)], [y, y], color=color, linewidth=2, solid_capstyle="butt")
        axes.plot([entry.median], [y], "o", color=color, markersize=9 if entry.library == OURS else 7)
    else:
        axes.barh(y, entry.median, height=_BAR * 0.78, color=color, alpha=1.0 if entry.library == OURS else 0.75)
    axes.plot(samples, [y] * len(samples), "|", color="black", markersize=6, markeredgewidth=0.8, alpha=0.6)
    times = entry.median / result.ours.median
    ratio = "" if entry.library == OURS else f"   {times:.{2 if times < 1 else 1}f}x"
    scaled = " (scaled)" if entry.share != 1 else ""
    axes.annotate(
        f"{seconds(entry.median)}{ratio}{scaled}",
        (max(samples), y),
        xytext=(9, 0),
        textcoords="offset points",
        va="center",
        fontsize=8,
    )


def _finish(axes: Any, labels: dict[float, str], title: str) -> None:
    axes.set_yticks(list(labels), list(labels.values()))
    for tick in axes.get_yticklabels():
        if tick.get_text() == OURS:
            tick.set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    logarithmic = axes.get_xscale() == "log"
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g} s")
    kind = "dot: median (logarithmic)" if logarithmic else "bar: median"
    axes.set_xlabel(f"{kind}, ticks: all samples; left is faster; Nx: times graphlode's", loc="left")
    axes.set_title(title, loc="left", weight="bold")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="x", which="major", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
