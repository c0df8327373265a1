"""How does a network close over time? Messages arrive week by week; triangles are counted exactly after each."""

from __future__ import annotations

import numpy as np

import graphlode as gl
from graphlode.datasets import dataset_path

WEEK = 7 * 24 * 3600


def main() -> None:
    events = gl.read_edges(dataset_path("CollegeMsg"), values="times")
    assert events.times is not None
    weeks = (events.times - events.times[0]) // WEEK
    print("weeks  people  pairs  triangles")
    for last in (0, 1, 3, 7, int(weeks[-1])):
        seen = int(np.searchsorted(weeks, last, side="right"))
        graph = gl.from_edges(events.src[:seen], events.dst[:seen])
        triangles = gl.count_triangles(graph).total
        print(f"{last + 1:5d}  {graph.num_vertices:6d}  {graph.num_edges:5d}  {triangles:9d}")


if __name__ == "__main__":
    main()
