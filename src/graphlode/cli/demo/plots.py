"""The plots of the demonstration. They need matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphlode.cli.demo.real import Mined
from graphlode.cli.demo.stream import Step
from graphlode.cli.output import save_figure

_BLUE, _ORANGE, _GREY = "#2b6cb0", "#dd6b20", "#4a5568"


def draw(folder: Path, mined: Mined, stream: Sequence[Step]) -> list[Path]:
    """Write every plot into the folder; returns the files. Raises ImportError without matplotlib."""
    import matplotlib

    matplotlib.use("agg")
    folder.mkdir(parents=True, exist_ok=True)
    return [
        _save(_degrees(mined), folder / "degrees.png"),
        _save(_cores(mined), folder / "cores.png"),
        _save(_stream(stream), folder / "stream.png"),
    ]


def _figure(title: str, panels: int = 1) -> tuple[Any, Any]:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        panels, 1, figsize=(7, 4.2 if panels == 1 else 6.4), layout="constrained", sharex=True
    )
    figure.suptitle(title, fontsize=12, fontweight="bold", x=0.02, ha="left")
    for axis in np.atleast_1d(axes):
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", color="#e2e8f0", linewidth=0.8)
        axis.set_axisbelow(True)
    return figure, axes


def _save(figure: Any, path: Path) -> Path:
    from matplotlib import pyplot

    save_figure(figure, path, 120)
    pyplot.close(figure)
    return path


def _degrees(mined: Mined) -> Any:
    """The number of vertices with at least a given degree, on two logarithmic axes."""
    degrees = np.sort(mined.graph.degrees())
    values = np.unique(degrees[degrees > 0])
    at_least = degrees.size - np.searchsorted(degrees, values)
    figure, axis = _figure(f"{mined.name}: degree distribution")
    axis.loglog(values, at_least, color=_BLUE, marker="o", markersize=3.5, linewidth=1.2)
    axis.set_xlabel("degree d")
    axis.set_ylabel("vertices with degree at least d")
    _plain_ticks(axis.xaxis)
    _plain_ticks(axis.yaxis)
    _note(
        axis,
        f"{degrees.size:,} vertices\nmedian degree {np.median(degrees):g}\nlargest {degrees.max():,}",
        corner="lower left",
    )
    return figure


def _cores(mined: Mined) -> Any:
    """The number of vertices with each core number."""
    levels, sizes = np.unique(mined.cores, return_counts=True)
    figure, axis = _figure(f"{mined.name}: core numbers")
    colors = [_ORANGE if level == mined.degeneracy else _BLUE for level in levels]
    axis.bar(levels, sizes, color=colors, width=0.85)
    axis.set_xlabel("core number")
    axis.set_ylabel("vertices")
    axis.margins(x=0.02)
    axis.annotate(
        f"innermost core:\n{sizes[-1]:,} vertices, each with\n{mined.degeneracy} or more neighbors in it",
        xy=(levels[-1], sizes[-1]),
        xytext=(-12, 24),
        textcoords="offset points",
        ha="right",
        color=_GREY,
        arrowprops={"arrowstyle": "-", "color": _GREY, "shrinkB": 4},
    )
    axis.set_ylim(top=sizes.max() * 1.12)
    return figure


def _stream(stream: Sequence[Step]) -> Any:
    """The triangles after every batch, and the rate at which the store applied the batches."""
    figure, (above, below) = _figure("A stream of edges: exact triangles after every batch", panels=2)
    batches = [step.batch for step in stream]
    above.plot(batches, [step.triangles / 1e6 for step in stream], color=_BLUE, marker="o", markersize=4)
    above.set_ylabel("triangles (million)")
    above.set_ylim(bottom=0)
    below.plot(batches, [step.updates_per_second / 1e6 for step in stream], color=_ORANGE, marker="o", markersize=4)
    below.set_ylabel("edges in and out of the store\n(million per second)")
    below.set_ylim(bottom=0)
    below.xaxis.get_major_locator().set_params(integer=True)
    below.set_xlabel("batch; from the second half on, old edges leave")
    figure.align_ylabels()
    return figure


def _plain_ticks(axis: Any) -> None:
    """1, 10, 100 instead of powers of ten, because demo graphs are small."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axis.set_minor_formatter(NullFormatter())


def _note(axis: Any, text: str, *, corner: str) -> None:
    low, left = "lower" in corner, "left" in corner
    axis.text(
        0.03 if left else 0.97,
        0.05 if low else 0.95,
        text,
        transform=axis.transAxes,
        ha="left" if left else "right",
        va="bottom" if low else "top",
        color=_GREY,
    )
