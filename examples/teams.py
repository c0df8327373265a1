"""Which groups of musicians have all played together, and who is in most of them?"""

from __future__ import annotations

import graphlode as gl


def main() -> None:
    jazz = gl.dataset("jazz")
    every = gl.count_all_cliques(jazz)
    largest = gl.max_clique(jazz)
    print(f"{every.total:,} groups have all played together, the largest has {largest.size} musicians")
    print(f"groups of ten: {gl.count_cliques(jazz, 10).total:,}")
    by_vertex = gl.count_cliques(jazz, 10, by="vertex").by_vertex
    assert by_vertex is not None
    print(f"musician {jazz.ids[by_vertex.argmax()]} is in {by_vertex.max() / every[10]:.0%} of them")
    closed = sum(len(batch) for batch in gl.list_maximal_cliques(jazz, min_size=10).batches())
    print(f"{closed} groups of ten or more are closed: no other musician has played with all of them")
    trios = next(gl.list_cliques(jazz, 3, batch_size=100))
    print(f"the first {len(trios)} trios came as an array of shape {trios.shape}")


if __name__ == "__main__":
    main()
