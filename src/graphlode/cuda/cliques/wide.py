"""The kernel cliques/wide.cu, and the shared and global memory that its blocks need."""

from __future__ import annotations

from graphlode.cuda.compiler import KernelSource

SOURCE = KernelSource(
    "cliques/wide",
    ("clique_wide",),
    {"WALK": tuple(f"WALK_{walk}" for walk in ("ROWS", "WARP", "THREAD", "QUEUED", "SCHEDULED"))},
)

# As in cliques/wide.cu: words of a set searched in shared memory, warps of a block.
WORDS, WARPS = 8, 4
MATRIX_WORDS = WORDS * (32 * WORDS + 1)

SCRATCH_BYTES = 1 << 30


def scratch_words(longest: int, k: int) -> int:
    """Words of global memory per block, laid out as wide_space: members, their matrix, a stack of sets per warp."""
    words = -(-longest // 32)
    return (longest + 1) // 2 + longest * words + WARPS * k * (words + 1)


def most_blocks(longest: int, k: int) -> int:
    """The number of blocks whose scratch memory fits."""
    return max(1, SCRATCH_BYTES // (4 * scratch_words(longest, k)))
