"""Small drawings of the patterns: SVG for tables in notebooks, and drawings below the bars of a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import cos, log10, pi, sin
from typing import TYPE_CHECKING, Any

from graphlode.errors import UnsupportedError
from graphlode.mining.patterns import Pattern

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BLUE, _GREY, _LIGHT = "#2b6cb0", "#4a5568", "#e2e8f0"
_SIDE, _MARGIN = 44, 7  # of a drawing, in pixels
_BAR_BASE = -0.3  # where bars begin on a logarithmic axis, so that a count of 1 has a visible bar


def positions(pattern: Pattern) -> list[tuple[float, float]]:
    """Coordinates of the vertices in the unit square: on a circle, starting at the top with the highest degree."""
    n = pattern.num_vertices
    ring = _ring(pattern)
    places = {v: i for i, v in enumerate(ring)}
    angles = [2 * pi * places[v] / n - pi / 2 for v in range(n)]
    return [(0.5 + 0.5 * cos(angle), 0.5 + 0.5 * sin(angle)) for angle in angles]


def _ring(pattern: Pattern) -> list[int]:
    """An order of the vertices with many edges between consecutive ones, so that few lines cross."""
    joined: dict[int, set[int]] = {v: set() for v in range(pattern.num_vertices)}
    for a, b in pattern.edges:
        joined[a].add(b)
        joined[b].add(a)
    ring = [max(joined, key=lambda v: len(joined[v]))]
    while len(ring) < len(joined):
        remaining = [v for v in joined if v not in ring]
        ring.append(max(remaining, key=lambda v: (v in joined[ring[-1]], -len(joined[v]))))
    return ring


def svg(pattern: Pattern) -> str:
    """The pattern as an inline SVG picture."""
    places = [tuple(_MARGIN + (_SIDE - 2 * _MARGIN) * c for c in place) for place in positions(pattern)]
    lines = "".join(
        f'<line x1="{places[a][0]:.1f}" y1="{places[a][1]:.1f}" x2="{places[b][0]:.1f}" y2="{places[b][1]:.1f}" '
        f'stroke="{_GREY}" stroke-width="1.5"/>'
        for a, b in pattern.edges
    )
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{_BLUE}"/>' for x, y in places)
    title = f"<title>{escape(pattern.id)} {escape(pattern.name)}</title>"
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{_SIDE}" height="{_SIDE}" role="img">{title}{lines}{dots}</svg>'


def html_table(patterns: Sequence[Pattern], columns: Mapping[str, Sequence[Any]]) -> str:
    """A table for notebooks: a drawing of each pattern and its values."""
    heads = "".join(f"<th>{escape(head)}</th>" for head in ("", "pattern", *columns))
    rows = "".join(
        f"<tr><td>{svg(pattern)}</td><td style='text-align: left'>{pattern.id} {escape(pattern.name)}</td>"
        + "".join(f"<td style='text-align: right'>{escape(_shown(values[i]))}</td>" for values in columns.values())
        + "</tr>"
        for i, pattern in enumerate(patterns)
    )
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _shown(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def draw_counts(patterns: Sequence[Pattern], counts: Sequence[int], counted: str) -> Figure:
    """Bars of the counts on a logarithmic axis, with a drawing of each pattern below its bar."""
    # Exponents, not counts, are drawn: counts may be too large for a float.
    heights = [log10_of(count) - _BAR_BASE if count > 0 else 0.0 for count in counts]
    what = "induced copies" if counted == "induced" else "copies"
    return _bars(patterns, heights, what, logarithmic=True)


def draw_scores(patterns: Sequence[Pattern], scores: Sequence[float]) -> Figure:
    """Bars of z-scores, with a drawing of each pattern below its bar."""
    return _bars(patterns, list(scores), "z-score", logarithmic=False)


def _bars(patterns: Sequence[Pattern], heights: Sequence[float], what: str, *, logarithmic: bool) -> Figure:
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import FuncFormatter, MaxNLocator
    except ImportError:
        raise UnsupportedError("plots need matplotlib: pip install graphlode[plot]") from None
    figure = Figure(figsize=(max(4.0, 0.5 * len(patterns) + 1.2), 4.2))
    left, width, below = 0.08 if len(patterns) > 8 else 0.16, 0.9 if len(patterns) > 8 else 0.8, 0.2
    axis = figure.add_axes((left, below, width, 0.97 - below))
    axis.bar(range(len(patterns)), heights, bottom=_BAR_BASE if logarithmic else 0.0, color=_BLUE, width=0.7)
    axis.set_xlim(-0.6, len(patterns) - 0.4)
    axis.set_xticks([])
    axis.set_ylabel(what)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", color=_LIGHT, linewidth=0.8)
    axis.set_axisbelow(True)
    if logarithmic:
        axis.yaxis.set_major_locator(MaxNLocator(integer=True))
        axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"$10^{{{value:g}}}$"))
    drawings = figure.add_axes((left, 0.02, width, below - 0.03), sharex=axis)
    drawings.set_axis_off()
    drawings.set_ylim(0, 1)
    for i, pattern in enumerate(patterns):
        places = [(i - 0.32 + 0.64 * x, 0.95 - 0.62 * y) for x, y in positions(pattern)]
        for a, b in pattern.edges:
            drawings.plot([places[a][0], places[b][0]], [places[a][1], places[b][1]], color=_GREY, linewidth=0.8)
        drawings.plot([x for x, _ in places], [y for _, y in places], "o", color=_BLUE, markersize=2.4)
        drawings.text(i, 0.0, pattern.id, ha="center", va="bottom", fontsize=7, color=_GREY)
    return figure


def log10_of(value: int) -> float:
    """The logarithm of a positive integer of any size."""
    digits = max(0, value.bit_length() - 64)
    return log10(value >> digits) + digits * log10(2)
