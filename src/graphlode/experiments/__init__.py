"""Experiments: questions about the system that take a table and a plot to answer. `graphlode bench NAME` runs one.

Each experiment is a file with the same parts: `SIZES`, the sizes it looks at unless told (of cliques, of batches, ..),
and the least one; whether it takes graphs as `DIRECTED`; how it reads what is `KNOWN`, unless these are numbers of cliques; `measure`, which fills a record cell by cell; `tables`, what a
reader wants to see of the record; and `figure`, its picture. Tables and pictures are made from the record alone, so a
JSON file from another machine can be drawn here.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

EXPERIMENTS = {
    "cliques-runtime": "runtime",
    "cliques-ablation": "ablation",
    "cliques-lanes": "lanes",
    "cliques-sensitivity": "sensitivity",
    "cliques-scaling": "scaling",
    "store-correctness": "store_correctness",
    "store-scaling": "store_scaling",
    "store-shares": "store_shares",
    "store-batch": "store_batch",
    "motifs-steps": "motifs_steps",
    "motifs-runtime": "motifs_runtime",
    "motifs-memory": "motifs_memory",
    "locality-iterations": "locality_iterations",
    "locality-graphs": "locality_graphs",
    "locality-skip": "locality_skip",
    "locality-walltime": "locality_walltime",
}


def experiment(name: str) -> Any:
    """The module of an experiment."""
    return import_module(f"graphlode.experiments.{EXPERIMENTS[name]}")
