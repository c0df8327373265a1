"""Write a generated graph to a file, read it back, and count on every device of this machine."""

from __future__ import annotations

import tempfile
from pathlib import Path

import graphlode as gl
from graphlode.execute.devices import available


def main() -> None:
    made = gl.rmat(12, 8, seed=7)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rmat.txt.gz"
        gl.write(made, path)
        graph = gl.read(path)
    print(f"read back equal: {graph == made}")
    names = [device.name for device in available()]
    totals = {gl.count_triangles(graph, devices=name).total for name in (*names, ["cpu", "cpu"])}
    print(f"every device finds the same {totals.pop():,} triangles: {not totals}")


if __name__ == "__main__":
    main()
