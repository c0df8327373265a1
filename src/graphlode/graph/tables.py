"""Results as pandas tables. pandas is imported on first use only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphlode.errors import UnsupportedError

if TYPE_CHECKING:
    import pandas


def table(columns: Mapping[str, Any]) -> pandas.DataFrame:
    """A table with these columns."""
    try:
        import pandas
    except ImportError:
        raise UnsupportedError("tables need pandas: pip install pandas; to_dict() and the arrays do not") from None
    return pandas.DataFrame(dict(columns))
