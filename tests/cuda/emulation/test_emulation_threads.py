"""What single threads do: bits, minima, loads, atomics, indices; emulated and real."""

from __future__ import annotations

from functools import reduce
from operator import and_, or_, xor
from typing import Any

import numpy as np
import pytest

from kernel_bench import INTEGERS, NUMBERS, WORDS, Bench


def interesting(bits: int) -> list[int]:
    """Zero, all ones, each single bit and a few words in between."""
    drawn = np.random.default_rng(bits).integers(0, 1 << 63, 40).tolist()
    return [0, (1 << bits) - 1, *(1 << bit for bit in range(bits)), *(x % (1 << bits) for x in drawn)]


@pytest.mark.parametrize(("bits", "entry"), [(32, "bits_of_words"), (64, "bits_of_long_words")])
def test_bits_of_words(bench: Bench, bits: int, entry: str) -> None:
    word = np.dtype(f"uint{bits}")
    x, y = np.array(interesting(bits), word), np.array(interesting(bits)[::-1], word)
    ones, leading, first = (np.zeros(x.size, np.int32) for _ in range(3))
    reverse, high = np.zeros(x.size, word), np.zeros(x.size, word)
    bench.launch("bits", entry, 3, 96, x, y, np.int64(x.size), ones, leading, first, reverse, high)
    for i, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        assert ones[i] == a.bit_count()
        assert leading[i] == bits - a.bit_length()
        assert first[i] == (a & -a).bit_length()
        assert reverse[i] == int(f"{a:0{bits}b}"[::-1], 2)
        assert high[i] == a * b >> bits


@pytest.mark.parametrize("name", NUMBERS)
def test_extremes_and_cached_loads(bench: Bench, name: str) -> None:
    dtype = np.dtype(name)
    rng = np.random.default_rng(1)
    if dtype.kind == "f":
        x, y = rng.normal(size=(2, 66)).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        x, y = rng.integers(limits.min, limits.max, (2, 66), dtype, endpoint=True)
    x[:2] = y[1], y[1]
    smaller, larger = np.zeros(66, dtype), np.zeros(66, dtype)
    bench.launch("bits", f"bits_extremes_{name}", 2, 33, x, y, smaller, larger)
    np.testing.assert_array_equal(smaller, np.minimum(x, y))
    np.testing.assert_array_equal(larger, np.maximum(x, y))


def test_fences_change_nothing(bench: Bench, shape: tuple[int, int]) -> None:
    out = np.zeros(shape[0] * shape[1], np.int32)
    bench.launch("bits", "bits_fences", *shape, out)
    assert (out == 3).all()


def drawn(name: str, n: int) -> np.ndarray[Any, Any]:
    limits = np.iinfo(name)
    return np.random.default_rng(n).integers(limits.min, limits.max, n, np.dtype(name), endpoint=True)


@pytest.mark.parametrize("name", INTEGERS)
def test_atomic_extremes(bench: Bench, shape: tuple[int, int], name: str) -> None:
    grid, block = shape
    values = drawn(name, grid * block)
    start = values[0]
    smallest, largest, old = np.array([start]), np.array([start]), np.zeros_like(values)
    bench.launch("atomics", f"atomics_order_{name}", grid, block, values, smallest, largest, old)
    assert smallest[0] == values.min() and largest[0] == values.max()
    assert start in old and set(old.tolist()) <= set(values.tolist())


@pytest.mark.parametrize("name", WORDS)
def test_atomic_logic_and_exchange(bench: Bench, shape: tuple[int, int], name: str) -> None:
    grid, block = shape
    values = drawn(name, grid * block)
    start = np.array([90], values.dtype)
    cells, old = [start.copy() for _ in range(4)], np.zeros_like(values)
    bench.launch("atomics", f"atomics_logic_{name}", grid, block, values, *cells, old)
    for cell, fold in zip(cells, (and_, or_, xor), strict=False):
        assert cell[0] == reduce(fold, values.tolist(), 90)
    assert sorted([*old.tolist(), int(cells[3][0])]) == sorted([*values.tolist(), 90])


@pytest.mark.parametrize("name", [*WORDS, "float32", "float64"])
def test_atomic_sums(bench: Bench, shape: tuple[int, int], name: str) -> None:
    """Each thread adds one: every old value is seen once. Sums of small whole numbers are exact in any order."""
    grid, block = shape
    n = grid * block
    values, total, old = np.ones(n, name), np.array([7], name), np.zeros(n, name)
    bench.launch("atomics", f"atomics_sum_{name}", grid, block, values, total, old)
    assert total[0] == 7 + n
    assert sorted(old.tolist()) == list(range(7, 7 + n))
    values = np.random.default_rng(n).integers(0, 100, n).astype(name)
    total = np.zeros(1, name)
    bench.launch("atomics", f"atomics_sum_{name}", grid, block, values, total, old)
    assert total[0] == values.sum()


@pytest.mark.parametrize("name", ["int32", "uint32"])
def test_atomic_differences_wrap_around(bench: Bench, shape: tuple[int, int], name: str) -> None:
    grid, block = shape
    n = grid * block
    values, rest, old = np.ones(n, name), np.array([np.iinfo(name).min], name), np.zeros(n, name)
    bench.launch("atomics", f"atomics_difference_{name}", grid, block, values, rest, old)
    assert rest[0] == np.iinfo(name).max + 1 - n
    bench.launch("atomics", f"atomics_sum_{name}", grid, block, values, rest, old)
    assert rest[0] == np.iinfo(name).min


@pytest.mark.parametrize("name", WORDS)
def test_compare_and_swap(bench: Bench, shape: tuple[int, int], name: str) -> None:
    n = shape[0] * shape[1]
    count, old = np.zeros(1, name), np.zeros(n, name)
    bench.launch("atomics", f"atomics_swap_{name}", *shape, count, old)
    assert count[0] == n and sorted(old.tolist()) == list(range(n))


def test_exchange_of_floats(bench: Bench) -> None:
    values, cell, old = np.arange(66, dtype=np.float32), np.array([-1], np.float32), np.zeros(66, np.float32)
    bench.launch("atomics", "atomics_exchange_float", 2, 33, values, cell, old)
    assert sorted([*old.tolist(), float(cell[0])]) == list(range(-1, 66))


def test_indices_of_blocks_in_three_dimensions(emulated: Bench) -> None:
    grid, block = (3, 2, 2), (5, 4, 3)
    out = np.zeros((12 * 60, 6), np.uint32)
    module: Any = emulated.load("barriers")
    module.launch_3d("barrier_indices", grid, block, (out,))
    expected = [
        (tx, ty, tz, bx, by, bz)
        for bz in range(2)
        for by in range(2)
        for bx in range(3)
        for tz in range(3)
        for ty in range(4)
        for tx in range(5)
    ]
    assert [tuple(row) for row in out.tolist()] == expected
