"""Plots of the option `--plot`. They need matplotlib, which is imported only then."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from math import log10
from pathlib import Path

from graphlode.cli.output import check_folder, save_figure
from graphlode.errors import InputError, UnsupportedError

_SUFFIXES = (".png", ".svg", ".pdf")
_BLUE, _GREY = "#2b6cb0", "#4a5568"
_ON_WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}


def check_plot(path: Path | None) -> None:
    """Complain about a plot that cannot be drawn before any work is done for it."""
    if path is None:
        return
    check_folder(path)
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError(f"{path}: the suffix of a plot must be one of {', '.join(_SUFFIXES)}")
    if find_spec("matplotlib") is None:
        raise UnsupportedError(f"{path}: plots need matplotlib (pip install graphlode[plot])")


def draw_clique_counts(path: Path, name: str, counts: Mapping[int, int]) -> None:
    """The number of cliques of each size, on a logarithmic axis. A note names sizes without cliques."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    # Draws exponents instead of counts, because counts may be too large for a float.
    sizes = [k for k, total in counts.items() if total]
    figure, axis = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    figure.suptitle(f"{name}: cliques by size", fontsize=12, fontweight="bold", x=0.02, ha="left")
    axis.plot(sizes, [_log10(counts[k]) for k in sizes], color=_BLUE, marker="o", markersize=5, linewidth=1.4)
    for k in sizes if len(sizes) <= 10 else ():
        at = (k, _log10(counts[k]))
        axis.annotate(_short(counts[k]), at, xytext=(0, 9), textcoords="offset points", ha="center", bbox=_ON_WHITE)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color="#e2e8f0", linewidth=0.8)
    axis.set_axisbelow(True)
    axis.set_xlabel("size k")
    axis.set_ylabel("number of k-cliques")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"$10^{{{value:g}}}$"))
    axis.margins(x=0.08, y=0.18)
    none = [k for k, total in counts.items() if not total]
    if none:
        note = f"none of {_ranges(none)}"
        axis.text(0.98, 0.97, note, transform=axis.transAxes, ha="right", va="top", color=_GREY, bbox=_ON_WHITE)
    save_figure(figure, path, 150)
    pyplot.close(figure)


def _log10(value: int) -> float:
    """The logarithm of an integer of any size."""
    digits = max(0, value.bit_length() - 64)
    return log10(value >> digits) + digits * log10(2)


def _short(value: int) -> str:
    exponent = int(_log10(value))
    return f"{value:,}" if value < 10_000 else f"{value / 10**exponent:.2g}e{exponent}"


def _ranges(sizes: list[int]) -> str:
    return f"size {sizes[0]}" if len(sizes) == 1 else f"sizes {sizes[0]} to {sizes[-1]}"
