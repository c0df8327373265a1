"""pandas, with its own reader and with that of Arrow."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from benchmarks.peers.peer import Methods, Peer


class Pandas(Peer):
    name = "pandas"
    version = pandas.__version__

    def __init__(self, threads: int) -> None:
        self._arrow = find_spec("pyarrow") is not None
        self.settings = "the C engine is serial"
        if self._arrow:
            import pyarrow

            pyarrow.set_cpu_count(threads)
            self.settings += f"; Arrow {pyarrow.__version__} has {threads} threads"

    def read(self, file: Path, rows: int) -> Methods:
        def table(engine: Any, **options: Any) -> Any:
            found = pandas.read_csv(file, sep="\t", header=None, dtype=np.int64, engine=engine, **options)
            return found.to_numpy()

        methods: Methods = {'read_csv(engine="c")': lambda: table("c", nrows=rows)}
        if self._arrow:
            methods['read_csv(engine="pyarrow")'] = lambda: table("pyarrow")
        return methods
