"""Text and CSV edge lists: what is accepted, what is refused and with which line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphlode.config import configure
from graphlode.cpu import _native
from graphlode.cpu.io.text import Layout, parse
from graphlode.errors import InputError
from graphlode.io import read_edges

LOWEST, HIGHEST = -(2**63), 2**63 - 1


def put(folder: Path, content: bytes | str, name: str = "edges.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pairs(edges):
    return list(zip(edges.src.tolist(), edges.dst.tolist(), strict=True))


def as_text(content: str):
    return np.frombuffer(content.encode(), np.uint8)


@pytest.mark.parametrize(
    "content",
    [
        "1 2\n3 4\n",
        "1 2\n3 4",
        "1 2\r\n3 4\r\n",
        "1 2\r\n3 4\r",
        "1\t2\n3\t4\n",
        "  1   2  \n\t3 \t 4\t\n",
        "# a comment\n1 2\n# another\n\n% a third\n   \n3 4\n#end",
        "\ufeff1 2\n3 4\n",
        "\ufeff# a comment\n1 2\n3 4\n",
        "\n\n\n1 2\n\r\n3 4\n\n",
        "+1 +2\n0003 00000000000000000000000000004\n",
    ],
)
def test_the_same_edges_however_the_text_is_laid_out(tmp_path, content):
    edges = read_edges(put(tmp_path, content))
    assert pairs(edges) == [(1, 2), (3, 4)]
    assert edges.src.dtype == edges.dst.dtype == np.int64
    assert edges.values is None and edges.directed is None and edges.num_vertices is None
    assert edges.source.endswith("edges.txt") and edges.format == "text"


def test_order_duplicates_and_self_loops_are_kept(tmp_path):
    assert pairs(read_edges(put(tmp_path, "2 1\n1 2\n2 1\n5 5\n"))) == [(2, 1), (1, 2), (2, 1), (5, 5)]


def test_ids_are_any_signed_64_bit_integers(tmp_path):
    content = f"{LOWEST} {HIGHEST}\n-1 0\n12345678 1234567812345678\n99999999999999999 1\n"
    expected = [(LOWEST, HIGHEST), (-1, 0), (12345678, 1234567812345678), (99999999999999999, 1)]
    assert pairs(read_edges(put(tmp_path, content))) == expected


@pytest.mark.parametrize("content", ["", "# only\n% comments\n", "\n\n", "  \n# x", "\ufeff"])
@pytest.mark.parametrize("name", ["edges.txt", "edges.csv", "edges.el.gz"])
def test_a_file_without_edges_is_empty_not_wrong(tmp_path, content, name):
    data = content.encode()
    edges = read_edges(put(tmp_path, gzip.compress(data) if name.endswith("gz") else data, name))
    assert len(edges) == 0 and edges.src.dtype == np.int64 and edges.values is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("abc 2", 'expected an integer id, found "abc"'),
        ("1 abc", 'expected an integer id, found "abc"'),
        ("1.5 2", 'expected an integer id, found "1.5"'),
        ("1 2.0", 'expected an integer id, found "2.0"'),
        ("1e5 2", 'expected an integer id, found "1e5"'),
        ("1,2", 'expected an integer id, found "1,2"'),
        ("- 2", 'expected an integer id, found "-"'),
        ("--1 2", 'expected an integer id, found "--1"'),
        ("0x10 2", 'expected an integer id, found "0x10"'),
        (f"{HIGHEST + 1} 2", f'the id "{HIGHEST + 1}" does not fit in 64 bits'),
        (f"1 {LOWEST - 1}", f'the id "{LOWEST - 1}" does not fit in 64 bits'),
        (f"1 {2**64 + 1}", f'the id "{2**64 + 1}" does not fit in 64 bits'),
        (f"1 {'9' * 40}", "does not fit in 64 bits"),
        ("7", "expected 2 columns, found 1"),
        ("7  ", "expected 2 columns, found 1"),
        ("1 2 3", "3 columns where 2 are expected, as in the first line of edges"),
        ("1 2\r3 4", "expected an integer id"),
        ("1 \0002", 'expected an integer id, found "\\x002"'),
        ("\x7fELF\x02\x01 \x03", 'expected an integer id, found "\\x7fELF\\x02\\x01"'),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
def test_a_malformed_line_is_named(tmp_path, line, message, end):
    path = put(tmp_path, f"# comment\n1 2\n\n3 4\n{line}{end}")
    with pytest.raises(InputError) as raised:
        read_edges(path)
    assert str(raised.value).startswith(f"{path}, line 5: ")
    assert message in str(raised.value)


def test_binary_garbage_is_refused_with_its_line(tmp_path):
    data = np.random.default_rng(5).integers(0, 256, 5000, np.uint8).tobytes()
    with pytest.raises(InputError, match=r"edges\.txt, line \d+: "):
        read_edges(put(tmp_path, data))


def test_the_third_column_is_weights_times_or_ignored(tmp_path):
    path = put(tmp_path, "1 2 7\n3 4 -9007199254740993\n")
    weights = read_edges(path)
    assert weights.weights.tolist() == [7.0, -9007199254740992.0] and weights.times is None
    assert weights.values.dtype == np.float64
    times = read_edges(path, values="times")
    assert times.times.tolist() == [7, -9007199254740993] and times.weights is None
    assert times.values.dtype == np.int64
    ignored = read_edges(path, values=None)
    assert ignored.values is None and pairs(ignored) == [(1, 2), (3, 4)]


def test_weights_are_read_exactly(tmp_path):
    words = ["0.1", "1e-300", "+2.5", "-0.25", "123456789012345678", "1E5", ".5", "5.", "0.30000000000000004", "17"]
    edges = read_edges(put(tmp_path, "".join(f"1 2 {word}\n" for word in words)))
    assert edges.weights.tolist() == [float(word) for word in words]


def test_columns_after_the_third_are_ignored(tmp_path):
    edges = read_edges(put(tmp_path, "1 2 0.5 x y z\n3 4 1 -\n5 6 2\n"))
    assert pairs(edges) == [(1, 2), (3, 4), (5, 6)] and edges.weights.tolist() == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("word", ["nan", "inf", "-inf", "NaN", "infinity", "x", "1.5x", "1e", "+-1", "1e400", "0x1p3"])
def test_a_weight_must_be_a_finite_number(tmp_path, word):
    with pytest.raises(InputError, match=r"edges\.txt, line 2: .*weight"):
        read_edges(put(tmp_path, f"1 2 0.5\n3 4 {word}\n"))


@pytest.mark.parametrize("word", ["1.0", "now", "1e9", str(2**63)])
def test_a_time_must_be_a_64_bit_integer(tmp_path, word):
    with pytest.raises(InputError, match=r"edges\.txt, line 2: .*time"):
        read_edges(put(tmp_path, f"1 2 5\n3 4 {word}\n"), values="times")


@pytest.mark.parametrize("values", ["weights", "times", None])
def test_a_line_with_fewer_columns_than_the_first_is_malformed(tmp_path, values):
    with pytest.raises(InputError, match=r"line 2: 2 columns where 3 are expected, as in the first line of edges"):
        read_edges(put(tmp_path, "1 2 3\n4 5\n"), values=values)


def test_a_bare_carriage_return_does_not_hide_lines(tmp_path):
    with pytest.raises(InputError, match="line 2: a carriage return in the middle"):
        read_edges(put(tmp_path, "1 2 3 x\n1 2 3 x\r4 5 6 x\n"))


def test_other_comment_characters(tmp_path):
    path = put(tmp_path, "; note\n1 2\n// note\n3 4\n")
    assert pairs(read_edges(path, comments=";/")) == [(1, 2), (3, 4)]
    with pytest.raises(InputError, match="line 1"):
        read_edges(path)
    for bad in ("1", "-", "a", " ", "é"):
        with pytest.raises(InputError, match="comments"):
            read_edges(path, comments=bad)


@pytest.mark.parametrize(
    "content",
    [
        "1,2\n3,4\n",
        "src,dst\n1,2\n3,4\n",
        '# c\n"a","b"\n1 , 2\n 3,\t4',
        "Source,Target\r\n1,2\r\n3,4\r\n",
        "_u,_v\n1,2\n3,4",
    ],
)
def test_csv_with_and_without_names(tmp_path, content):
    assert pairs(read_edges(put(tmp_path, content, "edges.csv"))) == [(1, 2), (3, 4)]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("a,b\nc,d\n1,2\n", 2),
        ("1,2\nsrc,dst\n", 2),
        ("a,1\n", 1),
        ("1,2\n3\n", 2),
        ("1,2\n,4\n", 2),
        ("1,2\n3,\n", 2),
        ("1,2\n3;4\n", 2),
        ("1,2\n3 4\n", 2),
        ("1,2,0.5\n3,4,\n", 2),
        ("1,2,0.5\n3,4,,5\n", 2),
        ("1,2\n3,4,\n", 2),
        ("1.5,2\n", 1),
    ],
)
def test_malformed_csv_is_named(tmp_path, content, line):
    with pytest.raises(InputError, match=rf"edges\.csv, line {line}: "):
        read_edges(put(tmp_path, content, "edges.csv"))


def test_csv_values_and_further_columns(tmp_path):
    edges = read_edges(put(tmp_path, "source,target,rating,time\n6,2,4,1289241911.72836\n6,5,-2,1289241941\n", "a.csv"))
    assert pairs(edges) == [(6, 2), (6, 5)] and edges.weights.tolist() == [4.0, -2.0]


def sample_lines(rng, count, columns=2):
    lines = []
    for _ in range(count):
        fields = [str(rng.integers(0, 10 ** rng.integers(1, 19))) for _ in range(columns)]
        lines.append(" ".join(fields))
        if rng.random() < 0.1:
            lines.append(["# comment", "", "   ", "%" * 40][rng.integers(4)])
    return lines


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("chunk_bytes", [1, 2, 7, 16, 64, 1000, 1 << 20])
@pytest.mark.parametrize("columns", [2, 3])
def test_threads_and_chunks_do_not_change_the_edges(threads, chunk_bytes, columns):
    lines = sample_lines(np.random.default_rng(11), 200, columns)
    rows = np.array([line.split() for line in lines if line.strip() and line[0] not in "#%"], np.int64)
    text = as_text("\n".join(lines))
    src, dst, third = parse(text, Layout(), "times", threads=threads, chunk_bytes=chunk_bytes)
    assert np.array_equal(src, rows[:, 0]) and np.array_equal(dst, rows[:, 1])
    assert third is None if columns == 2 else np.array_equal(third, rows[:, 2])


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("chunk_bytes", [1, 5, 64, 1000, 1 << 20])
def test_the_first_of_several_errors_is_reported_whatever_the_chunks(threads, chunk_bytes):
    lines = sample_lines(np.random.default_rng(3), 300)
    lines[250:250] = ["oops here"]
    lines[270:270] = ["5"]
    with pytest.raises(InputError, match=r'^line 251: expected an integer id, found "oops"$'):
        parse(as_text("\n".join(lines)), Layout(), None, threads=threads, chunk_bytes=chunk_bytes)


def test_an_error_late_in_a_large_file_has_the_right_line(tmp_path):
    body = "123456 654321\n" * 400_000
    content = f"# head\n{body}7 x\n{body}"
    for path in (put(tmp_path, content), put(tmp_path, gzip.compress(content.encode(), 1), "edges.txt.gz")):
        for threads in (1, 2):
            with configure(threads=threads), pytest.raises(InputError) as raised:
                read_edges(path)
            assert str(raised.value) == f'{path}, line 400002: expected an integer id, found "x"'


def test_lines_longer_than_a_chunk():
    comment = "#" * 5000
    text = as_text(f"1 2\n{comment}\n3 4\n{' ' * 3000}5 {' ' * 3000}6\n")
    src, dst, _ = parse(text, Layout(), None, chunk_bytes=64, threads=2)
    assert src.tolist() == [1, 3, 5] and dst.tolist() == [2, 4, 6]


blanks = st.text(" \t", min_size=1, max_size=3)
ids = st.integers(LOWEST, HIGHEST) | st.integers(0, 20)


@settings(deadline=None)
@given(st.data())
def test_random_edge_lists_survive_any_layout(data):
    edges = data.draw(st.lists(st.tuples(ids, ids), max_size=40))
    comma = data.draw(st.booleans())
    space = st.text(" \t", max_size=2)
    lines = []
    for u, v in edges:
        separator = data.draw(space) + "," + data.draw(space) if comma else data.draw(blanks)
        lines.append(data.draw(space) + str(u) + separator + str(v) + data.draw(space))
        lines += data.draw(st.lists(st.sampled_from(["", "# note", "  ", "% 1 2"]), max_size=1))
    text = data.draw(st.sampled_from(["\n", "\r\n"])).join(lines) + data.draw(st.sampled_from(["", "\n", "\n\n"]))
    layout = Layout(separator="," if comma else " ", header=comma)
    chunk_bytes = data.draw(st.integers(1, 60))
    src, dst, _ = parse(as_text(text), layout, None, threads=data.draw(st.integers(1, 3)), chunk_bytes=chunk_bytes)
    assert list(zip(src.tolist(), dst.tolist(), strict=True)) == edges


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30))
def test_random_weights_are_read_back_exactly(weights):
    text = "".join(f"1 2 {weight!r}\n" for weight in weights)
    *_, values = parse(as_text(text), Layout(), "weights")
    assert values.tolist() == weights


@settings(deadline=None)
@given(st.lists(st.from_regex(r"[0-9]{1,18}(\.[0-9]{0,18})?(e-?[0-9]{1,2})?", fullmatch=True), min_size=1, max_size=30))
def test_decimals_of_any_length_are_rounded_once(words):
    text = "".join(f"1 2 {word}\n" for word in words) + "# " + "x" * 100  # long enough for the fast path
    *_, values = parse(as_text(text), Layout(), "weights")
    assert values.tolist() == [float(word) for word in words]


@settings(deadline=None)
@given(st.binary(max_size=200), st.integers(1, 50), st.booleans())
def test_any_bytes_give_edges_or_an_input_error(content, chunk_bytes, comma):
    text = np.frombuffer(content, np.uint8)
    try:
        src, dst, _ = parse(
            text, Layout(separator="," if comma else " "), "weights", threads=2, chunk_bytes=chunk_bytes
        )
    except InputError as error:
        assert str(error).startswith("line ")
        assert 1 <= int(str(error).split()[1].rstrip(":")) <= content.count(b"\n") + 1
    else:
        assert src.size == dst.size <= content.count(b"\n") + 1


@pytest.mark.parametrize("values", ["weights", "times", None])
def test_a_failed_allocation_is_a_memory_error_and_leaks_nothing(values):
    text = as_text("1 2 3\n# c\n4 5 6\n" * 100)
    before = _native.live_bytes()
    failures = 0
    while True:
        _native.fail_allocation(failures + 1)
        try:
            found = parse(text, Layout(), values, threads=2, chunk_bytes=64)
        except MemoryError:
            assert _native.live_bytes() == before
            failures += 1
            continue
        finally:
            _native.fail_allocation(0)
        break
    assert failures == (3 if values is None else 4)  # the chunks, the ids, the values
    assert found[0].size == 200
    del found
    assert _native.live_bytes() == before


def test_a_stopped_parser_raises_and_leaks_nothing():
    from graphlode.common.control import Control

    before = _native.live_bytes()
    control = Control()
    control.stop()
    with pytest.raises(InterruptedError):
        parse(as_text("1 2\n" * 1000), Layout(), None, threads=2, chunk_bytes=16, control=control)
    assert _native.live_bytes() == before


def test_progress_reaches_the_size_of_the_text():
    from graphlode.common.control import Control

    control = Control()
    text = as_text("1 2\n" * 1000)
    parse(text, Layout(), None, threads=2, chunk_bytes=100, control=control)
    assert control.done == text.size
