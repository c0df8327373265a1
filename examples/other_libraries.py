"""A graph that lives in SciPy or NetworkX goes straight into an operation, and comes back."""

from __future__ import annotations

import networkx as nx
import scipy.sparse

import graphlode as gl


def main() -> None:
    club = nx.karate_club_graph()
    adjacency = scipy.sparse.csr_array(nx.to_scipy_sparse_array(club, weight=None))
    answers = {
        "networkx's own": sum(nx.triangles(club).values()) // 3,
        "graphlode on the networkx graph": gl.count_triangles(club).total,
        "graphlode on the scipy matrix": gl.count_triangles(adjacency).total,
        "graphlode on its own graph": gl.count_triangles(gl.dataset("karate")).total,
    }
    for name, answer in answers.items():
        print(f"{answer} triangles: {name}")
    back = gl.from_networkx(club).to_networkx()
    print(f"back in networkx: {back.number_of_nodes()} nodes, {back.number_of_edges()} edges")


if __name__ == "__main__":
    main()
