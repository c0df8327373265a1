"""Experiments: questions about the system that take a table and a picture to answer. `graphlode bench NAME` runs one.

Each experiment is a file with the same parts: `TITLE`; `SIZES`, the default sizes (of cliques, of batches, ..), and
`LEAST_SIZE`; `DIRECTED`, whether it takes graphs as directed; `measure`, which fills a record cell by cell; `tables`,
the tables for a reader; and `figure`, its picture. `KNOWN` reads an entry of a file of known counts, if these are not
numbers of cliques by size. Tables and pictures are made from the document alone, so a JSON file from another machine
can be drawn here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXPERIMENTS = (
    "cliques-runtime",
    "cliques-ablation",
    "cliques-lanes",
    "cliques-sensitivity",
    "cliques-scaling",
    "store-correctness",
    "store-scaling",
    "store-shares",
    "store-batch",
    "motifs-steps",
    "motifs-runtime",
    "motifs-memory",
    "locality-iterations",
    "locality-graphs",
    "locality-skip",
    "locality-walltime",
)


def experiment(name: str) -> Any:
    """The module of an experiment: `cliques-runtime` is `cliques/runtime.py`."""
    return import_module(f"benchmarks.experiments.{name.replace('-', '.')}")
