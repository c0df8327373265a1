"""Components over the shards of a store, with one exchange in all.

Every shard finds the components of its own entries in its own memory, by the kernel that a graph on one device has. Its
labels are a forest: they say with less than a number per vertex what all its entries together say about what hangs
together. One more union over these forests, on the CPU, gives the components of the whole. Rounds in which shards tell each
other labels until nothing changes would move as much in every round.
"""

from __future__ import annotations

from graphlode.analytics.sharded import ShardedRun
from graphlode.common.wait import Progress, wait_all
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
    """Labels of all vertices and their number, as the operation on one device has them."""
    n, run = snapshot.num_vertices, ShardedRun(snapshot)

    def label(_: int, shard: HeldShard) -> AnyArray:
        # Not as a symmetric graph, where most of the largest component is skipped, since what leads out of it is seen
        # from its other end: here that may be on another shard, which skips it as well.
        kernel = kernel_module(shard.device, OPERATION)
        view = part_view(shard, OPERATION, n)
        found = kernel.launch(shard.device, view, whole(n, run.control), control=run.control, symmetric=False)
        labels: AnyArray = found["labels"]
        return labels

    labels = run.on_all(label, progress, n * len(snapshot.shards))
    joining = kernel_module(cpu(), OPERATION)
    control = run.control.beside()
    value = wait_all([cpu().submit(lambda: joining.join(cpu(), labels, control=control))], control)[0]
    return run.outcome(value, OPERATION, "union and find", notes)
