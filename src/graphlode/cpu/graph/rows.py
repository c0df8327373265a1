"""The rows of a view as arguments of native kernels: compressed, or on the pages of a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def native_rows(view: Mapping[str, Any]) -> tuple[Any, Any]:
    """The first two arguments of a kernel that reads rows."""
    return (view["pages"], view["num_rows"]) if "pages" in view else (view["offsets"], view["neighbors"])
