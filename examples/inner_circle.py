"""Who belongs to the innermost circle of an institution's e-mail, and how tightly is it knit?"""

from __future__ import annotations

import numpy as np

import graphlode as gl


def main() -> None:
    mail = gl.dataset("email-Eu-core").undirected()
    cores = gl.core_numbers(mail)
    inner = mail.ids[cores.values == cores.degeneracy]
    edges = mail.edges()
    within = edges[np.isin(edges, inner).all(axis=1)]
    circle = gl.from_edges(within[:, 0], within[:, 1])
    possible = circle.num_vertices * (circle.num_vertices - 1) // 2
    print(
        f"{circle.num_vertices} of {mail.num_vertices} people write with {cores.degeneracy} or more of the others there"
    )
    print(f"{circle.num_edges / possible:.0%} of the pairs in that circle are in touch")
    share = int(gl.count_triangles(circle)) / int(gl.count_triangles(mail))
    print(f"it holds {share:.0%} of all triangles")


if __name__ == "__main__":
    main()
