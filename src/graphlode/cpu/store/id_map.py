"""The map from original ids to positions in the extension; see native/include/graphlode/graph/id_map.hpp."""

from __future__ import annotations

from graphlode.cpu import _native

IdMap = _native.IdMap
IdArrival = _native.IdArrival
