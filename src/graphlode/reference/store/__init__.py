"""Keeping a shard of a store on the reference device."""

from graphlode.common.shard_kernels import ShardKernels
from graphlode.reference.store import shard

KERNELS: ShardKernels = shard
"""Checked against the protocol by mypy."""
