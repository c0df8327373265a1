"""The figures of the README: a short table, generated from the committed results between two marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks.results import Entry, Result, seconds

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- figures:begin -->", "<!-- figures:end -->"

# The tasks of the README, in its order: pattern of the case, and the words for it.
TASKS = {
    r"build/(.+)": "build {} from arrays",
    r"read/edges": "read a 100 MB text edge list",
    r"peers/triangles/(.+)": "count the triangles of {}",
    r"peers/cores/(.+)": "core numbers of {}",
    r"gpu/triangles/(.+)/kernel": "count the triangles of {}, on a GPU",
    r"peers/cliques/(mico|dblp-2010|cnr-2000)/k(8)": "count the cliques of {} with {} vertices",
}


def fill(text: str, results: list[Result]) -> str:
    """The README's text with the table between its marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + "\n" + "\n".join(_lines(results)) + "\n" + END + after


def _lines(results: list[Result]) -> Iterator[str]:
    shown = [
        (words.format(*named.groups()), result)
        for pattern, words in TASKS.items()
        for result in results
        if (named := re.fullmatch(pattern, result.case)) is not None
    ]
    if not shown:
        yield "No results are committed yet."
        return
    yield "| task | machine | graphlode | next best | |"
    yield "| --- | --- | --: | --- | --: |"
    for words, result in shown:
        if not result.peers:
            continue
        best = min(result.peers.values(), key=lambda entry: entry.median)
        ratio = best.median / result.ours.median
        cells = (
            words,
            result.label,
            _time(result.ours),
            f"{best.library}, {_time(best)}",
            f"{ratio:.1f}x",
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield (
        "Medians; the same machine, run and input for both, and the same number of threads for libraries on the CPU. "
        "Triangles, cores and cliques start from each library's own graph; on the GPU, both devices start from the oriented graph "
        "in their own memory. A GPU's time has launch and read-back in it."
    )


def _time(entry: Entry) -> str:
    return seconds(entry.median)
