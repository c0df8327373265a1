"""Drives graph/packed_sort.cu: a batch of updates by key, equal keys in order of time.

Only the bits that keys of the shard can have are sorted by, so a pass for every eight of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphlode.cuda.compiler import KernelSource
from graphlode.cuda.graph.packed_input import WEIGHTS, Given
from graphlode.cuda.interface import KernelDevice, launch_shape

if TYPE_CHECKING:
    from graphlode.cuda.graph.packed_batch import Buffers
    from graphlode.cuda.graph.packed_state import State

SOURCE = KernelSource("graph/packed_sort", ("packed_clear", "packed_digits", "packed_sort_pass"))

# As in packed_sort.cu.
_DIGIT_BITS, _THREADS, _TILE = 8, 256, 4096
_PUBLISHED_AT, _DIGITS = 8 * 256 + 16, 256
MOST_UPDATES = (1 << 30) - 1  # what a tile can publish


def space_words(count: int) -> int:
    """Words that sorting so many updates needs beside the keys."""
    return _PUBLISHED_AT + 2 * _DIGITS * -(-count // _TILE)


def sort_updates(device: KernelDevice, state: State, buffers: Buffers, given: Given) -> tuple[Any, Any]:
    """Keys by key, and the places of the updates if they have weights. The information is that of checking them."""
    kernels, views, count = state.load(SOURCE), buffers.views, np.uint32(given.count)
    store, space, how = state.described(), views["space"], np.uint32(given.how)
    words, bits = space_words(given.count), np.uint32(given.neighbor_bits)
    passes = -(-(max(1, (state.num_rows - 1).bit_length()) + given.neighbor_bits) // _DIGIT_BITS)
    source = (store, given.tails, given.heads, given.deletes, how, count, bits)

    buffers.launch(kernels, "packed_clear", launch_shape(device, words), (space, np.uint32(words), buffers.info), (1,))
    shape = launch_shape(device, given.count, threads=_THREADS, blocks_per_multiprocessor=4)
    counted = (*source, np.uint32(passes), space, buffers.info)
    buffers.launch(kernels, "packed_digits", shape, counted, (0, 1, 2, 3, 4, 5, 6, 7))
    with_places = np.int32(bool(given.how & WEIGHTS))
    # The last pass writes where the result is wanted, the one before it elsewhere, and so on.
    turns = [(views["sorted"], views["places"]), (views["effects"], views["leaves"])]
    shape = (-(-given.count // _TILE), _THREADS)
    for number in range(passes):
        keys_in, places_in = turns[(passes - number) % 2]
        keys_out, places_out = turns[(passes - number + 1) % 2]
        arguments = (*source, np.uint32(number), space, keys_in, places_in, keys_out, places_out, with_places)
        changing = (0, 1, 2, 3, 4, 5, 6, 13) if number == 0 else (0, 5, 6, 13)
        buffers.launch(kernels, "packed_sort_pass", shape, arguments, changing, number=8 * passes + number)
    return views["sorted"], views["places"]
