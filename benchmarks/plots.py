"""The style of all pictures. Every series has a marker or a line style in addition to its color. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import Cell, done, names_of


class Color(StrEnum):
    """The colors of Okabe and Ito, which people with any common color blindness can distinguish."""

    BLUE = "#0072B2"
    ORANGE = "#E69F00"
    GREEN = "#009E73"
    PURPLE = "#CC79A7"
    RED = "#D55E00"
    SKY = "#56B4E9"
    GOLD = "#B8A500"
    GREY = "#6B6B6B"


TEXT = "#333333"
_GRID = "#E3E3E3"
_LEGEND_INCHES = 2.6  # of an entry
FORMATS = (".png", ".svg")


@dataclass(frozen=True)
class Look:
    """The style of one series."""

    color: str
    marker: str = "o"
    line: str = "-"
    hatch: str = ""  # of a patch

    @property
    def of_line(self) -> dict[str, Any]:
        """The style as arguments of `plot`."""
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
    """A figure with a panel per name, three or four in a row by default; returns (figure, axes by name)."""
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
    figure.text(0.012, 1 - 0.10 / size[1], title, fontsize=12, fontweight="bold", va="top", color=TEXT)
    figure.text(0.012, 1 - 0.36 / size[1], subtitle, fontsize=8.5, va="top", color=Color.GREY)
    flat = list(np.ravel(grid))
    for axis in flat[len(names) :]:
        axis.set_visible(False)
    chosen = dict(zip(names, flat, strict=False))
    for name, axis in chosen.items():
        axis.set_title(name, fontsize=10, loc="left", color=TEXT)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", color=_GRID, linewidth=0.7)
        axis.set_axisbelow(True)
        axis.tick_params(labelsize=8.5, which="both")
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


def seconds_axis(axis: Any, *, across: bool = False, between: Sequence[int] = ()) -> None:
    """Logarithmic seconds, in the unit that suits each tick: powers of ten, and these multiples of them."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    def minor(value: float, _: object) -> str:
        """A number between two ticks, where the axis may show neither of them."""
        low, high = axis.get_xlim() if across else axis.get_ylim()
        return time_text(value) if high < 10 * low and not between else ""

    if across:
        axis.set_xscale("log")
        axis.grid(visible=False, axis="y")
        axis.grid(axis="x", color=_GRID, linewidth=0.7)
    else:
        axis.set_yscale("log")
    ticks = axis.xaxis if across else axis.yaxis
    ticks.set_major_locator(LogLocator(subs=(1, *between), numticks=7))
    ticks.set_major_formatter(FuncFormatter(lambda value, _: time_text(value)))
    ticks.set_minor_formatter(FuncFormatter(minor))


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
    axis.set_xlabel("clique size k", fontsize=9, color=TEXT)


def bars_across(axis: Any, labels: Sequence[str]) -> None:
    """For horizontal bars at 0, 1, ..: the first on top, each with its label, and lines that help to read their
    lengths."""
    axis.set_yticks(range(len(labels)), labels)
    beside = 0.5 + max(0, 3 - len(labels)) / 3  # so that a few bars do not fill the panel
    axis.set_ylim(len(labels) - 1 + beside, -beside)
    axis.grid(visible=False, axis="y")
    axis.grid(axis="x", color=_GRID, linewidth=0.7)


def say_nothing_there(axis: Any, text: str = "nothing was measured here") -> None:
    """A panel without data says so."""
    axis.text(
        0.5, 0.5, text, transform=axis.transAxes, ha="center", va="center", color=Color.GREY, fontsize=9, wrap=True
    )
    axis.set_xticks([])
    axis.set_yticks([])
    axis.grid(visible=False)


def line(axis: Any, xs: Sequence[float], ys: Sequence[float], look: Look) -> None:
    axis.plot(xs, ys, **look.of_line, markersize=5, linewidth=1.4)


def graphs_and_sizes(document: Mapping[str, Any], word: str = "") -> dict[str, Cell]:
    """Names for a panel of every graph and size, and what its cells say of these."""
    sizes = document["sizes"]
    wanted = [{"graph": graph, "k": k} for graph in names_of(document) for k in sizes]
    return {each["graph"] if len(sizes) == 1 else f"{each['graph']}, {word}{each['k']}": each for each in wanted}


def by_graph(
    document: Mapping[str, Any], axes: Mapping[str, Any], wanted: Mapping[str, Cell] | None = None
) -> Iterator[tuple[str, Any, list[Cell]]]:
    """Name, panel and cells of every graph that was measured; the other panels say that theirs was not.

    `wanted` is by name what the cells of a panel must match, where it is not the graph alone.
    """
    for name, axis in axes.items():
        cells = done(document["cells"], **({"graph": name} if wanted is None else wanted.get(name, {"graph": name})))
        if cells:
            yield name, axis, cells
        else:
            say_nothing_there(axis)


def save(figure: Any, stem: Path, suffixes: Sequence[str] = FORMATS) -> list[Path]:
    """Write the figure, as pixels and as lines by default; the files do not change unless the figure does."""
    from matplotlib import pyplot

    stem.parent.mkdir(parents=True, exist_ok=True)
    files = []
    with pyplot.rc_context({"svg.hashsalt": "graphlode", "svg.fonttype": "none"}):
        for suffix in suffixes:
            file = stem.with_suffix(suffix)
            figure.savefig(file, dpi=130, metadata={"Date": None} if suffix == ".svg" else None)
            files.append(file)
    pyplot.close(figure)
    return files
