"""Lists k-cliques in batches, with the reference search for counting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from graphlode.common.control import Control
from graphlode.reference.device import ReferenceDevice
from graphlode.reference.mining.cliques import cliques_of
from graphlode.types import AnyArray, Int64Array, Task


def launch(
    device: ReferenceDevice,
    view: Mapping[str, AnyArray],
    tasks: Iterator[Task],
    *,
    control: Control,
    k: int,
    batch_size: int,
    ids: Int64Array | None,
    sink: Callable[[AnyArray], None],
) -> dict[str, Any]:
    vertices = view["vertices"]
    names = vertices.astype(np.int64) if ids is None else ids[vertices]
    total = 0
    found = cliques_of(view, tasks, k, control)
    while batch := list(islice(found, batch_size)):
        sink(names[np.array(batch)])
        total += len(batch)
    return {"total": total}


def memory(device: ReferenceDevice, shape: Mapping[str, int], *, k: int, batch_size: int, **unused: Any) -> int:
    return 0
