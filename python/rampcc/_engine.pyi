"""The engine. Its functions take and give what `rampcc/__init__.py` makes of a caller's arguments; use those."""

from typing import Any, Final, final

__all__ = ["VERSION", "Table", "compare", "league", "run"]

VERSION: Final[str]

@final
class Table:
    """An Arrow table. pyarrow, pandas, polars and all else that speaks Arrow's PyCapsule protocol take it without copying."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
    @property
    def num_rows(self) -> int:
        """Number of rows."""
    @property
    def num_columns(self) -> int:
        """Number of columns."""

def run(asked: dict[str, Any]) -> dict[str, Any]: ...
def compare(asked: dict[str, Any]) -> dict[str, Any]: ...
def league(asked: dict[str, Any]) -> dict[str, Any]: ...
