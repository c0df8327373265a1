"""Other libraries, each with its best settings for the measured task. A library that is not installed is left out."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from benchmarks.peers.peer import Builder, Peer

__all__ = ["Builder", "Peer", "find_peer"]

_PEERS = {
    "graphblas": "Graphblas",
    "igraph": "Igraph",
    "networkit": "Networkit",
    "numpy": "Numpy",
    "orbit_count": "OrbitCount",
    "orbitsi": "Orbitsi",
    "pandas": "Pandas",
    "pivoterpy": "Pivoterpy",
    "scipy": "Scipy",
}


def find_peer(name: str, threads: int) -> Peer | None:
    """The peer with this name and number of threads, or None if it is not installed."""
    kind = _PEERS[name]
    if find_spec(name) is None:
        return None
    peer: Peer = getattr(import_module(f"benchmarks.peers.{name}"), kind)(threads)
    return peer
