"""The random words behind the generators look uniform and independent in every bit, stream and distance."""

from __future__ import annotations

import numpy as np
import pytest

from graphlode.cpu.generate.random import random_words

SIZE = 1 << 16


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_every_bit_is_set_half_of_the_time(seed):
    words = random_words(seed, 0, SIZE)
    for bit in range(64):
        ones = int((words >> np.uint64(bit) & np.uint64(1)).sum())
        assert abs(ones - SIZE / 2) < 5 * np.sqrt(SIZE) / 2


@pytest.mark.parametrize("shift", [0, 20, 41, 54])
def test_every_group_of_ten_bits_is_uniform(shift):
    words = random_words(12, 5, SIZE)
    counts = np.bincount((words >> np.uint64(shift) & np.uint64(1023)).astype(np.int64), minlength=1024)
    expected = SIZE / 1024
    chi_squared = float(((counts - expected) ** 2 / expected).sum())
    assert abs(chi_squared - 1023) < 5 * np.sqrt(2 * 1023)


def test_neighboring_words_and_neighboring_seeds_are_independent():
    words = random_words(3, 0, SIZE + 64)
    others = [words[k : k + SIZE] for k in (1, 2, 64)] + [random_words(seed, 0, SIZE) for seed in (2, 4, 2**40 + 3)]
    for other in others:
        differing = np.unpackbits((words[:SIZE] ^ other).view(np.uint8)).sum(dtype=np.int64)
        assert abs(int(differing) - 32 * SIZE) < 5 * np.sqrt(64 * SIZE) / 2


def test_any_part_of_a_stream_can_be_drawn_alone():
    np.testing.assert_array_equal(random_words(8, 1000, 50), random_words(8, 0, 1050)[1000:])


def test_words_do_not_repeat():
    assert len(np.unique(random_words(6, 0, SIZE))) == SIZE
