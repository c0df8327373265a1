"""The pictures in documents. Each is stored beside the results that it shows, under the same name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks import bars
from benchmarks.experiments import experiment
from benchmarks.plots import save

SUFFIX = ".svg"


def shown_in(document: Path) -> Iterator[Path]:
    """The pictures of results that a Markdown file shows."""
    for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", document.read_text("utf-8")):
        if name.endswith(SUFFIX):
            yield (document.parent / name).resolve()


def draw(picture: Path) -> None:
    """Draw a picture again from the results beside it."""
    document = json.loads(picture.with_suffix(".json").read_text("utf-8"))
    figure = bars.figure if "group" in document else experiment(document["experiment"]).figure
    save(figure(document), picture.with_suffix(""), (SUFFIX,))
