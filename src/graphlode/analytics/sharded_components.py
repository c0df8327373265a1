"""Components over the shards of a store, with a single exchange.

Every shard finds the components of its own entries in its own memory, with the same kernel as a graph on one device.
Its labels form a forest: with one number per vertex they describe everything that its entries connect. A final union of
these forests, on the CPU, gives the components of the whole graph. The alternative, to exchange labels in rounds until
nothing changes, would move the same amount of data in every round.
"""

from __future__ import annotations

from graphlode.analytics.sharded import ShardedRun
from graphlode.common.wait import Progress, run_all
from graphlode.execute.device import kernel_module
from graphlode.execute.devices import cpu
from graphlode.execute.run import Outcome
from graphlode.execute.tasks import whole
from graphlode.graph.store.pages import part_view
from graphlode.graph.store.shard import HeldShard
from graphlode.graph.store.snapshot import Snapshot
from graphlode.types import AnyArray

OPERATION = "analytics.components"


def label_shards(snapshot: Snapshot, *, progress: Progress | None, notes: tuple[str, ...]) -> Outcome:
    """Labels of all vertices and the number of components, in the same form as from one device."""
    n, run = snapshot.num_vertices, ShardedRun(snapshot)

    def label(_: int, shard: HeldShard) -> AnyArray:
        # Not as a symmetric graph. There the kernel skips most of the largest component, because each edge that leaves
        # it is also seen from its other end. Here the other end may be on another shard, which may skip it as well.
        kernel = kernel_module(shard.device, OPERATION)
        view = part_view(shard, OPERATION, n)
        found = kernel.launch(shard.device, view, whole(n, run.control), control=run.control, symmetric=False)
        labels: AnyArray = found["labels"]
        return labels

    labels = run.on_all(label, progress, n * len(snapshot.shards))
    joining = kernel_module(cpu(), OPERATION)
    control = run.control.beside()
    value = run_all([(cpu(), lambda: joining.join(cpu(), labels, control=control))], control)[0]
    return run.outcome(value, OPERATION, "union and find", notes)
