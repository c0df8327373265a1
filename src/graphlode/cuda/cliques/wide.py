"""Drives cliques/wide.cu: what its blocks need of shared and global memory."""

from __future__ import annotations

from graphlode.cuda.compiler import KernelSource

SOURCE = KernelSource(
    "cliques/wide",
    ("clique_wide",),
    {"WALK": tuple(f"WALK_{walk}" for walk in ("ROWS", "WARP", "THREAD", "QUEUED", "SCHEDULED"))},
)

# As in cliques/wide.cu: words of a set that is searched in shared memory, warps of a block.
WORDS, WARPS = 8, 4
MATRIX_WORDS = WORDS * (32 * WORDS + 1)

SCRATCH_BYTES = 1 << 30


def scratch_words(longest: int, k: int) -> int:
    """Global memory of a block, as wide_space lays it: members, their matrix, a stack of sets for each warp."""
    words = -(-longest // 32)
    return (longest + 1) // 2 + longest * words + WARPS * k * (words + 1)


def most_blocks(longest: int, k: int) -> int:
    """As many as have room for their scratch."""
    return max(1, SCRATCH_BYTES // (4 * scratch_words(longest, k)))
