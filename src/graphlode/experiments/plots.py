"""How the pictures of experiments look: one style, colors that all can tell apart, and shapes beside the colors.

The colors are those of Okabe and Ito; every series also has a marker or a line style of its own. Needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

BLUE, ORANGE, GREEN, PURPLE, RED, SKY, GOLD, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#D55E00",
    "#56B4E9",
    "#B8A500",
    "#6B6B6B",
)
_TEXT = "#333333"
_LEGEND_INCHES = 2.6  # of an entry
FORMATS = (".png", ".svg")


@dataclass(frozen=True)
class Look:
    """How one series is drawn."""

    color: str
    marker: str = "o"
    line: str = "-"
    hatch: str = ""  # of a patch

    @property
    def of_line(self) -> dict[str, Any]:
        """What `plot` is given."""
        return {"color": self.color, "marker": self.marker, "linestyle": self.line}


def panels(
    title: str,
    subtitle: str,
    names: Sequence[str],
    *,
    width: float = 3.1,
    height: float = 2.8,
    columns: int | None = None,
) -> Any:
    """A figure with a panel per name, three or four in a row unless told; returns (figure, axes by name)."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    if columns is None:
        columns = min(len(names), 4 if len(names) in (4, 7, 8) or len(names) > 9 else 3) or 1
    rows = -(-max(1, len(names)) // columns)
    size = (max(8.0, width * columns), height * rows + 1.35)
    figure, grid = pyplot.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    layout: Any = figure.get_layout_engine()
    layout.set(rect=(0, 0.02, 1, 1 - 0.72 / size[1]), w_pad=0.08, h_pad=0.08)
    figure.text(0.012, 1 - 0.10 / size[1], title, fontsize=12, fontweight="bold", va="top", color=_TEXT)
    figure.text(0.012, 1 - 0.36 / size[1], subtitle, fontsize=8.5, va="top", color=GREY)
    flat = list(np.ravel(grid))
    for axis in flat[len(names) :]:
        axis.set_visible(False)
    chosen = dict(zip(names, flat, strict=False))
    for name, axis in chosen.items():
        axis.set_title(name, fontsize=10, loc="left", color=_TEXT)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", color="#E3E3E3", linewidth=0.7)
        axis.set_axisbelow(True)
        axis.tick_params(labelsize=8.5)
    return figure, chosen


def legend(figure: Any, looks: Mapping[str, Look], *, columns: int = 4, patches: bool = False) -> None:
    """One legend for all panels, below them."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(facecolor=look.color, edgecolor="white", hatch=look.hatch, label=name)
        if patches
        else Line2D([], [], **look.of_line, label=name, markersize=5)
        for name, look in looks.items()
    ]
    if handles:
        fitting = max(1, int(figure.get_figwidth() / _LEGEND_INCHES))
        ncols = min(columns, fitting, len(handles))
        figure.legend(handles=handles, loc="outside lower center", ncols=ncols, frameon=False, fontsize=8.5)


def seconds_axis(axis: Any, *, between: Sequence[int] = ()) -> None:
    """Logarithmic seconds, told in the unit that suits each tick: powers of ten, and so many times these."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    def minor(value: float, _: object) -> str:
        """A number between two ticks, where the axis may show neither of them."""
        low, high = axis.get_ylim()
        return time_text(value) if high < 10 * low and not between else ""

    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, *between), numticks=7))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: time_text(value)))
    axis.yaxis.set_minor_formatter(FuncFormatter(minor))


def plain_logarithmic(axis: Any) -> None:
    """Both axes logarithmic, with numbers as people write them: no powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_xscale("log")
    axis.set_yscale("log")
    for one in (axis.xaxis, axis.yaxis):
        one.set_major_formatter(FuncFormatter(lambda value, _: _short_number(value)))
        one.set_minor_formatter(NullFormatter())
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=8))


def _short_number(value: float) -> str:
    """Millions as such: long numbers run into their neighbors."""
    return f"{value / 1e6:,.10g} M" if value >= 1e6 else f"{value:,.10g}"


def time_text(seconds: float) -> str:
    """Seconds in the unit that leaves one to three digits before the point."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps")):
        if seconds >= factor * 0.9995 or unit == "ps":
            return f"{seconds / factor:.3g} {unit}"
    raise AssertionError("unreachable")


def whole_ticks(axis: Any, sizes: Sequence[int]) -> None:
    """A tick for every clique size."""
    axis.set_xticks(list(sizes), [str(k) for k in sizes])
    axis.set_xlabel("clique size k", fontsize=9, color=_TEXT)


def bars_across(axis: Any, labels: Sequence[str]) -> None:
    """For horizontal bars at 0, 1, ..: the first on top, each with its label, and lines that help to read their lengths."""
    axis.set_yticks(range(len(labels)), labels)
    beside = 0.5 + max(0, 3 - len(labels)) / 3  # so that a few bars do not fill the panel
    axis.set_ylim(len(labels) - 1 + beside, -beside)
    axis.grid(visible=False, axis="y")
    axis.grid(axis="x", color="#E3E3E3", linewidth=0.7)


def say_nothing_there(axis: Any, text: str = "nothing was measured here") -> None:
    """A panel without data says so."""
    axis.text(0.5, 0.5, text, transform=axis.transAxes, ha="center", va="center", color=GREY, fontsize=9, wrap=True)
    axis.set_xticks([])
    axis.set_yticks([])
    axis.grid(visible=False)


def save(figure: Any, stem: Path) -> list[Path]:
    """Write the figure as a picture of pixels and of lines; the files do not change unless the figure does."""
    from matplotlib import pyplot

    files = []
    with pyplot.rc_context({"svg.hashsalt": "graphlode", "svg.fonttype": "none"}):
        for suffix in FORMATS:
            file = stem.with_suffix(suffix)
            figure.savefig(file, dpi=130, metadata={"Date": None} if suffix == ".svg" else None)
            files.append(file)
    pyplot.close(figure)
    return files
