"""Bundled graphs by name."""

from __future__ import annotations

from pathlib import Path

from graphlode.datasets.table import DATASETS, Dataset
from graphlode.errors import InputError
from graphlode.graph.graph import Graph
from graphlode.io.read import read

_FILES = Path(__file__).parent / "files"


def dataset_names() -> tuple[str, ...]:
    """The names of the bundled graphs, from small to large.

    >>> import graphlode as gl
    >>> "karate" in gl.dataset_names()
    True
    """
    return tuple(DATASETS)


def dataset_info(name: str) -> Dataset:
    """Description, source and sizes of a bundled graph, without reading its file. Raises InputError for another name.

    >>> from graphlode.datasets import dataset_info
    >>> dataset_info("jazz").triangles
    17899
    """
    try:
        return DATASETS[name]
    except (KeyError, TypeError):
        raise InputError(f"there is no bundled graph {name!r}; there are {', '.join(DATASETS)}") from None


def dataset_path(name: str) -> Path:
    """The file of a bundled graph, for `read_edges` and for other programs."""
    return _FILES / f"{dataset_info(name).name}.txt.gz"


def dataset(name: str, *, directed: bool | None = None) -> Graph:
    """A small real graph, bundled with graphlode.

    Parameters
    ----------
    name
        One of `dataset_names()`; another name is an InputError.
    directed
        None: as the graph was published. Temporal graphs keep the time of each edge's last event.

    >>> import graphlode as gl
    >>> gl.dataset("karate")
    <graphlode.Graph: 34 vertices, 78 edges, undirected>
    """
    info = dataset_info(name)
    return read(
        dataset_path(name),
        directed=info.directed if directed is None else directed,
        values=None if info.events is None else "times",
    )
