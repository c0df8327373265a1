"""numpy's text reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.peers.peer import Methods, Peer


class Numpy(Peer):
    name = "numpy"
    version = np.__version__

    def __init__(self, threads: int) -> None:
        self.settings = "serial library"

    def read(self, file: Path, rows: int) -> Methods:
        return {"loadtxt": lambda: np.loadtxt(file, dtype=np.int64, comments=None, max_rows=rows)}
