"""Edge-centric processing of a list of edges, and orders of the list that improve its locality."""

from graphlode.locality.edge_rank import EdgeRank, rank_edges
from graphlode.locality.orders import EdgeOrder, Key, Order
from graphlode.locality.tiles import TiledEdges, TileRank

__all__ = ["EdgeOrder", "EdgeRank", "Key", "Order", "TileRank", "TiledEdges", "rank_edges"]
