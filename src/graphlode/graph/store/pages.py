"""Running operations on the pages of a store, without making rows first.

A snapshot of a store holds its shards as packed pages. An operation that declares `on_pages` for a backend has kernels
there that take the view `Pages` as well as rows. So an operation that reads every edge at most once does not pay for a
copy of all edges. Rows are faster, and are used once they exist. In a store with several shards each shard is a part of
the graph, and `analytics/sharded_*.py` combine their results.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphlode.execute.devices import Devices, resolve
from graphlode.execute.held import Held
from graphlode.execute.operation import OPERATIONS, Operation
from graphlode.graph.graph import Graph
from graphlode.graph.store.shard import HeldShard
from graphlode.graph.store.snapshot import Snapshot
from graphlode.graph.views import Csr, Pages


def shards_of(graph: Graph, devices: Devices) -> tuple[HeldShard, ...]:
    """The shards of a snapshot that have rows; none for a graph without a store.

    None either unless `devices` are the devices of these shards or of all shards of the store, in any order.
    """
    if not isinstance(graph, Snapshot):
        return ()
    if devices != "auto":
        asked = sorted(device.space for device in resolve(devices))
        if asked not in (sorted(graph.spaces), sorted(shard.device.space for shard in graph.shards)):
            return ()
    return graph.shards


def reads_pages(operation: str, shard: HeldShard) -> bool:
    """Whether the kernel for the shard's device reads pages."""
    return shard.device.backend in OPERATIONS[operation].on_pages


def part_view(shard: HeldShard, operation: str, num_vertices: int) -> dict[str, Any]:
    """One shard's rows as the kernel for its device takes them: pages, or else rows. Runs on the shard's worker."""
    if reads_pages(operation, shard):
        return {"pages": shard.state, "num_rows": num_vertices}
    return part_rows(shard, num_vertices)


def part_rows(shard: HeldShard, num_vertices: int) -> dict[str, Any]:
    """One shard's rows, compressed on its device; those of other shards are empty. Runs on the shard's worker."""
    rows = shard.kernels.csr(shard.device, shard.state)
    return {"offsets": rows["offsets"][: num_vertices + 1], "neighbors": rows["neighbors"]}


def on_pages(operation: Operation, graph: Graph, devices: Devices) -> tuple[Operation, Devices]:
    """The operation and its devices. If one shard has all rows, these are its pages, if it can read them, and its
    device."""
    shards = shards_of(graph, devices)
    if len(shards) != 1:
        return operation, devices
    device = shards[0].device
    if reads_pages(operation.name, shards[0]) and (device.space, Csr()) not in graph.held:
        pages = {"pages": shards[0].state, "num_rows": graph.num_vertices}
        graph.held[(device.space, Pages())] = Held.of(pages)
        operation = replace(operation, view=Pages())
    return operation, device.name
