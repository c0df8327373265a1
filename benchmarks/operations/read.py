"""Read a text edge list from a file that was just written, and so is in the page cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import graphlode as gl
from benchmarks.case import Case
from benchmarks.contest import Contender, Contest
from benchmarks.setting import Setting
from graphlode.io.edges import read_edges
from graphlode.io.read import read
from graphlode.types import AnyArray

_MEGABYTE = 1_000_000
_LINES_AT_ONCE = 1 << 18


def contest(case: Case, setting: Setting) -> Contest:
    given = setting.input(case)
    file = setting.scratch / f"{case.name.replace('/', '-')}.txt"
    src, dst = write_lines(file, given.src, given.dst, int(case.options["megabytes"] * _MEGABYTE))
    sizes = {"input": file.stat().st_size}
    if case.options["to"] == "graph":
        graph = gl.from_edges(src, dst)
        ours = setting.ours(methods={"read": lambda: read(file)}, answer=lambda found: _size(found))
        return Contest([ours], _size(graph), "the arrays that were written", sizes)
    ours = setting.ours(
        methods={"read_edges": lambda: read_edges(file)}, answer=lambda found: _sums(found.src, found.dst)
    )
    contenders = [ours, *_peers(case, setting, file, src, dst)]
    return Contest(contenders, _sums(src, dst), "the arrays that were written", sizes)


def write_lines(file: Path, src: AnyArray, dst: AnyArray, size: int) -> tuple[AnyArray, AnyArray]:
    """Write whole lines `u<tab>v`, from the first edge on (and over again), until the file has `size` bytes."""
    written = 0
    begin = 0
    parts: list[tuple[AnyArray, AnyArray]] = []
    with file.open("w", encoding="ascii", newline="\n") as out:
        while written < size:
            part = src[begin : begin + _LINES_AT_ONCE], dst[begin : begin + _LINES_AT_ONCE]
            lines = [f"{u}\t{v}\n" for u, v in zip(part[0].tolist(), part[1].tolist(), strict=True)]
            lengths = np.cumsum([len(line) for line in lines])
            keep = int(np.searchsorted(lengths, size - written)) + 1
            written += out.write("".join(lines[:keep]))
            parts.append((part[0][:keep], part[1][:keep]))
            begin = begin + _LINES_AT_ONCE if begin + _LINES_AT_ONCE < len(src) else 0
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _peers(case: Case, setting: Setting, file: Path, src: AnyArray, dst: AnyArray) -> list[Contender]:
    contenders = []
    for peer in setting.peers(case):
        share = float(case.options.get("numpy_share", 1.0)) if peer.name == "numpy" else 1.0
        rows = int(len(src) * share)
        contenders.append(
            Contender(
                peer.name,
                peer.version,
                peer.settings,
                peer.read(file, rows),
                answer=lambda table: _sums(table[:, 0], table[:, 1]),
                share=rows / len(src),
                expected=_sums(src[:rows], dst[:rows]),
            )
        )
    return contenders


def _sums(src: Any, dst: Any) -> dict[str, int]:
    """A digest that every library can compute: position-weighted sums, which differ if lines are in another order."""
    u, v = np.asarray(src, np.int64), np.asarray(dst, np.int64)
    at = np.arange(1, len(u) + 1, dtype=np.int64)
    return {"lines": len(u), "src": int((u * at).sum()), "dst": int((v * at).sum())}


def _size(graph: gl.Graph) -> dict[str, int]:
    return {
        "num_vertices": graph.num_vertices,
        "num_edges": graph.num_edges,
        "degrees": int((graph.degrees() ** 2).sum()),
    }
