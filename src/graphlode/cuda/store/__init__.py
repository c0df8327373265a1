"""Keeping a shard of a store on a CUDA device."""

from graphlode.common.shard_kernels import ShardKernels
from graphlode.cuda.store import shard

KERNELS: ShardKernels = shard
"""Checked against the protocol by mypy."""
