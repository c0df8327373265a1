"""Keeping a shard of a store on the CPU."""

from graphlode.common.shard_kernels import ShardKernels
from graphlode.cpu.store import shard

KERNELS: ShardKernels = shard
"""Checked against the protocol by mypy."""
