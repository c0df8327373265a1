"""The picture of a group of cases: for every case one line per library, with the median and all samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.case import GROUPS
from benchmarks.contest import OURS
from benchmarks.plots import TEXT, Color, panels, seconds_axis
from benchmarks.results import Entry, Result, results_of, seconds

_COLORS = {
    OURS: Color.BLUE,
    "scipy": Color.ORANGE,
    "networkit": Color.GREEN,
    "igraph": Color.PURPLE,
    "graphblas": Color.RED,
    "pivoterpy": Color.RED,
}
_LINE, _GAP = 0.25, 0.12  # inches of a library's line, and between cases
_SUBTITLE = "dot: median, ticks: all samples; left is faster; Nx: times graphlode's"


def figure(document: Mapping[str, Any]) -> Any:
    results = results_of(document)
    height = sum(_LINE * (1 + len(result.entries)) + _GAP for result in results)
    title = f"{GROUPS[document['group']]}, {document['label']}"
    drawn, axes = panels(title, _SUBTITLE, [""], height=height)
    axis = axes[""]
    labels: dict[float, str] = {}
    y = 0.0
    for result in results:
        name = result.name.replace("_", " ").replace("/", ", ")
        axis.text(
            0.005, y, name, transform=axis.get_yaxis_transform(), weight="bold", va="center", fontsize=9, color=TEXT
        )
        for entry in result.entries:
            y += _LINE
            _mark(axis, y, entry, result)
            labels[y] = entry.library
        y += _LINE + _GAP
    seconds_axis(axis, across=True)
    axis.set_ylim(y, -_LINE)
    axis.set_yticks(list(labels), list(labels.values()))
    for tick in axis.get_yticklabels():
        tick.set_fontweight("bold" if tick.get_text() == OURS else "normal")
    axis.spines["left"].set_visible(False)
    axis.tick_params(axis="y", length=0)
    axis.margins(x=0.12)
    return drawn


def _mark(axis: Any, y: float, entry: Entry, result: Result) -> None:
    color = _COLORS.get(entry.library, Color.GREY)
    samples = [value / entry.share for value in entry.seconds]
    axis.plot([min(samples), max(samples)], [y, y], color=color, linewidth=2, solid_capstyle="butt")
    axis.plot(samples, [y] * len(samples), "|", color=TEXT, markersize=6, markeredgewidth=0.8, alpha=0.6)
    axis.plot([entry.median], [y], "o", color=color, markersize=8 if entry.library == OURS else 6)
    times = entry.median / result.ours.median
    ratio = "" if entry.library == OURS else f", {times:.{2 if times < 1 else 1}f}x"
    scaled = " (scaled)" if entry.share != 1 else ""
    text = f"{seconds(entry.median)}{ratio}{scaled}"
    beside = {"xytext": (9, 0), "textcoords": "offset points", "va": "center", "fontsize": 8}
    axis.annotate(text, (max(samples), y), **beside)
