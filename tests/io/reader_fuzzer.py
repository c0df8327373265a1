"""A fuzzer of the readers: they answer any file with a sound graph or a GraphlodeError, in bounded memory and time.

    python tests/io/reader_fuzzer.py --cases 100000 --seed 7 --jobs 2

Every case starts from a good file of some format and damages it: bytes, tokens, numbers of a header, fields of an
archive. Text is then often compressed, and the compressed bytes damaged as well. A case depends on the seed and its
number only. A file that does harm is kept in the folder; after a crash, it is the one named `current`.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import json
import lzma
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import scipy.sparse

import graphlode as gl

ADDRESS_SPACE = 6 << 30
MEMORY_LIMIT = 64 << 20  # what the readers may take
PEAK_LIMIT = 200 << 20  # by which a file may raise the peak of the process
SECONDS = 20

NUMBERS = [
    0,
    1,
    2,
    3,
    9,
    33,
    255,
    10**6,
    10**9,
    10**15,
    10**30,
    *(2**bits + d for bits in (31, 32, 63, 64) for d in (-1, 0)),
]
TOKENS = [
    b"\n", b"\r\n", b"\r", b"\0", b" ", b"\t", b",", b"-", b"+", b".", b"e", b"#", b"%", b"a ", b"c ", b"p sp ", b'"',
    b"nan", b"inf", b"1e400", b"1e-400", b"0x1f", b"007", b"1.25", b"\xef\xbb\xbf", b"\xc2\xa0", b"\xff",
    b"%%MatrixMarket matrix coordinate real symmetric\n", b"# graphlode num_vertices=77777777 directed=1 values=times\n",
]  # fmt: skip
TEXTS = ("txt", "csv", "mtx", "metis", "gr")
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, 1),
    "bz2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zst": lambda data: pyarrow.compress(data, codec="zstd", asbytes=True),
}
NPZ_TYPES = [
    "<i8",
    "<i8",
    "<i8",
    "<i4",
    ">i8",
    "<u8",
    "<f8",
    "<f2",
    "|b1",
    "<c16",
    "<U2",
    "|S2",
    "<M8[s]",
    "|V4",
    "|V0",
]


class TookTooLong(BaseException):
    """Not an Exception: the readers must not take it for damage."""


def corpus(folder: Path) -> dict[str, list[bytes]]:
    """Good files of every format."""
    graphs = [
        gl.dataset("karate"),
        gl.from_edges([1, 2, 3, 40], [2, 3, 1, 1], directed=True, weights=[1.5, 2, 1e-9, -4]),
        gl.from_edges([7, -(2**63), 2**63 - 1], [9, 7, 9], times=[5, 2**62, -1]),
        gl.from_edges([0, 1, 2], [1, 2, 3], num_vertices=12, weights=[1, 2.5, 3]),
        gl.erdos_renyi(200, m=500, seed=1),
    ]
    found: dict[str, list[bytes]] = {}
    for suffix in (*TEXTS, "npz", "parquet"):
        for graph in graphs:
            try:
                gl.write(graph, folder / f"seed.{suffix}")
            except gl.GraphlodeError:
                continue  # METIS holds no directed graphs
            found.setdefault(suffix, []).append((folder / f"seed.{suffix}").read_bytes())
    found["txt"] += [b"1 2\n3 4\n", b"\xef\xbb\xbf# c\r\n1\t2\t0.5\r\n2 3 1e3\r\n", b" 1  2 3 4 5\n\n 6 7 8 9\n%\n"]
    found["csv"] += [b"a,b,c\n1,2,3\n4 , 5,6\n", b'"u","v"\n1,2\n']
    found["mtx"] += [b"%%MatrixMarket matrix coordinate integer general\n% c\n3 3 2\n1 2 5\n3 1 -7\n"]
    found["metis"] += [b"3 2 011 2\n1 1 2 5\n1 1 1 5 3 6\n1 1 2 6\n", b"% c\n4 2\n2\n1 3\n2\n"]
    found["gr"] += [b"c x\np sp 3 2\na 1 2 5\nc y\na 2 3 7\n"]
    for layout in ("csr", "csc", "coo"):
        sink = io.BytesIO()
        scipy.sparse.save_npz(sink, scipy.sparse.random(9, 9, 0.3, layout, random_state=1), compressed=layout == "csr")
        found["npz"].append(sink.getvalue())
    return found


def damaged(rng: random.Random, data: bytes) -> bytes:
    """The data after one or several changes."""
    text = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 8])):
        at = rng.randrange(len(text) + 1)
        length = rng.choice([1, 1, 2, 8, 40, 300])
        match rng.randrange(9):
            case 0:
                text[at : at + 1] = bytes([rng.randrange(256)])
            case 1 if at < len(text):
                text[at] ^= 1 << rng.randrange(8)
            case 2:
                text[at:at] = rng.randbytes(length % 30)
            case 3:
                del text[at : at + length]
            case 4:
                del text[at:]
            case 5:
                text[at:at] = text[at : at + length] * rng.choice([1, 2, 60])
            case 6 | 7:
                found = list(re.finditer(rb"\d+", bytes(text[:5000])))
                if found:
                    chosen = rng.choice(found[:4] + found)
                    text[chosen.start() : chosen.end()] = str(rng.choice(NUMBERS)).encode()
            case 8:
                text[at:at] = rng.choice(TOKENS)
    return bytes(text)


def odd_array(rng: random.Random, name: str) -> bytes:
    """An array whose header and data may be of any kind, and disagree."""
    kind = np.dtype(rng.choice(NPZ_TYPES))
    shape = rng.choice(
        [(), (1,), (2,), (3,), (3,), (2, 2), (0,), (0, 2**40), (2**40,), (2**33, 2**33), (-1,), (1,) * 70]
    )
    sink = io.BytesIO()
    header = {"descr": kind.str, "fortran_order": rng.random() < 0.3, "shape": shape}
    np.lib.format.write_array_header_1_0(sink, header)
    fitting = int(np.prod(shape, dtype=object)) * kind.itemsize
    size = fitting if 0 <= fitting < 1000 and rng.random() < 0.8 else rng.choice([0, 7, 8, 64])
    return sink.getvalue() + (bytes(size) if rng.random() < 0.5 else rng.randbytes(size))


def rebuilt_npz(rng: random.Random, data: bytes) -> bytes:
    """An archive with some arrays changed, but good checksums."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in rng.sample(sorted(members), k=min(len(members), rng.choice([1, 1, 2]))):
        match rng.randrange(4):
            case 0:
                del members[name]
            case 1:
                members[name] = odd_array(rng, name)
            case 2:
                members[name] = damaged(rng, members[name])
            case 3:  # a number in the data
                at = len(members[name]) - 8 * rng.randrange(1, 4)
                value = rng.choice(NUMBERS) % 2**64
                members[name] = members[name][:at] + value.to_bytes(8, "little") + members[name][at + 8 :]
    sink = io.BytesIO()
    method = rng.choice(
        [zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    )
    with warnings.catch_warnings(), zipfile.ZipFile(sink, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(rng.choice([name, name, name, name, "../" + name, name[:-4]]), content)
    return sink.getvalue()


def odd_table(rng: random.Random) -> bytes:
    """A good Parquet file with columns of any type."""
    rows = rng.choice([0, 1, 3, 2000])
    columns: list[Callable[[], Any]] = [
        lambda: pyarrow.array([rng.choice([0, 1, 5, 2**63 - 1, -1]) for _ in range(rows)], pyarrow.int64()),
        lambda: pyarrow.array([rng.choice([0, 1, 2**64 - 1]) for _ in range(rows)], pyarrow.uint64()),
        lambda: pyarrow.array([rng.choice([0, 1, None]) for _ in range(rows)], pyarrow.int16()),
        lambda: pyarrow.array([rng.choice([0.5, float("nan"), float("inf")]) for _ in range(rows)]),
        lambda: pyarrow.array(np.ones(rows, np.float16)),
        lambda: pyarrow.array(["a"] * rows, pyarrow.string()),
        lambda: pyarrow.array([3] * rows, pyarrow.int64()).dictionary_encode(),
        lambda: pyarrow.array([[1]] * rows, pyarrow.list_(pyarrow.int64())),
        lambda: pyarrow.array([{"x": 1}] * rows, pyarrow.struct([("x", pyarrow.int64())])),
        lambda: pyarrow.array([True] * rows, pyarrow.bool_()),
        lambda: pyarrow.nulls(rows),
        lambda: pyarrow.array([7] * rows, pyarrow.timestamp("us")),
        lambda: pyarrow.array([7] * rows, pyarrow.decimal128(20, 3)),
    ]
    names = rng.choice(
        [["src", "dst"], ["src", "dst", "weight"], ["src", "dst", "time", "weight"], ["a.b", "a", "c"], ["x"]]
    )
    picks = [rng.choice(columns[:2] * 4 + columns) for _ in names]
    mark = rng.choice(
        [b"", b"\xff", b"graphlode num_vertices=6 directed=0 values=none", b"graphlode num_vertices=999999999"]
    )
    table = pyarrow.table({name: make() for name, make in zip(names, picks, strict=True)})
    sink = io.BytesIO()
    pyarrow.parquet.write_table(
        table.replace_schema_metadata({b"graphlode": mark}), sink, compression=rng.choice(["none", "zstd", "snappy"])
    )
    return sink.getvalue()


def make_case(rng: random.Random, seeds: dict[str, list[bytes]]) -> tuple[str, bytes]:
    """The suffix and the content of a file."""
    suffix = rng.choice(sorted(seeds))
    data = rng.choice(seeds[suffix])
    if suffix == "npz" and rng.random() < 0.7:
        data = rebuilt_npz(rng, data)
    elif suffix == "parquet" and rng.random() < 0.4:
        data = odd_table(rng)
    if rng.random() < (0.9 if suffix in TEXTS else 0.5):
        data = damaged(rng, data)
    if suffix in TEXTS and rng.random() < 0.25:
        packer = rng.choice(sorted(PACKERS))
        data = PACKERS[packer](data) * rng.choice([1, 1, 1, 2])
        suffix = f"{suffix}.{packer}"
        if rng.random() < 0.5:
            data = damaged(rng, data)
    return suffix, data


def arguments(rng: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options["values"] = rng.choice(["weights", "times", None])
    if rng.random() < 0.3:
        options["directed"] = rng.random() < 0.5
    if rng.random() < 0.1:
        options["num_vertices"] = rng.choice([0, 5, 40, 500])
    return options


def check_graph(graph: gl.Graph) -> None:
    offsets, neighbors = graph.csr
    assert offsets.size == graph.num_vertices + 1 and offsets[0] == 0 and offsets[-1] == neighbors.size
    assert (offsets[1:] >= offsets[:-1]).all()
    assert not neighbors.size or (int(neighbors.min()) >= 0 and int(neighbors.max()) < graph.num_vertices)
    assert graph.weights is None or np.isfinite(graph.weights).all()


def run_case(path: Path, options: dict[str, Any]) -> str:
    """How the readers answer: "ok", the class of a GraphlodeError, or what went wrong after "BAD"."""
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        edges = gl.read_edges(path, values=options.get("values", "auto"))
        assert edges.src.dtype == edges.dst.dtype == np.int64 and edges.src.shape == edges.dst.shape
        check_graph(gl.read(path, **options))
        return "ok"
    except gl.GraphlodeError as error:
        return type(error).__name__ if len(str(error)) < 2000 else "BAD: a message of many pages"
    except BaseException as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        return f"BAD: {type(error).__name__} in {Path(at.filename).name}:{at.lineno}: {error}"[:300]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def too_long(*_: object) -> None:
    raise TookTooLong


def run(cases: int, seed: int, folder: Path) -> dict[str, Any]:
    """All cases in this process, which gets limits of its own."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    signal.signal(signal.SIGALRM, too_long)
    warnings.simplefilter("ignore")
    seeds = corpus(folder)
    answers: Counter[str] = Counter()
    bad: dict[str, str] = {}
    peak = 0
    with gl.configure(memory_limit=MEMORY_LIMIT):
        for number in range(cases):
            rng = random.Random(seed * 10**9 + number)
            suffix, data = make_case(rng, seeds)
            path = folder / f"current.{suffix}"
            path.write_bytes(data)
            answer = run_case(path, arguments(rng))
            before, peak = peak, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            if before and peak - before > PEAK_LIMIT:
                answer = f"BAD: {(peak - before) >> 20} MiB for a file"
            answers[answer.split(":")[0]] += 1
            if answer.startswith("BAD") and answer not in bad and len(bad) < 50:
                bad[answer] = f"{suffix}, seed {seed}, case {number}"
                (folder / f"bad{number}.{suffix}").write_bytes(data)
            path.unlink()
    return {"cases": cases, "answers": dict(answers), "bad": bad}


def run_apart(cases: int, seed: int, folder: Path, jobs: int) -> list[dict[str, Any]]:
    """The cases in processes of their own; a crash of one is an answer, too."""
    running = []
    for job in range(jobs):
        place = folder / f"{seed + job}"
        place.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, __file__, "--inside", "--cases", f"{cases // jobs}", "--seed", f"{seed + job}"]
        process = subprocess.Popen([*command, "--folder", str(place)], stdout=subprocess.PIPE, text=True)
        running.append((process, place))
    found = []
    for process, place in running:
        out, _ = process.communicate()
        crash = {"cases": 0, "answers": {}, "bad": {f"BAD: ended with {process.returncode}": str(place)}}
        found.append(crash if process.returncode else json.loads(out))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="graphlode-fuzz-"))
    if given.inside:
        sys.stdout.write(json.dumps(run(given.cases, given.seed, folder)))
        return
    found = run_apart(given.cases, given.seed, folder, given.jobs)
    for each in found:
        sys.stdout.write(json.dumps(each, indent=1) + "\n")
    sys.stdout.write(f"files are in {folder}\n")
    sys.exit(any(each["bad"] for each in found))


if __name__ == "__main__":
    main()
