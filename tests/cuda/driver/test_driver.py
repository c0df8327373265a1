"""The extension `_driver`, tried without a GPU against a library that answers like NVIDIA's driver
(fake_driver.cpp)."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from driver_calls import CONTEXT, take

from graphlode.cuda import _driver
from graphlode.errors import DeviceMemoryError, DeviceUnavailableError, InputError, KernelFaultError
from graphlode.types import AnyArray

FUNCTIONS = count(1)  # handles of the driver

Make = Callable[..., _driver.Kernel]


class Array:
    """What the driver needs to know of an array of the device."""

    def __init__(self, pointer: int) -> None:
        self.data = SimpleNamespace(ptr=pointer)


class Sub(Array):
    pass


@pytest.fixture
def kernel(queue: _driver.Queue, fake: ctypes.CDLL) -> Make:
    """Makes a kernel with parameters of these sizes."""

    def make(*sizes: int) -> _driver.Kernel:
        function = next(FUNCTIONS)
        bytes_of_each = (ctypes.c_size_t * len(sizes))(*sizes)
        fake.fake_declare(ctypes.c_uint64(function), bytes_of_each, ctypes.c_size_t(len(sizes)))
        return _driver.Kernel(queue, function, "walk", Array)

    return make


SCALARS = [
    (np.int32(-5), "i"),
    (np.uint32(2**32 - 1), "I"),
    (np.int64(-(2**63)), "q"),
    (np.uint64(2**64 - 1), "Q"),
    (np.longlong(-6), "q"),
    (np.ulonglong(7), "Q"),
    (np.float32(0.1), "f"),
    (np.float64(-1e300), "d"),
    (np.int8(-128), "b"),
    (np.uint16(65535), "H"),
    (np.bool_(True), "?"),
]


def test_arguments_become_the_bytes_that_a_kernel_reads(kernel: Make, fake: ctypes.CDLL) -> None:
    letters = "".join(letter for _, letter in SCALARS)
    launched = kernel(8, *(struct.calcsize(letter) for letter in letters), 8)
    launched.launch(3, 64, 128, (Array(2**63 + 5), *(value for value, _ in SCALARS), Sub(9)))
    expected = struct.pack(f"=Q{letters}Q", 2**63 + 5, *(value.item() for value, _ in SCALARS), 9)
    assert take(fake) == ((3, 64, 128), expected)
    launched.launch(1, 1, 0, [Array(0), *(value for value, _ in SCALARS), Array(0)])
    assert take(fake) is not None and take(fake) is None


@pytest.mark.parametrize("value", [3, 2.5, None, "text", np.arange(3), np.complex128(1), [1]], ids=repr)
def test_a_wrong_argument_is_named_by_its_position(kernel: Make, fake: ctypes.CDLL, value: Any) -> None:
    name = type(value).__name__
    with pytest.raises(
        InputError, match=rf"^walk, argument 1: expected an array of the device or a numpy scalar, got {name}$"
    ):
        kernel(8, 8).launch(1, 32, 0, (Array(1), value))
    assert take(fake) is None


def test_widths_and_numbers_of_arguments_are_compared_with_the_kernel(kernel: Make, fake: ctypes.CDLL) -> None:
    launched = kernel(8, 4)
    with pytest.raises(InputError, match=r"^walk, argument 1: the parameter has 4 bytes, got int64 with 8$"):
        launched.launch(1, 32, 0, (Array(1), np.int64(2)))
    for arguments in [(), (Array(1),), (Array(1), np.int32(2), np.int32(3))]:
        with pytest.raises(InputError, match=rf"^walk takes 2 arguments, got {len(arguments)}$"):
            launched.launch(1, 32, 0, arguments)
    assert take(fake) is None


def test_a_kernel_of_which_nothing_is_known_takes_what_it_is_given(kernel: Make, fake: ctypes.CDLL) -> None:
    launched = kernel()
    launched.launch(1, 32, 0, (np.int32(1),) * 96)
    assert take(fake) == ((1, 32, 0), b"")
    with pytest.raises(InputError, match="takes up to 96 arguments, got 97"):
        launched.launch(1, 32, 0, (np.int32(1),) * 97)


def test_more_shared_memory_is_asked_for_once_it_is_needed(kernel: Make, fake: ctypes.CDLL) -> None:
    launched = kernel()
    for shared_bytes in (48 * 1024, 200 * 1024, 100 * 1024, 1):
        launched.launch(1, 32, shared_bytes, ())
        assert take(fake) == ((1, 32, shared_bytes), b"")


def test_a_prepared_launch_replaces_what_changes(kernel: Make, fake: ctypes.CDLL) -> None:
    first = (Array(100), np.uint32(1), np.int64(2), np.float64(3), Array(400), np.bool_(False))
    prepared = _driver.PreparedLaunch(kernel(8, 4, 8, 8, 8, 1), first, [1, 2, 3, 4, 5])
    prepared.launch(5, 32, 0, (2**32 - 1, np.int32(-7), 8, Array(900), True))
    assert take(fake) == ((5, 32, 0), struct.pack("=QIqdQ?", 100, 2**32 - 1, -7, 8.0, 900, True))
    prepared.launch(6, 64, 16, (0, 1, 0.5, Array(1), 0))
    assert take(fake) == ((6, 64, 16), struct.pack("=QIqdQ?", 100, 0, 1, 0.5, 1, False))


def test_a_prepared_launch_that_never_changes(kernel: Make, fake: ctypes.CDLL) -> None:
    prepared = _driver.PreparedLaunch(kernel(4), (np.int32(3),), ())
    prepared.launch(1, 1, 0, ())
    assert take(fake) == ((1, 1, 0), struct.pack("i", 3))


@pytest.mark.parametrize(
    ("position", "value", "says"),
    [
        (0, 2**32, "an unsigned whole number of 4 bytes, got 4294967296"),
        (0, -1, "an unsigned whole number of 4 bytes, got -1"),
        (0, 1.5, "an unsigned whole number of 4 bytes, got 1.5"),
        (1, 2**63, "a signed whole number of 8 bytes"),
        (2, "text", "a real number of 8 bytes, got 'text'"),
        (3, 5, "an array of the device, got int"),
        (4, -129, "a signed whole number of 1 bytes, got -129"),
    ],
)
def test_what_does_not_fit_into_a_prepared_launch(
    kernel: Make, fake: ctypes.CDLL, position: int, value: Any, says: str
) -> None:
    first = (np.uint32(1), np.int64(2), np.float64(3), Array(4), np.int8(5))
    prepared = _driver.PreparedLaunch(kernel(4, 8, 8, 8, 1), first, [position])
    with pytest.raises(InputError, match=rf"^walk, argument {position}: expected {says}"):
        prepared.launch(1, 1, 0, (value,))
    assert take(fake) is None


def test_a_prepared_launch_knows_how_much_changes(kernel: Make) -> None:
    with pytest.raises(InputError, match="walk has no argument 1 to change"):
        _driver.PreparedLaunch(kernel(4), (np.int32(3),), [1])
    prepared = _driver.PreparedLaunch(kernel(4), (np.int32(3),), [0])
    with pytest.raises(InputError, match="walk was prepared to change 1 arguments, got 2"):
        prepared.launch(1, 1, 0, (1, 2))


def test_a_sequence_waits_for_the_stream_that_made_its_arrays(
    queue: _driver.Queue, kernel: Make, fake: ctypes.CDLL
) -> None:
    sequence = _driver.LaunchSequence(queue, [(kernel(8), (Array(1),), [(0, 1)], 0, 0, 0)])

    def last_wait() -> tuple[int, int]:
        found = (ctypes.c_uint64 * 2)()
        fake.fake_last_wait(found)
        return found[0], found[1]

    before = fake.fake_num_waits()
    sequence.run((1, Array(5)))
    assert fake.fake_num_waits() == before and take(fake) == ((1, 1, 0), struct.pack("=Q", 5))
    sequence.run((1, Array(6)), 77)
    assert last_wait() == (77, 0) and take(fake) is not None  # before anything was started
    fake.fake_fail(b"cuStreamSynchronize", 700)
    with pytest.raises(KernelFaultError, match="^cuda:7: cuStreamSynchronize: an illegal memory access"):
        sequence.run((1, Array(6)), 77)
    assert take(fake) is None


def words_with(number: int, lower: list[int]) -> AnyArray:
    """Words as kernels report them to the host."""
    return np.array(lower, np.uint64) | np.uint64(number << 32)


def test_a_bound_sequence_replaces_changing_values_and_returns_the_report(
    queue: _driver.Queue, kernel: Make, fake: ctypes.CDLL
) -> None:
    first = kernel(8, 4), (Array(1), np.uint32(2)), [(0, 2), (1, 3)], 0, 1, 0
    second = kernel(4, 8), (np.uint32(2), Array(1)), [(0, 3), (1, 4)], 0, 1, 16
    sequence = _driver.LaunchSequence(queue, [first, second])
    words = words_with(6, [5, 6, 7])
    bound = sequence.bind((2, 32, Array(10), 20, Array(30)), [2, 3], words)
    assert bound.run((Array(11), 21), 6) == [5, 6, 7]
    assert take(fake) == ((2, 32, 0), struct.pack("=QI", 11, 21))
    assert take(fake) == ((2, 32, 16), struct.pack("=IQ", 21, 30))
    words[:] = words_with(9, [8, 9, 2**32 - 1])
    assert bound.run((Array(12), np.int64(22)), 9, 77) == [8, 9, 2**32 - 1]
    assert take(fake) == ((2, 32, 0), struct.pack("=QI", 12, 22)) and take(fake) is not None
    for changed, says in [((Array(1),), "2 values change, got 1"), ((1, 2), "an array of the device, got int")]:
        with pytest.raises(InputError, match=says):
            bound.run(changed, 9)
    with pytest.raises(InputError, match="a sequence takes 5 values, got 2"):
        sequence.bind((2, 32), [], words)
    assert take(fake) is None
    with pytest.raises(KernelFaultError, match="without the word that was waited for"):
        bound.run((Array(12), 22), 10)


def test_a_word_that_is_there_is_not_waited_for_and_one_that_never_comes_is_a_fault(
    queue: _driver.Queue, fake: ctypes.CDLL
) -> None:
    words, before = np.array([3, 5], np.uint32), fake.fake_num_waits()
    queue.wait_for_word(words, 1, 5)
    assert fake.fake_num_waits() == before
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(queue.wait_for_word, words, 0, 7)
        words[0] = 7  # as a kernel does it
        waiting.result()
    with pytest.raises(KernelFaultError, match="without the word that was waited for"):
        queue.wait_for_word(words, 0, 8)
    assert fake.fake_num_waits() == before + 1
    fake.fake_fail(b"cuStreamSynchronize", 700)
    with pytest.raises(KernelFaultError, match="^cuda:7: cuStreamSynchronize: an illegal memory access"):
        queue.wait_for_word(words, 0, 8)
    with pytest.raises(InputError, match="2 words"):
        queue.wait_for_word(words, 2, 0)


def test_a_report_is_read_when_all_of_its_words_have_arrived(queue: _driver.Queue, fake: ctypes.CDLL) -> None:
    words, before = words_with(3, [1, 2**32 - 1]), fake.fake_num_waits()
    assert queue.read_report(words, 3) == [1, 2**32 - 1] and fake.fake_num_waits() == before
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(queue.read_report, words, 4)
        words[1] = words_with(4, [8])[0]  # in any order
        words[0] = words_with(4, [7])[0]
        assert waiting.result() == [7, 8]
    words[0] = words_with(5, [7])[0]
    with pytest.raises(KernelFaultError, match="without the word that was waited for"):
        queue.read_report(words, 5)  # the other word never arrives


def test_several_threads_send_fetch_and_launch_at_once(queue: _driver.Queue, kernel: Make, fake: ctypes.CDLL) -> None:
    launched = kernel(4)

    def work(number: int) -> bool:
        rng = np.random.default_rng(number)
        right = True
        for _ in range(40):
            sent = rng.integers(0, 255, int(rng.integers(1, 100_000)), np.uint8)
            there, back = np.zeros_like(sent), np.zeros_like(sent)
            queue.send(there.ctypes.data, sent)
            launched.launch(1, 1, 0, (np.int32(number),))
            queue.fetch(back, there.ctypes.data)
            right = right and bool((back == sent).all())
        return right

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    launches = [take(fake) for _ in range(160)]
    assert sorted(made[1] for made in launches if made) == sorted(
        struct.pack("i", i) for i in range(4) for _ in range(40)
    )


def test_another_threads_context_is_left_as_it_was(queue: _driver.Queue, kernel: Make, fake: ctypes.CDLL) -> None:
    found = ctypes.c_void_p()

    def elsewhere() -> int | None:
        kernel().launch(1, 1, 0, ())
        queue.synchronize()
        fake.cuCtxGetCurrent(ctypes.byref(found))
        return found.value

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result() is None
    fake.cuCtxGetCurrent(ctypes.byref(found))
    assert found.value == CONTEXT


@pytest.mark.parametrize(
    ("call", "code", "error", "says"),
    [
        ("cuLaunchKernel", 700, KernelFaultError, r"an illegal memory access was encountered \(CUDA error 700\)"),
        ("cuLaunchKernel", 12345, KernelFaultError, r"unknown error \(CUDA error 12345\)"),
        ("cuFuncSetAttribute", 1, KernelFaultError, "unknown error"),
        ("cuStreamSynchronize", 700, KernelFaultError, "an illegal memory access"),
        ("cuMemcpyHtoDAsync", 1, KernelFaultError, "unknown error"),
        ("cuMemcpyDtoHAsync", 2, DeviceMemoryError, "out of memory"),
        ("cuMemHostAlloc", 2, DeviceMemoryError, "out of memory"),
    ],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_of_the_driver_says_which_device_and_call(
    queue: _driver.Queue, kernel: Make, fake: ctypes.CDLL, call: str, code: int, error: type, says: str, threads: int
) -> None:
    launched, there = kernel(), np.zeros(10)
    fake.fake_fail(call.encode(), code)
    with pytest.raises(error, match=rf"^cuda:7: {call}: {says}"):
        launched.launch(1, 32, 60_000, ())
        queue.send(there.ctypes.data, np.zeros(10), threads)
        queue.send_narrow(there.ctypes.data, np.arange(5), np.arange(5), threads)
        queue.fetch(np.zeros(10), there.ctypes.data, threads)
    fake.fake_fail(b"", 0)
    queue.synchronize()


def test_without_the_library_the_error_says_what_was_looked_for() -> None:
    with pytest.raises(DeviceUnavailableError, match=r"^cuda:0: the NVIDIA driver cannot be opened: libnothere\.so\.1"):
        _driver.Queue("cuda:0", SimpleNamespace(ptr=0), "libnothere.so.1")


def test_a_library_without_the_functions_is_refused() -> None:
    with pytest.raises(DeviceUnavailableError, match=r"^cuda:0: libc\.so\.6 has no function cuCtxGetCurrent"):
        _driver.Queue("cuda:0", SimpleNamespace(ptr=0), "libc.so.6")


def test_without_a_context_there_is_no_queue(library: str) -> None:
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(KernelFaultError, match="cuda:0: no CUDA context is current"),
    ):
        pool.submit(_driver.Queue, "cuda:0", SimpleNamespace(ptr=0), library).result()
