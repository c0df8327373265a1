"""Reading and writing files of edges and graphs."""

from graphlode.io.edges import EdgeList, read_edges
from graphlode.io.read import read
from graphlode.io.write import write

__all__ = ["EdgeList", "read", "read_edges", "write"]
